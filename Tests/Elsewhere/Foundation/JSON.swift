/// A JSON document, for the vectors: read and decoded as Foundation would, and trusted.
enum JSONTree {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])
}

struct JSONReadingError: Error {
    let offset: Int
}

struct JSONTreeReader {
    private let text: [UInt8]
    private var offset = 0

    init(_ text: [UInt8]) { self.text = text }

    mutating func document() throws -> JSONTree {
        let value = try value()
        skipBlanks()
        guard offset == text.count else { throw JSONReadingError(offset: offset) }
        return value
    }

    private mutating func skipBlanks() {
        while offset < text.count, [0x20, 0x0a, 0x0d, 0x09].contains(text[offset]) { offset += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipBlanks()
        guard offset < text.count, text[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func need(_ word: String) throws {
        guard text[offset...].starts(with: word.utf8) else { throw JSONReadingError(offset: offset) }
        offset += word.utf8.count
    }

    private mutating func value() throws -> JSONTree {
        skipBlanks()
        guard offset < text.count else { throw JSONReadingError(offset: offset) }
        switch text[offset] {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"):
            try need("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try need("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try need("null")
            return .null
        case _:
            let end = text[offset...].firstIndex { !"+-.0123456789eE".utf8.contains($0) } ?? text.count
            guard end > offset else { throw JSONReadingError(offset: offset) }
            defer { offset = end }
            return .number(String(decoding: text[offset..<end], as: UTF8.self))
        }
    }

    private mutating func object() throws -> JSONTree {
        try need("{")
        var members: [String: JSONTree] = [:]
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipBlanks()
            let key = try string()
            guard take(UInt8(ascii: ":")) else { throw JSONReadingError(offset: offset) }
            members[key] = try value()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw JSONReadingError(offset: offset) }
        return .object(members)
    }

    private mutating func array() throws -> JSONTree {
        try need("[")
        var items: [JSONTree] = []
        if take(UInt8(ascii: "]")) { return .array(items) }
        repeat { items.append(try value()) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw JSONReadingError(offset: offset) }
        return .array(items)
    }

    private mutating func string() throws -> String {
        try need("\"")
        var units: [UInt16] = []
        var plain: [UInt8] = []
        func flushed() -> [UInt16] { Array(String(decoding: plain, as: UTF8.self).utf16) }
        while offset < text.count, text[offset] != UInt8(ascii: "\"") {
            guard text[offset] == UInt8(ascii: "\\") else {
                plain.append(text[offset])
                offset += 1
                continue
            }
            units += flushed()
            plain = []
            offset += 2
            switch text[offset - 1] {
            case UInt8(ascii: "n"): units.append(0x0a)
            case UInt8(ascii: "r"): units.append(0x0d)
            case UInt8(ascii: "t"): units.append(0x09)
            case UInt8(ascii: "b"): units.append(0x08)
            case UInt8(ascii: "f"): units.append(0x0c)
            case UInt8(ascii: "u"):
                let digits = String(decoding: text[offset..<offset + 4], as: UTF8.self)
                guard let unit = UInt16(digits, radix: 16) else { throw JSONReadingError(offset: offset) }
                units.append(unit)
                offset += 4
            case let other: units.append(UInt16(other))
            }
        }
        units += flushed()
        try need("\"")
        return String(decoding: units, as: UTF16.self)
    }
}

public enum JSONSerialization {
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static let fragmentsAllowed = WritingOptions(rawValue: 1)
    }

    public static func jsonObject(with data: Data) throws -> Any {
        var reader = JSONTreeReader(data.bytes)
        return any(try reader.document())
    }

    /// What comes from ``jsonObject(with:)`` needs no text in between.
    public static func data(withJSONObject object: Any, options: WritingOptions = []) throws -> Data {
        Data(tree: tree(object))
    }

    private static func any(_ tree: JSONTree) -> Any {
        switch tree {
        case .object(let members): members.mapValues { any($0) }
        case .array(let items): items.map { any($0) }
        case .string(let text): text
        case let leaf: leaf
        }
    }

    private static func tree(_ object: Any) -> JSONTree {
        switch object {
        case let members as [String: Any]: .object(members.mapValues { tree($0) })
        case let items as [Any]: .array(items.map { tree($0) })
        case let text as String: .string(text)
        case let leaf as JSONTree: leaf
        case _: .null
        }
    }
}
