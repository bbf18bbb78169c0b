/// A JSON value that is still being written: an encoder fills it while containers hold on to it.
final class JSONNode {
    enum Content {
        case null
        /// A number or a truth value, as it is written.
        case literal(String)
        case string(String)
        case array([JSONNode])
        case object([String: JSONNode])
    }

    var content = Content.null

    /// Appends the text as Foundation writes it with `prettyPrinted` and `sortedKeys`.
    func write(to text: inout String, depth: Int) {
        switch content {
        case .null: text += "null"
        case .literal(let literal): text += literal
        case .string(let string): Self.write(string, to: &text)
        case .array(let nodes):
            Self.write(nodes, between: ("[", "]"), to: &text, depth: depth) { node, text in
                node.write(to: &text, depth: depth + 1)
            }
        case .object(let nodes):
            Self.write(nodes.sorted { $0.key < $1.key }, between: ("{", "}"), to: &text, depth: depth) {
                node, text in
                Self.write(node.key, to: &text)
                text += " : "
                node.value.write(to: &text, depth: depth + 1)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], between brackets: (String, String), to text: inout String, depth: Int,
        each: (Element, inout String) -> Void
    ) {
        text += brackets.0
        for (index, element) in elements.enumerated() {
            text += index == 0 ? "\n" : ",\n"
            text += String(repeating: "  ", count: depth + 1)
            each(element, &text)
        }
        text += elements.isEmpty ? "\n\n" : "\n"
        text += String(repeating: "  ", count: depth) + brackets.1
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "/": text += "\\/"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{8}": text += "\\b"
            case "\u{c}": text += "\\f"
            case "\0"..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
