import Encodings

extension JSON {
    /// Reads one document.
    ///
    /// - Parameters:
    ///   - maximumDepth: how many arrays and objects may lie within each other.
    ///   - ignoresRest: whether anything may come behind the value, unread.
    ///   - mostValues: more than ``mostValues`` only off the event loop.
    package init(
        _ text: [UInt8], maximumDepth: Int = 16, ignoresRest: Bool = false, mostValues: Int = JSON.mostValues
    ) throws(JSONError) {
        var reader = JSONReader(text: text, maximumDepth: maximumDepth, mostValues: mostValues)
        self = try ignoresRest ? reader.firstValue() : reader.document()
    }
}

extension JSON {
    /// A member of an object, with its value also as it was written.
    package struct Member: Equatable, Sendable {
        @ByteText package private(set) var key: String
        package let value: JSON
        package let text: ArraySlice<UInt8>
    }

    /// Reads a document that is an object, for what must be passed on as it came: order, spelling and all.
    ///
    /// - Returns: `nil` when it is none. A key that is repeated is in it as often.
    package static func members(of text: [UInt8]) throws(JSONError) -> [Member]? {
        var reader = JSONReader(text: text, maximumDepth: 16)
        return try reader.outerMembers()
    }
}

extension [JSON.Member] {
    /// Returns the value of the last member of that name.
    package func value(of key: String) -> JSON? {
        place(of: key).map { self[$0].value }
    }

    fileprivate func place(of key: String) -> Int? {
        // By index: an element that goes through a closure is copied with all its texts.
        for index in indices.reversed() where self[index].key.hasSameBytes(as: key) {
            return index
        }
        return nil
    }
}

/// Reads left to right, one byte at a time; `offset` is the next byte.
private struct JSONReader {
    let text: [UInt8]
    let maximumDepth: Int
    let mostValues: Int
    private var offset = 0
    private var values = 0

    init(text: [UInt8], maximumDepth: Int, mostValues: Int = JSON.mostValues) {
        self.text = text
        self.maximumDepth = maximumDepth
        self.mostValues = mostValues
    }

    mutating func firstValue() throws(JSONError) -> JSON { try value(depth: 0) }

    mutating func outerMembers() throws(JSONError) -> [JSON.Member]? {
        skipSpace()
        guard offset < text.count, text[offset] == UInt8(ascii: "{") else {
            _ = try document()
            return nil
        }
        var found: [JSON.Member] = []
        found.reserveCapacity(4)
        try members(depth: 1) { key, value, text in
            found.append(JSON.Member(key: key, value: value, text: text))
        }
        try end()
        return found
    }

    mutating func document() throws(JSONError) -> JSON {
        let value = try value(depth: 0)
        try end()
        return value
    }

    private mutating func end() throws(JSONError) {
        skipSpace()
        guard offset == text.count else { throw .unexpectedByte(offset: offset) }
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSON {
        skipSpace()
        guard offset < text.count else { throw .unexpectedEnd }
        values += 1
        guard values <= mostValues else { throw .tooManyValues(maximum: mostValues) }
        switch text[offset] {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case _: throw .unexpectedByte(offset: offset)
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSON {
        var members = JSON.Object()
        try self.members(depth: depth) { key, value, _ in members[key] = value }
        return .object(members)
    }

    /// Reads the members of an object.
    ///
    /// - Parameter take: gets a member's key, its value, and the value's bytes as they were written.
    private mutating func members(
        depth: Int, _ take: (String, JSON, ArraySlice<UInt8>) -> Void
    ) throws(JSONError) {
        guard depth <= maximumDepth else { throw .tooDeep(maximum: maximumDepth) }
        offset += 1
        skipSpace()
        if self.take(UInt8(ascii: "}")) { return }
        while true {
            skipSpace()
            guard offset < text.count else { throw .unexpectedEnd }
            guard text[offset] == UInt8(ascii: "\"") else { throw .unexpectedByte(offset: offset) }
            let key = try string()
            skipSpace()
            try expect(UInt8(ascii: ":"))
            skipSpace()
            let valueStart = offset
            let value = try value(depth: depth)
            take(key, value, text[valueStart..<offset])
            skipSpace()
            if self.take(UInt8(ascii: "}")) { return }
            try expect(UInt8(ascii: ","))
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSON {
        guard depth <= maximumDepth else { throw .tooDeep(maximum: maximumDepth) }
        offset += 1
        var elements: [JSON] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(depth: depth))
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            try expect(UInt8(ascii: ","))
        }
    }

    private mutating func string() throws(JSONError) -> String {
        offset += 1
        let plain = offset..<endOfPlainText()
        offset = plain.upperBound
        if take(UInt8(ascii: "\"")) { return string(text.span.extracting(plain)) }
        var bytes = Array(text[plain])
        while true {
            guard offset < text.count else { throw .unexpectedEnd }
            let byte = text[offset]
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return string(bytes.span)
            case UInt8(ascii: "\\"):
                offset += 1
                try escape(into: &bytes)
            case 0..<0x20:
                throw .unexpectedByte(offset: offset)
            case _:
                let run = offset..<endOfPlainText()
                bytes.append(contentsOf: text[run])
                offset = run.upperBound
            }
        }
    }

    /// Makes a string of bytes. Bytes that are not UTF-8 become U+FFFD: one text of a request spoils no other.
    private func string(_ bytes: Span<UInt8>) -> String {
        if let value = try? UTF8Span(validating: bytes) { return String(copying: value) }
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        for index in bytes.indices { copy.append(bytes[index]) }
        return String(decoding: copy, as: UTF8.self)
    }

    /// Returns the index of the next quote, backslash or control byte.
    private func endOfPlainText() -> Int {
        var rest = text.span.extracting(droppingFirst: offset)
        // Many bytes at a time while none of them is one: the least of them all takes a few vector instructions.
        while rest.count >= 32 {
            let run = rest.extracting(first: 32)
            var least = UInt8.max
            for index in run.indices {
                let byte = run[index]
                least = min(least, byte ^ UInt8(ascii: "\""), byte ^ UInt8(ascii: "\\"), byte & 0xE0)
            }
            guard least > 0 else { break }
            rest = rest.extracting(droppingFirst: 32)
        }
        for index in rest.indices {
            let byte = rest[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 {
                return text.count - rest.count + index
            }
        }
        return text.count
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(JSONError) {
        guard offset < text.count else { throw .unexpectedEnd }
        let byte = text[offset]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try scalar()
            if scalar.isASCII {
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        case _: throw .unexpectedByte(offset: offset)
        }
        offset += 1
    }

    /// Reads the escape whose `u` is at ``offset``, with the second half of a pair. One half alone is U+FFFD.
    private mutating func scalar() throws(JSONError) -> Unicode.Scalar {
        let unit = try hexDigits()
        guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
        guard offset + 2 < text.count, text[offset + 1] == UInt8(ascii: "\\"),
            text[offset + 2] == UInt8(ascii: "u")
        else { return "\u{FFFD}" }
        let end = offset
        offset += 2
        let low = try hexDigits()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else {
            // It is a character of its own.
            offset = end
            return "\u{FFFD}"
        }
        return scalar
    }

    /// Reads the four digits behind a `u`, and stands on the last of them afterwards.
    private mutating func hexDigits() throws(JSONError) -> UInt32 {
        guard offset + 4 < text.count else { throw .unexpectedEnd }
        var value: UInt32 = 0
        for _ in 0..<4 {
            offset += 1
            guard let digit = Hex.value(text[offset]) else {
                throw .unexpectedByte(offset: offset)
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private mutating func number() throws(JSONError) -> JSON {
        let start = offset
        _ = take(UInt8(ascii: "-"))
        if take(UInt8(ascii: "0")) {
            guard skipDigits() == 0 else { throw .invalidNumber(offset: start) }
        } else {
            guard skipDigits() > 0 else { throw .invalidNumber(offset: start) }
        }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            guard skipDigits() > 0 else { throw .invalidNumber(offset: start) }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard skipDigits() > 0 else { throw .invalidNumber(offset: start) }
        }
        let digits = String(decoding: text[start..<offset], as: UTF8.self)
        if isWhole, let value = Int64(digits) { return .integer(value) }
        guard let value = Double(digits), value.isFinite else { throw .invalidNumber(offset: start) }
        return .number(value)
    }

    private mutating func word(_ word: String, _ value: JSON) throws(JSONError) -> JSON {
        for letter in word.utf8 { try expect(letter) }
        return value
    }

    private mutating func skipDigits() -> Int {
        let start = offset
        while offset < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[offset]) {
            offset += 1
        }
        return offset - start
    }

    private mutating func skipSpace() {
        while offset < text.count {
            switch text[offset] {
            case 0x20, 0x09, 0x0A, 0x0D: offset += 1
            case _: return
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard offset < text.count, text[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard offset < text.count else { throw .unexpectedEnd }
        guard take(byte) else { throw .unexpectedByte(offset: offset) }
    }
}
