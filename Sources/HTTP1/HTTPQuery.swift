import Encodings

/// The parameters of a query or a form, `name=value` joined by `&`, percent-decoded; at most ``most``.
///
/// A plus sign is a plus sign: what senders write here is hex digits, booleans and device tokens, none of which has a
/// blank, so a form's way to write one would only make two texts of one.
package struct HTTPQuery: Sendable {
    /// Few enough to be looked through: a table would cost more to fill than it saves.
    private var parameters: [(name: String, value: String)] = []

    /// Far more than any of the doors has names for.
    package static let most = 100

    /// - Throws: ``HTTPFault/badPercentEncoding``, ``HTTPFault/tooManyFields(limit:)``.
    package init(_ text: String) throws(HTTPFault) { try self.init(text.utf8.span) }

    package init(_ bytes: Span<UInt8>) throws(HTTPFault) {
        parameters.reserveCapacity(8)
        var start = 0
        while start < bytes.count {
            let end = bytes.firstIndex(of: UInt8(ascii: "&"), from: start) ?? bytes.count
            defer { start = end + 1 }
            guard end > start else { continue }
            guard parameters.count < HTTPQuery.most else { throw .tooManyFields(limit: HTTPQuery.most) }
            let parameter = bytes.extracting(start..<end)
            let nameEnd = parameter.firstIndex(of: UInt8(ascii: "=")) ?? parameter.count
            let name = try String(percentEncoded: parameter.extracting(first: nameEnd))
            let value = try String(percentEncoded: parameter.extracting(droppingFirst: nameEnd + 1))
            parameters.append((name, value))
        }
    }

    /// The first value given for that name.
    package subscript(name: String) -> String? {
        parameters.first { $0.name.hasSameBytes(as: name) }?.value
    }
}

extension String {
    /// - Parameter text: UTF-8, as sent.
    /// - Throws: ``HTTPFault/badPercentEncoding`` also where the bytes are not UTF-8.
    package init(percentEncoded text: Span<UInt8>) throws(HTTPFault) {
        guard text.firstIndex(of: UInt8(ascii: "%")) != nil else {
            guard let plain = try? UTF8Span(validating: text) else { throw .badPercentEncoding }
            self.init(copying: plain)
            return
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var digits = 0
        var value: UInt8 = 0
        for index in text.indices {
            let byte = text[index]
            if digits > 0 {
                guard let digit = Hex.value(byte) else { throw .badPercentEncoding }
                value = value << 4 | digit
                digits -= 1
                if digits == 0 { bytes.append(value) }
            } else if byte == UInt8(ascii: "%") {
                digits = 2
                value = 0
            } else {
                bytes.append(byte)
            }
        }
        guard digits == 0, let text = try? UTF8Span(validating: bytes.span) else {
            throw .badPercentEncoding
        }
        self.init(copying: text)
    }

    /// Encodes all but letters, digits and `-._~` (RFC 3986, section 2.3).
    package var percentEncoded: String {
        var bytes: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            case _:
                bytes.append(
                    contentsOf: "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
