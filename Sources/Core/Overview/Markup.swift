/// HTML under construction. What stands in a literal is markup; whatever is interpolated is text and escaped, so that
/// nothing from outside can become markup.
struct Markup: ExpressibleByStringInterpolation {
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var html = ""

        init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { html += literal }
        mutating func appendInterpolation(_ text: String) { html += Markup.escaped(text) }
        mutating func appendInterpolation(_ number: Int) { html += "\(number)" }
        mutating func appendInterpolation(_ markup: Markup) { html += markup.html }
        mutating func appendInterpolation(_ parts: [Markup]) { for part in parts { html += part.html } }
    }

    private(set) var html: String

    init(stringLiteral literal: String) { html = literal }
    init(stringInterpolation: StringInterpolation) { html = stringInterpolation.html }

    /// Escapes a text for content and for attributes in double quotes. Control characters, which HTML doesn't
    /// allow, become `?`.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value): result += "?"
            case _: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
