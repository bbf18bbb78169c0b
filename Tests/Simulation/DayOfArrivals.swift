import Vectors

/// A day of notifications from many users at one or several tors, each of which takes one new circuit at a time.
///
/// Three times as many come in the busiest hour as in the mean one, with peaks in the morning and in the evening. Six times a
/// day a market moves, and three in a thousand of a day's notifications come within a minute on top of that. In each second
/// as many come as chance has it. What tor can't take waits in front of it.
struct DayOfArrivals {
    let users: Int
    let tors: Int
    /// Microseconds of tor's one thread for a notification with its circuit.
    let cost: Int

    static let perUser = 10
    /// Their mean is 1.
    static let hours: [Double] = [
        0.2, 0.1, 0.1, 0.1, 0.1, 0.2, 0.5, 1.1, 1.8, 1.4, 1.1, 1.0, 1.2, 1.1, 1.0, 0.9, 1.0, 1.3, 1.9, 2.6,
        3.0,
        1.5, 0.6, 0.2,
    ]
    /// Seconds since midnight.
    static let bursts = [3, 8, 12, 18, 19, 20].map { $0 * 3600 + 1800 }
    static let burst = 0.003

    struct Figures {
        var arrived = 0
        /// A second, in the mean of the busiest hour and at most.
        var busiestHour = 0.0
        var busiestSecond = 0
        /// Seconds.
        var longestWait = 0.0
        /// Of all that arrived.
        var waitOverASecond = 0.0
    }

    func run(seed: UInt64 = 1) -> Figures {
        var random = SeededRandom(state: seed)
        var figures = Figures()
        let daily = Double(users * DayOfArrivals.perUser)
        /// Seconds of work in front of each tor.
        var backlog = 0.0
        var late = 0
        for (hour, weight) in DayOfArrivals.hours.enumerated() {
            var inHour = 0
            for second in hour * 3600..<(hour + 1) * 3600 {
                let isBurst = DayOfArrivals.bursts.contains { second >= $0 && second < $0 + 60 }
                let expected = daily * (weight / 86_400 + (isBurst ? DayOfArrivals.burst / 60 : 0))
                let count = DayOfArrivals.count(around: expected, &random)
                backlog += Double(count * cost) / 1e6 / Double(tors)
                if backlog > 1 { late += count }
                backlog = max(0, backlog - 1)
                figures.longestWait = max(figures.longestWait, backlog)
                figures.busiestSecond = max(figures.busiestSecond, count)
                inHour += count
            }
            figures.busiestHour = max(figures.busiestHour, Double(inHour) / 3600)
            figures.arrived += inHour
        }
        figures.waitOverASecond = Double(late) / Double(max(1, figures.arrived))
        return figures
    }

    /// About as often as Poisson's law has it, where it is more than a few: twelve throws of dice make a bell.
    private static func count(around expected: Double, _ random: inout SeededRandom) -> Int {
        let bell = (0..<12).reduce(-6.0) { sum, _ in sum + Double(random.next() >> 11) / Double(1 << 53) }
        let rest = Double(random.next() >> 11) / Double(1 << 53)
        return max(0, Int((expected + expected.squareRoot() * bell + rest).rounded(.down)))
    }
}
