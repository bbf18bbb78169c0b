import Encodings
import HTTP1

/// The parameters of a request beside its path, as ntfy reads them: fields of the head, and parameters of the query, which
/// is a form (a plus sign is a blank).
struct MailboxParameters {
    private let fields: HTTPFields
    private let query: HTTPQuery

    init(_ request: HTTPRequest) throws(MailboxFault) {
        fields = request.fields
        var form: [UInt8] = []
        for byte in (request.query ?? "").utf8 {
            if byte == UInt8(ascii: "+") { form.append(contentsOf: "%20".utf8) } else { form.append(byte) }
        }
        do throws(HTTPFault) {
            query = try HTTPQuery(form.span)
        } catch {
            throw .badRequest
        }
    }

    /// Reads a field of the head, whose words may be encoded, or a parameter, by any of its names. An empty
    /// value is none.
    subscript(names: [String]) -> String? {
        for name in names {
            if let value = fields[name], !value.isEmpty, !isOfHTTP(name, value) {
                return EncodedWords.decoded(value)
            }
        }
        return inQuery(names)
    }

    func inQuery(_ names: [String]) -> String? {
        for name in names {
            if let value = query[name], !value.isEmpty { return value }
        }
        return nil
    }

    /// Whether a switch is set.
    func isSet(_ names: [String]) -> Bool {
        guard let word = self[names]?.word() else { return false }
        return ["1", "yes", "true"].contains(word)
    }

    /// Whether a parameter is HTTP's own: browsers say with each request how urgent it is to them (RFC 9218: `u=1, i`).
    private func isOfHTTP(_ name: String, _ value: String) -> Bool {
        guard name == "priority", let value = value.word() else { return false }
        return value == "i" || value.hasPrefix("i,") || value.hasPrefix("u=")
    }
}
