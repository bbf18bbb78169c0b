/// SQL as SQLite's wrapper takes it, for PostgreSQL.
enum PostgreSQLText {
    /// Writes `$1` for `?1`, and numbers each `?` that has no number.
    ///
    /// - Returns: Also how many values the text takes.
    static func numbered(_ text: String) -> (text: String, count: Int) {
        var numbered: [UInt8] = []
        numbered.reserveCapacity(text.utf8.count + 32)
        var highest = 0
        var number: Int?
        var isQuoted = false
        func end() {
            guard let open = number else { return }
            let value = open == 0 ? highest + 1 : open
            highest = max(highest, value)
            numbered += Array("$\(value)".utf8)
            number = nil
        }
        for byte in text.utf8 {
            if let open = number {
                if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                    number = open * 10 + Int(byte - UInt8(ascii: "0"))
                    continue
                }
                end()
            }
            if byte == UInt8(ascii: "'") { isQuoted.toggle() }
            if byte == UInt8(ascii: "?"), !isQuoted { number = 0 } else { numbered.append(byte) }
        }
        end()
        return (String(decoding: numbered, as: UTF8.self), highest)
    }

    /// Cuts a text at its semicolons, but for those within `$$` and quotes: a pipeline takes one statement at a time.
    static func statements(_ text: String) -> [String] {
        var found: [String] = []
        var statement: [UInt8] = []
        var isQuoted = false
        var isBody = false
        var last: UInt8 = 0
        func end() {
            let isBlank = statement.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            if !isBlank { found.append(String(decoding: statement, as: UTF8.self)) }
            statement = []
        }
        for byte in text.utf8 {
            if byte == UInt8(ascii: "$"), last == byte { isBody.toggle() }
            if byte == UInt8(ascii: "'"), !isBody { isQuoted.toggle() }
            last = byte
            if byte == UInt8(ascii: ";"), !isQuoted, !isBody { end() } else { statement.append(byte) }
        }
        end()
        return found
    }
}
