/// Times of the wall clock as text.
package enum UTCTime {
    /// `2026-03-01T10:15:30.123Z` (RFC 3339) for milliseconds since 1970; `nil` outside of the years 1970 to 9999.
    package static func text(_ milliseconds: Int64) -> String? {
        guard (0..<253_402_300_800_000).contains(milliseconds) else { return nil }
        let (year, month, day) = date(daysSince1970: milliseconds / 86_400_000)
        let time = milliseconds % 86_400_000
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(digits(time / 3_600_000, 2))"
            + ":\(digits(time / 60_000 % 60, 2)):\(digits(time / 1000 % 60, 2)).\(digits(time % 1000, 3))Z"
    }

    /// In the Gregorian calendar, counting years from March so that a leap day comes last.
    private static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // From 1 March of the year 0.
        let days = days + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNextYear = month >= 10
        return (
            400 * era + yearOfEra + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
