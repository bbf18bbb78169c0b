/// A message's head, cut into its start line and fields (RFC 9112, sections 2 to 5), strictly: each line ends with
/// CR LF, no control bytes, no folded lines, no blanks around a name.
struct HTTPHead {
    let startLine: ArraySlice<UInt8>
    let fields: HTTPFields

    /// - Parameter lines: from the first byte of the start line to the last byte of the empty line.
    init(_ lines: ArraySlice<UInt8>, limits: HTTPLimits) throws(HTTPFault) {
        var rest = lines
        startLine = try HTTPHead.takeLine(of: &rest)
        var fields = HTTPFields()
        while true {
            let line = try HTTPHead.takeLine(of: &rest)
            guard let first = line.first else { break }
            guard first != 0x20, first != 0x09 else { throw .foldedField }
            guard fields.all.count < limits.fields else { throw .tooManyFields(limit: limits.fields) }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy(\.isTokenByte)
            else { throw .badField }
            let name = String(decoding: line[..<colon].map(\.lowercased), as: UTF8.self)
            fields.append(name, String(decoding: line[(colon + 1)...].trimmingBlanks, as: UTF8.self))
        }
        self.fields = fields
    }

    /// How a message's body is framed, by these fields; `nil`: no field tells.
    func framing(limit: Int) throws(HTTPFault) -> HTTPBodyDecoder? {
        let lengths = fields.count(of: "content-length")
        let codings = fields.count(of: "transfer-encoding")
        if codings > 0 {
            guard lengths == 0 else { throw .conflictingLengths }
            guard codings == 1, fields["transfer-encoding"]?.lowercased() == "chunked" else {
                throw .unknownTransferCoding
            }
            return .chunked(limit: limit)
        }
        guard lengths > 0 else { return nil }
        guard lengths == 1, let digits = fields["content-length"], !digits.isEmpty,
            digits.utf8.allSatisfy(\.isDigit)
        else { throw .badContentLength }
        guard let length = Int(digits), length <= limit else { throw .bodyTooLarge(limit: limit) }
        return .length(length)
    }

    private static func takeLine(of rest: inout ArraySlice<UInt8>) throws(HTTPFault) -> ArraySlice<UInt8> {
        guard let end = rest.firstIndex(where: \.isForbiddenInHead), rest[end] == 0x0D,
            end + 1 < rest.endIndex,
            rest[end + 1] == 0x0A
        else { throw .controlByte }
        defer { rest = rest[(end + 2)...] }
        return rest[..<end]
    }
}

/// Finds a head's empty line while its bytes arrive, and refuses what can be refused before it has come.
struct HTTPHeadScanner {
    private var scanned = 0
    private var lineStart = 0
    /// Where the start line ends, without its CR LF, once it has come.
    private(set) var startLineEnd: Int?

    /// The number of bytes up to the end of the empty line, or `nil` until it has come.
    ///
    /// - Parameter bytes: all that has come of the message; only what is new since the last call is looked at.
    mutating func headLength(in bytes: ArraySlice<UInt8>, limits: HTTPLimits) throws(HTTPFault) -> Int? {
        let bytes = bytes.span
        while scanned < bytes.count {
            guard scanned < limits.head else { throw tooLong(limits) }
            let byte = bytes[scanned]
            if byte == 0x0A {
                guard scanned > lineStart, bytes[scanned - 1] == 0x0D else {
                    throw .controlByte
                }
                let isEmpty = scanned == lineStart + 1
                scanned += 1
                lineStart = scanned
                if isEmpty { return scanned }
                if startLineEnd == nil { startLineEnd = scanned - 2 }
                continue
            }
            // A carriage return is nothing but the first half of a line's end.
            guard scanned == lineStart || bytes[scanned - 1] != 0x0D,
                byte == 0x0D || !byte.isForbiddenInHead
            else { throw .controlByte }
            scanned += 1
        }
        guard scanned < limits.head else { throw tooLong(limits) }
        return nil
    }

    private func tooLong(_ limits: HTTPLimits) -> HTTPFault {
        startLineEnd == nil ? .requestLineTooLong(limit: limits.head) : .headTooLarge(limit: limits.head)
    }
}

extension UInt8 {
    /// `tchar` of RFC 9110, section 5.6.2.
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

    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case _: nil
        }
    }

    var isForbiddenInHead: Bool { self < 0x20 && self != 0x09 || self == 0x7F }

    var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}
