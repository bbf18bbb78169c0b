import CPostgreSQL

/// libpq, found when it is asked for.
enum LibPQ {
    /// Returns libpq's functions, which live as long as the process.
    static func load() throws(PostgreSQLError) -> UnsafePointer<onionbell_libpq> {
        var why: UnsafePointer<CChar>?
        if let functions = onionbell_load_libpq(&why) { return functions }
        let reason = why.map { String(cString: $0) } ?? "unknown"
        throw PostgreSQLError(message: "libpq can't be used: \(reason). Debian has it as libpq5")
    }

    /// Returns libpq's message in one line: its messages end with a line's end, and some have several lines.
    static func text(_ message: UnsafePointer<CChar>?) -> String {
        guard let message else { return "" }
        return String(cString: message).split(whereSeparator: \.isNewline)
            .map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "; ")
    }
}
