import Encodings
import Reactor

/// `Date` as servers write it (RFC 9110, section 6.6.1).
enum DateField {
    static func text(_ seconds: Int64) -> String {
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let days = seconds / 86_400
        let day = CivilTime.date(daysSince1970: days)
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(days % 7)]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = months[Int(day.month) - 1]
        let time = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map(two).joined(separator: ":")
        return "\(weekday), \(two(day.day)) \(month) \(day.year) \(time) GMT"
    }

    @EventLoop
    static var now: String { text(EventLoop.unixMilliseconds / 1000) }
}
