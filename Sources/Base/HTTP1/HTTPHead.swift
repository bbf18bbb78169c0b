import Encodings

/// The fields of a message's head (RFC 9112, section 5), strictly: no folded lines, no blanks around a name. That each
/// line ends with CR LF and has no control bytes is ``HTTPHeadScanner``'s business.
struct HTTPHead {
    let fields: HTTPFields

    /// Reads the fields of a head.
    ///
    /// - Parameter lines: The lines as they were scanned, from the end of the start line to the last byte of
    ///   the empty line.
    init(_ lines: ArraySlice<UInt8>, limits: HTTPLimits) throws(HTTPFault) {
        let bytes = lines.span
        var fields = HTTPFields(in: lines)
        var start = 0
        while let end = bytes.firstIndex(of: 0x0D, from: start), end > start {
            guard !bytes[start].isBlank else { throw .foldedField }
            guard fields.count < limits.fields else { throw .tooManyFields(limit: limits.fields) }
            let colon = bytes.endOfRun(from: start, of: \.isTokenByte)
            guard colon > start, bytes[colon] == UInt8(ascii: ":") else { throw .badField }
            var valueEnd = end
            while bytes[valueEnd - 1].isBlank { valueEnd -= 1 }
            let valueStart = min(bytes.endOfRun(from: colon + 1, of: \.isBlank), valueEnd)
            fields.mark(name: start..<colon, value: valueStart..<valueEnd)
            start = end + 2
        }
        self.fields = fields
    }

    /// Returns how a message's body is framed, by these fields; `nil`: no field tells.
    func framing(limit: Int) throws(HTTPFault) -> HTTPBodyDecoder? {
        let lengths = fields.count(of: "content-length")
        let codings = fields.count(of: "transfer-encoding")
        if codings > 0 {
            guard lengths == 0 else { throw .conflictingLengths }
            guard codings == 1, fields["transfer-encoding"]?.word() == "chunked" else {
                throw .unknownTransferCoding
            }
            return .chunked(limit: limit)
        }
        guard lengths > 0 else { return nil }
        guard lengths == 1, let length = fields.withValue(of: "content-length", HTTPHead.number) else {
            throw .badContentLength
        }
        guard length <= limit else { throw .bodyTooLarge(limit: limit) }
        return .length(length)
    }

    /// Digits and nothing else; the largest number for all that are larger.
    private static func number(_ digits: Span<UInt8>) -> Int? {
        guard !digits.isEmpty else { return nil }
        var number = 0
        for index in digits.indices {
            guard digits[index].isDigit else { return nil }
            let (product, isLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = product.addingReportingOverflow(Int(digits[index] - UInt8(ascii: "0")))
            number = isLarge || isLarger ? .max : sum
        }
        return number
    }
}

/// Finds a head's empty line while its bytes arrive, and refuses what can be refused before it has come.
struct HTTPHeadScanner {
    private var scanned = 0
    private var lineStart = 0
    /// The index of the end of the start line, without its CR LF, once it has come.
    private(set) var startLineEnd: Int?

    /// Returns the number of bytes up to the end of the empty line, or `nil` until it has come.
    ///
    /// - Parameter bytes: all that has come of the message; only what is new since the last call is looked at.
    mutating func headLength(in bytes: ArraySlice<UInt8>, limits: HTTPLimits) throws(HTTPFault) -> Int? {
        let bytes = bytes.span.extracting(first: limits.head)
        while let index = bytes.firstIndex(from: scanned, whereZero: \.differenceFromControl) {
            scanned = index
            switch bytes[index] {
            case 0x09: scanned += 1
            // A carriage return is nothing but the first half of a line's end.
            case 0x0D where index + 1 == bytes.count: return try nothingYet(bytes.count, limits)
            case 0x0D where bytes[index + 1] == 0x0A:
                scanned += 2
                if index == lineStart { return scanned }
                lineStart = scanned
                if startLineEnd == nil { startLineEnd = index }
            case _: throw .controlByte
            }
        }
        scanned = bytes.count
        return try nothingYet(bytes.count, limits)
    }

    private func nothingYet(_ count: Int, _ limits: HTTPLimits) throws(HTTPFault) -> Int? {
        guard count == limits.head else { return nil }
        throw startLineEnd == nil
            ? .requestLineTooLong(limit: limits.head) : .headTooLarge(limit: limits.head)
    }
}

extension UInt8 {
    /// Whether the byte is a `tchar` of RFC 9110, section 5.6.2.
    var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        case _: false
        }
    }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// 0 for control bytes.
    var differenceFromControl: UInt8 { Swift.min(self & 0xE0, self ^ 0x7F) }

    var isForbiddenInHead: Bool { self < 0x20 && self != 0x09 || self == 0x7F }

    var isBlank: Bool { self == 0x20 || self == 0x09 }
}
