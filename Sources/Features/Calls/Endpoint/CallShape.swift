import Encodings
import JSONCoding

/// The shape of a value in a call: of one that is asked for, or of one in an answer. A request is read by it, and the
/// document of the calls is made of it.
///
/// An object is written as a literal; the name of a member that may be left out ends with `?`.
package indirect enum CallShape: Sendable {
    /// A text of this many bytes. The pattern is for readers of the document: the call says itself what is wrong with a name.
    case text(_ lengths: ClosedRange<Int>, pattern: String? = nil)
    case flag
    /// A whole number.
    case number(from: Int64)
    case choice([String])
    case list(CallShape, most: Int)
    /// An object whose members are texts, under names that nobody knows before.
    case texts(most: Int, longest: Int)
    case object([CallMember])
    /// An object that has other members besides these.
    case part(CallShape)
    /// One of several objects.
    case either([CallShape])
    /// A value that may be null.
    case nullable(CallShape)
    /// A value that another place describes: `array`, `object`.
    case open(String)
    /// A shape that the document has once, under this name.
    case named(String, CallShape)
    /// A shape with a sentence on what the value means.
    case said(CallShape, String)
}

/// A member of an object.
package struct CallMember: Sendable {
    let name: String
    let shape: CallShape
    let isOptional: Bool
}

extension CallShape: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral members: (String, CallShape)...) {
        self = .object(
            members.map { name, shape in
                let isOptional = name.hasSuffix("?")
                return CallMember(
                    name: isOptional ? String(name.dropLast()) : name, shape: shape, isOptional: isOptional)
            })
    }
}

extension CallShape {
    /// A text of any length, as answers have it.
    package static let text = CallShape.text(0...Int.max)
    package static let number = CallShape.number(from: .min)

    package static func text(_ most: Int) -> CallShape { .text(0...most) }
    package static func list(_ shape: CallShape) -> CallShape { .list(shape, most: .max) }
    package func said(_ words: String) -> CallShape { .said(self, words) }

    /// The name of a phone: up to 40 letters and signs of any script.
    package static let phoneName = CallShape.named("PhoneName", .text(0...256))
    /// The name of a mailbox, a reader or a publisher.
    package static let name = CallShape.named("Name", .text(0...256, pattern: "^[A-Za-z0-9._-]{1,64}$"))
    /// The name of a peer, a browser or a widget, which is that of a file too.
    package static let peerName = CallShape.named(
        "PeerName", .text(0...256, pattern: "^[A-Za-z0-9_-]{1,64}$"))
    /// The lines of a text that go, come, and stay near them.
    package static let difference = CallShape.named(
        "Difference", .list(["kind": .choice(["same", "removed", "added"]), "text": .text]))
    package static let level = CallShape.choice(["ok", "warning", "failing"])
    package static let time = CallShape.number.said("Seconds since 1970.")
    /// The faults of settings.
    package static let faults = CallShape.list(["key": .text, "line": .nullable(.number), "problem": .text])
}

// MARK: Reading

extension CallShape {
    /// The members that an object of this shape may have; for one of several objects those of all.
    package var members: [CallMember] {
        switch self {
        case .object(let members): members
        case .either(let shapes): shapes.flatMap(\.members)
        case .named(_, let shape), .said(let shape, _), .nullable(let shape), .part(let shape): shape.members
        case .text, .flag, .number, .choice, .list, .texts, .open: []
        }
    }

    /// Whether the shape is one object: then each member must be there that is not optional.
    var isObject: Bool { if case .object = self { true } else { false } }

    /// Returns what is wrong with a value, as words behind its name; `nil`: nothing.
    ///
    /// - Parameter isQuery: The value stands in a query, where all are texts.
    func fault(of value: JSON, isQuery: Bool = false) -> String? {
        switch self {
        case .text(let lengths, _):
            guard let text = value.string else { return "must be a text" }
            // Too short a text is the call's to refuse, in its own words.
            return text.utf8.count <= lengths.upperBound ? nil : "has more than \(lengths.upperBound) bytes"
        case .flag:
            let isFlag = isQuery ? ["true", "false"].contains(value.string) : value.bool != nil
            return isFlag ? nil : "must be true or false"
        case .number(let least):
            let number = isQuery ? value.string.flatMap { Int64($0) } : value.integer
            if let number, number >= least { return nil }
            return "must be a whole number" + (least > 0 ? " from \(least) on" : "")
        case .choice(let words):
            guard let text = value.string, words.contains(where: { $0.hasSameBytes(as: text) }) else {
                return "must be \(words.joined(separator: " or "))"
            }
            return nil
        case .list(let shape, let most):
            guard let items = value.array else { return "must be a list" }
            guard items.count <= most else { return "has more than \(most) items" }
            return items.lazy.compactMap { shape.fault(of: $0) }.first.map { "has an item that \($0)" }
        case .texts(let most, let longest):
            guard let object = value.object, object.count <= most else {
                return "must be an object of at most \(most) texts"
            }
            let item = CallShape.text(longest)
            return object.keys.lazy.compactMap { key in object[key].flatMap { item.fault(of: $0) } }.first
                .map { "has a member that \($0)" }
        case .nullable(let shape):
            if case .null = value { return nil }
            return shape.fault(of: value, isQuery: isQuery)
        case .named(_, let shape), .said(let shape, _): return shape.fault(of: value, isQuery: isQuery)
        case .object, .part, .either, .open: return nil
        }
    }
}
