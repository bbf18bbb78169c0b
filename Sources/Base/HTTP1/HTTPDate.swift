import Encodings

/// Times as HTTP writes them (RFC 9110, section 5.6.7): the one form of today, and the two old ones that every
/// reader must take.
package enum HTTPDate {
    /// Reads a date, and returns its seconds since 1970; `nil` for what is no date.
    ///
    /// - Parameter now: seconds since 1970; tells the century of a year with two digits.
    package static func seconds(_ text: String, now: Int64) -> Int64? {
        guard let words = text.name()?.split(whereSeparator: { " ,-".contains($0) }).map(String.init) else {
            return nil
        }
        // Sun, 06 Nov 1994 08:49:37 GMT | Sunday, 06-Nov-94 08:49:37 GMT | Sun Nov  6 08:49:37 1994
        if words.count == 6, words[5] == "GMT" {
            return seconds(day: words[1], month: words[2], year: words[3], time: words[4], now: now)
        }
        guard words.count == 5 else { return nil }
        return seconds(day: words[2], month: words[1], year: words[4], time: words[3], now: now)
    }

    private static func seconds(day: String, month: String, year: String, time: String, now: Int64) -> Int64?
    {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map {
            number(String($0), digits: 2...2)
        }
        guard let month = months.firstIndex(of: month), let day = number(day, digits: 1...2),
            (1...31).contains(day),
            var year = number(year, digits: 2...4), clock.count == 3, let hour = clock[0], hour < 24,
            let minute = clock[1], minute < 60, let second = clock[2], second <= 60
        else { return nil }
        if year < 100 {
            // The century that brings it nearest, at most 50 years ahead.
            let present = 1970 + now / 31_556_952
            year += present - present % 100
            if year > present + 50 { year -= 100 }
        }
        guard year >= 1970 else { return nil }
        return CivilTime.seconds(
            year: year, month: Int64(month) + 1, day: day, hour: hour, minute: minute, second: second)
    }

    private static func number(_ text: String, digits: ClosedRange<Int>) -> Int64? {
        digits.contains(text.utf8.count) && text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
    }
}

/// A server's wish, `Retry-After: 120` or `Retry-After: <date>` (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// Returns how long to wait from now, at least 0 and at most a day; `nil` for what can't be read.
    ///
    /// - Parameters:
    ///   - date: `Date` of the same answer: when the server wrote it, by its own clock. A date is judged by
    ///     that one, and by ours only where there is none: either may be wrong, and the server meant a span
    ///     of time.
    ///   - now: seconds since 1970, by our clock.
    package static func duration(_ text: String, date: String? = nil, now: Int64) -> Duration? {
        if !text.isEmpty, text.utf8.allSatisfy(\.isDigit) {
            return .seconds(min(Int64(text) ?? .max, 86_400))
        }
        guard let end = HTTPDate.seconds(text, now: now) else { return nil }
        let written = date.flatMap { HTTPDate.seconds($0, now: now) } ?? now
        return .seconds(min(max(end - written, 0), 86_400))
    }
}
