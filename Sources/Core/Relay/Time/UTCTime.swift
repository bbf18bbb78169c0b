import Encodings

/// Times of the wall clock as text.
package enum UTCTime {
    /// Returns `2026-03-01T10:15:30.123Z` (RFC 3339) for milliseconds since
    /// 1970; `nil` outside of the years 1970 to 9999.
    package static func text(_ milliseconds: Int64) -> String? {
        guard (0..<253_402_300_800_000).contains(milliseconds) else { return nil }
        let (year, month, day) = CivilTime.date(daysSince1970: milliseconds / 86_400_000)
        let time = milliseconds % 86_400_000
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(digits(time / 3_600_000, 2))"
            + ":\(digits(time / 60_000 % 60, 2)):\(digits(time / 1000 % 60, 2)).\(digits(time % 1000, 3))Z"
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
