import Encodings

/// The parameters of a query or a form, `name=value` joined by `&`, percent-decoded; at most ``most``.
///
/// A plus sign is a plus sign: what senders write here is hex digits, booleans and device tokens, none of which has a
/// blank, so a form's way to write one would only make two texts of one.
package struct HTTPQuery: Sendable {
    /// The place of one parameter in the bytes.
    private struct Mark {
        let name: Range<Int>
        let value: Range<Int>
    }

    /// Decoded, each text with a byte behind it, so that no character begins in one and ends in the next. A text is made
    /// of those only that are asked for.
    private var bytes: [UInt8] = []
    /// Few enough to be looked through: a table would cost more to fill than it saves.
    private var marks: [Mark] = []

    /// The most parameters, far more than any of the doors has names for.
    package static let most = 100

    /// Reads a query as sent.
    ///
    /// - Throws: ``HTTPFault/badPercentEncoding``, ``HTTPFault/tooManyFields(limit:)``.
    package init(_ text: String) throws(HTTPFault) {
        self = try text.withBytes { bytes throws(HTTPFault) in
            if bytes.firstIndex(of: UInt8(ascii: "%")) == nil {
                HTTPQuery(plain: Array(text.utf8), try HTTPQuery.marks(in: bytes))
            } else {
                try HTTPQuery(bytes)
            }
        }
    }

    /// Makes a query that needs no decoding, as nearly all: what stands between the texts is the byte behind
    /// each.
    private init(plain bytes: [UInt8], _ marks: [Mark]) {
        self.bytes = bytes
        self.marks = marks
    }

    package init(_ text: Span<UInt8>) throws(HTTPFault) {
        bytes.reserveCapacity(text.count + 2 * 8)
        marks = try HTTPQuery.marks(in: text)
        for index in marks.indices {
            let start = bytes.count
            try bytes.append(percentEncoded: text.extracting(marks[index].name))
            let middle = bytes.count
            bytes.append(0)
            try bytes.append(percentEncoded: text.extracting(marks[index].value))
            marks[index] = Mark(name: start..<middle, value: middle + 1..<bytes.count)
            bytes.append(0)
        }
        guard (try? UTF8Span(validating: bytes.span)) != nil else { throw .badPercentEncoding }
    }

    /// Finds the place of each parameter as sent.
    private static func marks(in text: Span<UInt8>) throws(HTTPFault) -> [Mark] {
        var marks: [Mark] = []
        marks.reserveCapacity(8)
        var start = 0
        while start < text.count {
            let end = text.firstIndex(of: UInt8(ascii: "&"), from: start) ?? text.count
            defer { start = end + 1 }
            guard end > start else { continue }
            guard marks.count < HTTPQuery.most else { throw .tooManyFields(limit: HTTPQuery.most) }
            let sign = text.extracting(first: end).firstIndex(of: UInt8(ascii: "="), from: start) ?? end
            marks.append(Mark(name: start..<sign, value: min(sign + 1, end)..<end))
        }
        return marks
    }

    /// All parameters, as often as they were given.
    package var all: [(name: String, value: String)] {
        marks.map {
            (
                String(decoding: bytes[$0.name], as: UTF8.self),
                String(decoding: bytes[$0.value], as: UTF8.self)
            )
        }
    }

    /// Returns the first value given for that name.
    package subscript(name: String) -> String? {
        place(of: name).map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    /// Calls `body` with the bytes of a parameter's value; returns `nil` where there is none.
    package func withValue<Result>(of name: String, _ body: (Span<UInt8>) -> Result) -> Result? {
        place(of: name).map { body(bytes.span.extracting($0)) }
    }

    private func place(of name: String) -> Range<Int>? { name.withBytes { place(of: $0) } }

    private func place(of wanted: Span<UInt8>) -> Range<Int>? {
        for mark in marks where bytes.span.extracting(mark.name).hasSameBytes(as: wanted) {
            return mark.value
        }
        return nil
    }
}

extension String {
    /// Decodes a text as sent.
    ///
    /// - Throws: ``HTTPFault/badPercentEncoding``.
    package init(percentEncoded text: String) throws(HTTPFault) {
        self = try text.withBytes { bytes throws(HTTPFault) in try String(percentEncoded: bytes) }
    }

    /// Decodes UTF-8 as sent.
    ///
    /// - Throws: ``HTTPFault/badPercentEncoding`` also where the bytes are not UTF-8.
    package init(percentEncoded text: Span<UInt8>) throws(HTTPFault) {
        guard text.firstIndex(of: UInt8(ascii: "%")) != nil else {
            guard let plain = try? UTF8Span(validating: text) else { throw .badPercentEncoding }
            self.init(copying: plain)
            return
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        try bytes.append(percentEncoded: text)
        guard let text = try? UTF8Span(validating: bytes.span) else { throw .badPercentEncoding }
        self.init(copying: text)
    }

    /// Encodes all but letters, digits and `-._~` (RFC 3986, section 2.3).
    package var percentEncoded: String {
        var bytes: [UInt8] = []
        for byte in utf8 {
            if ASCII.letter(byte) | ASCII.digit(byte) == 1 || "-._~".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes.append(
                    contentsOf: "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends the decoded bytes of a text.
    ///
    /// - Throws: ``HTTPFault/badPercentEncoding`` where two digits don't follow a percent sign.
    fileprivate mutating func append(percentEncoded text: Span<UInt8>) throws(HTTPFault) {
        guard text.firstIndex(of: UInt8(ascii: "%")) != nil else {
            return append(addingCapacity: text.count) { output in
                for index in text.indices { output.append(text[index]) }
            }
        }
        var digits = 0
        var value: UInt8 = 0
        for index in text.indices {
            let byte = text[index]
            if digits > 0 {
                guard let digit = Hex.value(byte) else { throw .badPercentEncoding }
                value = value << 4 | digit
                digits -= 1
                if digits == 0 { append(value) }
            } else if byte == UInt8(ascii: "%") {
                digits = 2
                value = 0
            } else {
                append(byte)
            }
        }
        guard digits == 0 else { throw .badPercentEncoding }
    }
}
