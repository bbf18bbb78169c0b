import Reactor
import Relay

/// The requests that all strangers at a door may make together, by however many circuits. Over it they stand in a row;
/// each has one request answered when its turn comes, and a stranger just answered stands behind all others.
///
/// The first request of each circuit comes from a share of its own, so that nobody new stands behind those who ask on and
/// on. The row is no longer than the door has places.
@EventLoop
final class StrangersShare {
    private let rate: Rate
    private var use = Rate.Use()
    private let firsts: Rate?
    private var usedByFirsts = Rate.Use()
    private var row: [HTTPConnection] = []
    private var timer: Timer?

    /// Makes the share.
    ///
    /// - Parameter firsts: The rate of first requests; `nil`: they are as all others.
    init(_ rate: Rate, firsts: Rate? = nil) { (self.rate, self.firsts) = (rate, firsts) }

    var waiting: Int { row.count }

    /// Takes a turn for one more whole request, which is then counted. If there is none, the stranger stands in the row,
    /// and hears ``HTTPConnection/turnHasCome()``.
    ///
    /// - Returns: Whether the request may be answered now.
    func takeTurn(for stranger: HTTPConnection, of circuit: Circuit) -> Bool {
        if let firsts, circuit.takesFirst(), firsts.take(from: &usedByFirsts, at: EventLoop.now) == .zero {
            return true
        }
        if row.isEmpty {
            let delay = rate.take(from: &use, at: EventLoop.now)
            if delay == .zero { return true }
            wait(for: delay)
        }
        row.append(stranger)
        return false
    }

    func leave(_ stranger: HTTPConnection) {
        row.removeAll { $0 === stranger }
        if row.isEmpty { timer?.stop() }
    }

    private func wait(for delay: Duration) {
        let timer = timer ?? Timer { [unowned self] in next() }
        self.timer = timer
        timer.start(after: delay)
    }

    private func next() {
        // Later ones wait for the next time: what is due in one turn of the loop is bounded by the rate.
        let now = EventLoop.now
        while let first = row.first {
            let delay = rate.take(from: &use, at: now)
            guard delay == .zero else { return wait(for: delay) }
            row.removeFirst()
            first.turnHasCome()
        }
    }
}
