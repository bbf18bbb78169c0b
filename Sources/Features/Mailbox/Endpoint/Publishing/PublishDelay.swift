import Encodings
import Relay

/// The time at which a text is to be published that is not to be published now (binwiederhier/ntfy,
/// docs/publish.md, "Scheduled delivery").
enum PublishDelay {
    /// The shortest delay, in milliseconds, as ntfy's.
    private static let shortest: Int64 = 10_000
    /// The longest delay, in milliseconds, as ntfy's.
    private static let longest: Int64 = 72 * 3_600_000

    /// Reads the time at which a text is due: `30m`, `1h30m`, `2 days`, or seconds since 1970. ntfy takes
    /// `10am` and `tomorrow` as well: a node has no time zone that its publishers know.
    ///
    /// - Returns: The time in milliseconds since 1970, as is `now`.
    static func due(_ text: String, at now: Int64) throws(MailboxFault) -> Int64 {
        guard let text = text.name(limit: 40) else { throw .badDelay }
        let due: Int64
        if let seconds = Int64(text), (0...9_999_999_999).contains(seconds) {
            due = seconds * 1000
        } else {
            let blank = UInt8(ascii: " ")
            let words = String(decoding: text.utf8.filter { $0 != blank }, as: UTF8.self)
            guard let delay = MailboxSince.milliseconds(words, unit) else { throw .badDelay }
            due = now + min(max(delay, 0), 2 * longest)
        }
        guard due >= now + shortest else { throw .shortDelay }
        guard due <= now + longest else { throw .longDelay }
        return due
    }

    private static func unit(_ name: Substring) -> Double? {
        switch name {
        case "s", "sec", "secs", "second", "seconds": 1000
        case "m", "min", "mins", "minute", "minutes": 60_000
        case "h", "hour", "hours": 3_600_000
        case "d", "day", "days": 86_400_000
        case _: nil
        }
    }
}
