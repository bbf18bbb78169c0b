import Figures

/// The text of the file that carries history and timeline over a restart. Its lines hold nothing but counts
/// and what the status page shows anyway.
///
///     onionbell history 1
///     covered UNIX_MINUTE MINUTES
///     m UNIX_MINUTE stored delivered expired busy delivery_ns waiting [REASON=COUNT ...]
///     w QUARTER_HOUR LEVEL
///     e UNIX_MILLISECONDS LEVEL CHECK WORDS ...
package enum PastText {
    /// The most bytes of the file. A day in which each minute has ten reasons takes a third of them.
    package static let limit = 1 << 20
    private static let head = "onionbell history 1"

    /// Writes the history and the timeline as lines of text. `now` is in
    /// milliseconds since 1970, as of `history`'s present minute.
    package static func text(_ history: History, _ timeline: Timeline, at now: Int64) -> [UInt8] {
        let minute = now / 60_000
        var text = "\(head)\ncovered \(minute) \(history.covered)\n"
        for kept in history.kept {
            let totals = kept.totals
            text +=
                "m \(minute - kept.age) \(totals.stored) \(totals.delivered) \(totals.expired) \(totals.busy) "
            text += "\(totals.deliveryTime) \(kept.waiting)"
            for (word, count) in totals.refused.sorted where isWord(word) { text += " \(word)=\(count)" }
            text += "\n"
        }
        for (slot, level) in timeline.worst.sorted(by: { $0.key < $1.key }) {
            text += "w \(slot) \(level.rawValue)\n"
        }
        for event in timeline.events where isWord(event.name) {
            let words = event.words.unicodeScalars.map { $0.value < 0x20 ? " " : String($0) }.joined()
            text += "e \(event.at) \(event.level.rawValue) \(event.name) \(words.prefix(400))\n"
        }
        return Array(text.utf8)
    }

    /// Reads the bytes of such a file, also of one that was cut. Lines that can't be read are left out. A
    /// file of another kind, or one above ``limit``, gives an empty past.
    ///
    /// - Parameter minute: The present minute of the history's clock.
    package static func read(_ bytes: [UInt8], at now: Int64, minute: Int64) -> (History, Timeline) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { line in
            line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        }
        guard lines.first?.joined(separator: " ") == head, bytes.count <= limit else {
            return (History(at: minute), Timeline())
        }
        let present = now / 60_000
        var covered: Int64 = 0
        var minutes: [History.Minute] = []
        var worst: [Int64: Check.Level] = [:]
        var events: [Timeline.Event] = []
        for words in lines.dropFirst() {
            guard words.count > 2, let time = Int64(words[1]) else { continue }
            switch words[0] {
            case "covered" where time <= present: covered = (Int64(words[2]) ?? 0) + present - time
            case "m" where (0..<Int64(History.minutes)).contains(present - time):
                if let (totals, waiting) = totals(words.dropFirst(2)) {
                    minutes.append(.init(age: present - time, totals: totals, waiting: waiting))
                }
            case "w": worst[time] = Check.Level(rawValue: words[2])
            case "e" where time <= now && words.count > 3:
                guard let level = Check.Level(rawValue: words[2]) else { continue }
                events.append(
                    .init(at: time, level: level, name: words[3], words: words[4...].joined(separator: " ")))
            case _: break
            }
        }
        return (
            History(at: minute, kept: minutes, covered: covered), Timeline(events: events, worst: worst)
        )
    }

    private static func totals(_ words: ArraySlice<String>) -> (History.Totals, waiting: Int)? {
        let numbers = words.prefix(6).compactMap { Int64($0) }
        guard numbers.count == 6, numbers.allSatisfy({ (0...Int64(1) << 53).contains($0) }) else {
            return nil
        }
        var totals = History.Totals()
        (totals.stored, totals.delivered) = (Int(numbers[0]), Int(numbers[1]))
        (totals.expired, totals.busy) = (Int(numbers[2]), Int(numbers[3]))
        totals.deliveryTime = numbers[4]
        for word in words.dropFirst(6) {
            let parts = word.split(separator: "=")
            guard parts.count == 2, let count = Int(parts[1]), (1...1 << 53).contains(count) else { continue }
            totals.refused.add(String(parts[0]), count)
        }
        return (totals, Int(numbers[5]))
    }

    /// Whether a word, such as a reason from outside, can stand in the file: up to 300 printable characters,
    /// no blank and no `=`.
    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 300
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "=") }
    }
}
