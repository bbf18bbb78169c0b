import Encodings
import JSONCoding

/// A request's body: a JSON object whose names are read whatever their case (as ASP.NET does), and whose values can be
/// had as they were written.
struct BitwardenBody {
    private let members: [ByteText: JSON.Member]

    init(_ body: [UInt8]) throws(BitwardenFault) {
        guard !body.isEmpty else { throw .invalid("", "Body is empty.") }
        let found: [JSON.Member]?
        do throws(JSONError) {
            found = try JSON.members(of: body)
        } catch {
            throw .invalid("", "The body is not JSON: \(error).")
        }
        guard let found else { throw .invalid("", "The body is not a JSON object.") }
        members = Dictionary(
            found.map { (ByteText($0.key.lowercasedASCII), $0) }, uniquingKeysWith: { _, last in last })
    }

    /// Returns the member of a field; `nil`: it is not there, or null.
    func value(_ field: String) -> JSON.Member? {
        guard let member = members[ByteText(field.lowercased())], member.value != .null else { return nil }
        return member
    }

    /// Returns a text that must be there, of at most `limit` bytes.
    func text(_ field: String, limit: Int = 256) throws(BitwardenFault) -> String {
        guard let text = try optionalText(field, limit: limit) else { throw .required(field) }
        return text
    }

    /// Returns a text of at most `limit` bytes; `nil` also for an empty or blank one.
    func optionalText(_ field: String, limit: Int = 256) throws(BitwardenFault) -> String? {
        guard let value = value(field)?.value else { return nil }
        guard let text = value.string else { throw .invalid(field, "The \(field) field is not text.") }
        guard text.utf8.count <= limit else {
            throw .invalid(field, "The \(field) field has more than \(limit) bytes.")
        }
        return text.unicodeScalars.allSatisfy(\.properties.isWhitespace) ? nil : text
    }

    /// Returns a GUID in its form with hyphens; in lower case.
    func identifier(_ field: String) throws(BitwardenFault) -> String? {
        guard let value = value(field)?.value else { return nil }
        guard let text = value.string, BitwardenBody.isGUID(text) else {
            throw .invalid(field, "The \(field) field is not a GUID.")
        }
        return text.lowercased()
    }

    func number(_ field: String, in range: ClosedRange<Int64>) throws(BitwardenFault) -> Int? {
        guard let value = value(field)?.value else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw .invalid(
                field, "The \(field) field must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return Int(number)
    }

    /// Returns a list of at most `limit` texts.
    ///
    /// - Parameter skipsEmpty: Whether empty texts and nulls are nothing, as in the cloud's tags; otherwise
    ///   they are faults.
    func texts(
        _ field: String, limit: Int, skipsEmpty: Bool = false
    ) throws(BitwardenFault) -> [String]? {
        guard var value = value(field)?.value else { return nil }
        if skipsEmpty, let elements = value.array {
            value = .array(elements.filter { $0 != .null && $0 != "" })
        }
        return try BitwardenBody.texts(value, field, limit: limit)
    }

    /// Returns the `id` of each object in a list.
    func identifiers(ofAll field: String, limit: Int) throws(BitwardenFault) -> [String]? {
        guard let value = value(field)?.value else { return nil }
        let ids = value.array?.map { element in
            element.object?.first { $0.key.word() == "id" }?.value ?? .null
        }
        return try BitwardenBody.texts(ids.map { .array($0) } ?? value, field, limit: limit)
    }

    private static func texts(_ value: JSON, _ field: String, limit: Int) throws(BitwardenFault) -> [String] {
        guard let elements = value.array else { throw .invalid(field, "The \(field) field is not a list.") }
        guard elements.count <= limit else {
            throw .invalid(field, "The \(field) field has more than \(limit) elements.")
        }
        var texts: [String] = []
        for element in elements {
            guard let text = element.string, (1...256).contains(text.utf8.count) else {
                throw .invalid(field, "The \(field) field contains something other than ids.")
            }
            texts.append(text)
        }
        return texts
    }

    static func isGUID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 36
            && bytes.indices.allSatisfy { index in
                [8, 13, 18, 23].contains(index)
                    ? bytes[index] == UInt8(ascii: "-")
                    : ASCII.hexDigit(bytes[index]) == 1
            }
    }
}
