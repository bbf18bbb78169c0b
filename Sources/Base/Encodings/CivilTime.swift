/// Days of the Gregorian calendar, counting years from March so that a leap day comes last.
package enum CivilTime {
    /// Returns the seconds since 1970 in UTC; `nil` outside of the years 1970 to 9999 and for numbers that no
    /// time has. A leap second is the next minute's first.
    package static func seconds(
        year: Int64, month: Int64, day: Int64, hour: Int64 = 0, minute: Int64 = 0, second: Int64 = 0
    ) -> Int64? {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
        else { return nil }
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let days = year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - daysBefore1970
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Returns the date of a day that is 1 March of the year 0 or later.
    package static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = days + daysBefore1970
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

    /// The number of days before 1970, from 1 March of the year 0.
    private static let daysBefore1970: Int64 = 719_468
}
