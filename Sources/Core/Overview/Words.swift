import Relay

/// Figures as a person reads them.
package enum Words {
    /// Returns a time as in `840 ms`, `12 s`, `5 min`, `3 h`, `9 days`.
    package static func time(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        switch seconds {
        case ..<1: return "\(max(0, attoseconds / 1_000_000_000_000_000)) ms"
        case ..<120: return "\(seconds) s"
        case ..<7200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3600) h"
        case _: return "\(seconds / 86_400) days"
        }
    }

    /// Returns a time in words, as a rule with two digits: `0.35 ms`, `4.2 ms`, `180 ms`, `2.5 s`.
    package static func latency(_ nanoseconds: Int64?) -> String {
        guard let nanoseconds else { return "–" }
        let microseconds = nanoseconds / 1000
        switch microseconds {
        case ..<1000: return "0.\(twoDigits(microseconds / 10)) ms"
        case ..<10_000: return "\(microseconds / 1000).\(microseconds / 100 % 10) ms"
        case ..<1_000_000: return "\(microseconds / 1000) ms"
        case ..<10_000_000: return "\(microseconds / 1_000_000).\(microseconds / 100_000 % 10) s"
        case _: return time(.nanoseconds(nanoseconds))
        }
    }

    /// Returns a size as in `0 B`, `12 KiB`, `1.5 GiB`.
    package static func bytes(_ bytes: Int) -> String {
        var (value, unit) = (Double(bytes), 0)
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        let tenths = Int(value * 10)
        return unit == 0 || tenths >= 100
            ? "\(tenths / 10) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// Returns a number as in `1 234 567`, with narrow no-break spaces.
    package static func count(_ count: Int) -> String {
        let digits = Array("\(abs(count))")
        var result = count < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "\u{202f}" }
            result.append(digit)
        }
        return result
    }

    /// Returns a number with its noun, as in `1 peer`, `2 peers`.
    package static func count(_ number: Int, of noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Returns a date as in `2026-11-21 22:41:42 UTC`, from milliseconds since 1970.
    package static func date(_ milliseconds: Int64) -> String {
        guard let text = UTCTime.text(milliseconds) else { return "–" }
        return text.prefix(19).map { $0 == "T" ? " " : String($0) }.joined() + " UTC"
    }

    /// Returns a time of day in UTC as in `22:41`, from milliseconds since 1970.
    package static func clock(_ milliseconds: Int64) -> String {
        UTCTime.text(milliseconds).map { String($0.dropFirst(11).prefix(5)) } ?? "–"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
