/// Totals of each of the last 1,440 minutes, from counters that only grow: read once a minute, and once more whenever
/// somebody looks.
///
/// Minutes are counted on the monotonic clock; one in which nobody read (the machine slept) is empty.
package struct History: Equatable, Sendable {
    /// Counters since the start of the process.
    package struct Totals: Equatable, Sendable {
        package var stored = 0
        package var delivered = 0
        package var expired = 0
        package var busy = 0
        /// Nanoseconds from submission to delivery, of all that were delivered together.
        package var deliveryTime: Int64 = 0
        /// Refused by us or by a gateway, and dead tokens, by reason.
        package var refused = WordCounts()

        package init() {}

        /// Returns the difference to earlier totals.
        func since(_ before: Totals) -> Totals {
            var result = Totals()
            result.stored = stored - before.stored
            result.delivered = delivered - before.delivered
            result.expired = expired - before.expired
            result.busy = busy - before.busy
            result.deliveryTime = deliveryTime &- before.deliveryTime
            for (word, count) in refused.counts where count > before.refused[word] {
                result.refused.add(word, count - before.refused[word])
            }
            return result
        }

        package mutating func add(_ other: Totals) {
            stored += other.stored
            delivered += other.delivered
            expired += other.expired
            busy += other.busy
            deliveryTime &+= other.deliveryTime
            refused.add(other.refused)
        }

        /// Nanoseconds of a delivery, on average; `nil`: there was none.
        package var meanDelivery: Int64? { delivered > 0 ? deliveryTime / Int64(delivered) : nil }
    }

    /// One minute that something happened in.
    package struct Minute: Equatable, Sendable {
        /// The number of minutes since then: 0 is the present minute.
        package var age: Int64
        package var totals: Totals
        /// The most notifications that waited within the minute.
        package var waiting: Int

        package init(age: Int64, totals: Totals, waiting: Int) {
            self.age = age
            self.totals = totals
            self.waiting = waiting
        }
    }

    package static let minutes = 1440

    /// The totals by minute, modulo ``minutes``.
    private var ring = [Totals?](repeating: nil, count: minutes)
    private var waiting = [Int](repeating: 0, count: minutes)
    private var last = Totals()
    private var present: Int64
    /// The first minute that it tells of.
    private var first: Int64

    /// Makes a history.
    ///
    /// - Parameters:
    ///   - minute: The present minute, of a clock that only goes on.
    ///   - kept: The minutes that a process before this one kept.
    ///   - covered: How many minutes that process knew of.
    package init(at minute: Int64, kept: [Minute] = [], covered: Int64 = 0) {
        present = minute
        first = minute - min(max(0, covered), Int64(History.minutes))
        for kept in kept where (0..<Int64(History.minutes)).contains(kept.age) {
            let index = History.index(minute - kept.age)
            ring[index, default: Totals()].add(kept.totals)
            waiting[index] = max(waiting[index], kept.waiting)
            first = min(first, minute - kept.age)
        }
    }

    /// Minutes that it tells of, up to ``minutes``.
    package var covered: Int64 { min(Int64(History.minutes), present - first) }

    /// The minutes with which a process after this one can go on.
    package var kept: [Minute] {
        (0..<Int64(History.minutes)).compactMap { age in
            let index = History.index(present - age)
            guard ring[index] != nil || waiting[index] > 0 else { return nil }
            return Minute(age: age, totals: ring[index] ?? Totals(), waiting: waiting[index])
        }
    }

    /// Takes the counters as they are in this minute.
    ///
    /// - Parameter count: How many wait now.
    package mutating func read(_ totals: Totals, waiting count: Int = 0, at minute: Int64) {
        let minute = max(minute, present)
        let firstKept = minute - Int64(History.minutes) + 1
        for passed in max(present, firstKept - 1)..<minute {
            ring[History.index(passed + 1)] = nil
            waiting[History.index(passed + 1)] = 0
        }
        present = minute
        waiting[History.index(minute)] = max(waiting[History.index(minute)], count)
        let news = totals.since(last)
        last = totals
        guard news != Totals() else { return }
        ring[History.index(minute), default: Totals()].add(news)
    }

    /// Returns the sums of `count` spans of `length` minutes, oldest
    /// first. The last span ends with the present minute.
    package func spans(of length: Int, count: Int) -> [Totals] {
        minutes(of: length, count: count).map { minutes in
            minutes.reduce(into: Totals()) { if let inside = ring[$1] { $0.add(inside) } }
        }
    }

    /// Returns the most that waited in each of these spans.
    package func mostWaiting(of length: Int, count: Int) -> [Int] {
        minutes(of: length, count: count).map { $0.reduce(0) { max($0, waiting[$1]) } }
    }

    /// Returns the sum of the last minutes.
    package func sum(ofLast count: Int) -> Totals { spans(of: count, count: 1)[0] }

    /// Returns the places of each span's minutes.
    private func minutes(of length: Int, count: Int) -> [[Int]] {
        precondition(length * count <= History.minutes, "\(count) spans of \(length) minutes")
        return (0..<count).map { span in
            (0..<length).map { History.index(present - Int64((count - span) * length - 1 - $0)) }
        }
    }

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
