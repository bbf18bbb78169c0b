import Encodings
import Relay

/// Reads the point from which a reader begins, as ntfy reads it (binwiederhier/ntfy, `parseSince`).
extension MailboxSince {
    /// Reads the point from which a reader begins; `nil`: the text is none of the forms.
    ///
    /// - Parameter now: Milliseconds since 1970.
    init?(_ text: String, at now: Int64) {
        guard let text = text.name(limit: 32) else { return nil }
        switch text {
        case "all": self = .all
        case "none": self = .none
        case "latest": self = .latest
        case _
        where text.utf8.count == MailboxMessage.idLength
            && text.consists { ASCII.letter($0) | ASCII.digit($0) }:
            self = .message(text)
        case _:
            if let seconds = Int64(text) {
                // Before 1970 is from the first on; what is far ahead is as far ahead.
                self = .time(min(max(seconds, -MailboxSince.farthest), MailboxSince.farthest) * 1000)
            } else {
                guard let duration = MailboxSince.milliseconds(text) else { return nil }
                self = .time(now - duration)
            }
        }
    }

    /// The farthest time that is told apart, in seconds from 1970.
    private static let farthest: Int64 = 1 << 40

    /// Reads a duration as Go's `ParseDuration` does, `10m`, `1h30m`, `1.5h`, `100ms`, `-10s`, and days
    /// (`2d`).
    ///
    /// - Parameter unit: Returns the milliseconds of the unit of a name.
    static func milliseconds(_ text: String, _ unit: (Substring) -> Double? = goUnit) -> Int64? {
        var rest = Substring(text).utf8
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        guard !rest.isEmpty else { return nil }
        var sum = 0.0
        while !rest.isEmpty {
            let digits = rest.prefix { ASCII.digit($0) == 1 || $0 == UInt8(ascii: ".") }
            rest = rest.dropFirst(digits.count)
            let name = rest.prefix { ASCII.digit($0) == 0 && $0 != UInt8(ascii: ".") }
            rest = rest.dropFirst(name.count)
            guard let number = number(digits), let unit = unit(Substring(name)) else { return nil }
            sum += number * unit
        }
        // Go's longest.
        guard sum < 9_223_372_036_854 else { return nil }
        return Int64(isNegative ? -sum : sum)
    }

    /// Reads digits with at most one point among them, and at least one digit.
    private static func number(_ digits: Substring.UTF8View.SubSequence) -> Double? {
        var (number, scale): (Double, Double?) = (0, nil)
        for byte in digits {
            guard ASCII.digit(byte) == 1 else {
                guard scale == nil, digits.count > 1 else { return nil }
                scale = 1
                continue
            }
            number = number * 10 + Double(byte - UInt8(ascii: "0"))
            scale = scale.map { $0 * 10 }
        }
        return digits.isEmpty ? nil : number / (scale ?? 1)
    }

    static func goUnit(_ name: Substring) -> Double? {
        switch name {
        case "ns": 0.000_001
        case "us": 0.001
        case "ms": 1
        case "s": 1000
        case "m": 60_000
        case "h": 3_600_000
        case "d": 86_400_000
        case _: nil
        }
    }
}
