extension [UInt8] {
    /// Appends a value as JSON, the keys of objects in the order of their bytes: the same value is always the same text.
    package mutating func append(json value: JSON) {
        switch value {
        case .null: append(contentsOf: "null".utf8)
        case .bool(let value): append(contentsOf: value ? "true".utf8 : "false".utf8)
        case .integer(let value): append(contentsOf: String(value).utf8)
        // Finite, as everything that was read.
        case .number(let value): append(contentsOf: String(value).utf8)
        case .string(let text): append(jsonString: text)
        case .array(let elements):
            append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(json: element)
            }
            append(UInt8(ascii: "]"))
        case .object(let members):
            append(UInt8(ascii: "{"))
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(jsonString: member.key)
                append(UInt8(ascii: ":"))
                append(json: member.value)
            }
            append(UInt8(ascii: "}"))
        }
    }
}

extension JSON {
    /// The value as JSON, the keys of objects in the order of their bytes.
    package var text: String {
        var bytes: [UInt8] = []
        bytes.append(json: self)
        return String(decoding: bytes, as: UTF8.self)
    }
}
