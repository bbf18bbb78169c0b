/// What happened in each of the last 1,440 minutes, from counters that only grow: read once a minute, and once more
/// whenever somebody looks.
///
/// Minutes are counted on the monotonic clock; one in which nobody read (the machine slept) is empty.
package struct History: Equatable, Sendable {
    /// Counters since the start of the process.
    package struct Totals: Equatable, Sendable {
        package var stored = 0
        package var delivered = 0
        package var expired = 0
        package var busy = 0
        /// Refused by us or by a gateway, and dead tokens, by reason.
        package var refused = WordCounts()

        package init() {}

        /// What has come since.
        func since(_ before: Totals) -> Totals {
            var result = Totals()
            result.stored = stored - before.stored
            result.delivered = delivered - before.delivered
            result.expired = expired - before.expired
            result.busy = busy - before.busy
            for (word, count) in refused.counts where count > before.refused[word] {
                result.refused.add(word, count - before.refused[word])
            }
            return result
        }

        mutating func add(_ other: Totals) {
            stored += other.stored
            delivered += other.delivered
            expired += other.expired
            busy += other.busy
            refused.add(other.refused)
        }
    }

    package static let minutes = 1440

    /// By minute, modulo ``minutes``.
    private var ring = [Totals?](repeating: nil, count: minutes)
    private var last = Totals()
    private var present: Int64

    /// - Parameter minute: Of a clock that only goes on.
    package init(at minute: Int64) { present = minute }

    /// Takes the counters as they are in this minute.
    package mutating func read(_ totals: Totals, at minute: Int64) {
        let minute = max(minute, present)
        let firstKept = minute - Int64(History.minutes) + 1
        for passed in max(present, firstKept - 1)..<minute { ring[History.index(passed + 1)] = nil }
        present = minute
        let news = totals.since(last)
        last = totals
        guard news != Totals() else { return }
        ring[History.index(minute), default: Totals()].add(news)
    }

    /// The last minutes in spans of so many each, oldest first; the last span ends with the present minute.
    package func spans(of length: Int, count: Int) -> [Totals] {
        precondition(length * count <= History.minutes, "\(count) spans of \(length) minutes")
        return (0..<count).map { span in
            var totals = Totals()
            for offset in 0..<length {
                let minute = present - Int64((count - span) * length - 1 - offset)
                if let inside = ring[History.index(minute)] { totals.add(inside) }
            }
            return totals
        }
    }

    /// All of the last minutes together.
    package func sum(ofLast count: Int) -> Totals { spans(of: count, count: 1)[0] }

    private static func index(_ minute: Int64) -> Int {
        let index = Int(minute % Int64(minutes))
        return index < 0 ? index + minutes : index
    }
}

extension Array {
    fileprivate subscript<Value>(index: Int, default value: Value) -> Value where Element == Value? {
        get { self[index] ?? value }
        set { self[index] = newValue }
    }
}
