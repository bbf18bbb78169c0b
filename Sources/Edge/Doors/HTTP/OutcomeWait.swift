import Clocks
import Reactor
import Relay

/// Waits for the gateway's verdict on what a request brought: answers once, with the end if it comes in time, else with
/// what is known then.
@EventLoop
package final class OutcomeWait {
    /// The id of what was stored, for the answer.
    package var id: NotificationID?
    private var answer: (@EventLoop (Receipt, NotificationID?) -> Void)?
    private let deadlines: OutcomeDeadlines
    fileprivate private(set) var isTimed = false
    fileprivate var hasEnded: Bool { answer == nil }

    package init(
        until deadlines: OutcomeDeadlines, answer: @escaping @EventLoop (Receipt, NotificationID?) -> Void
    ) {
        self.deadlines = deadlines
        self.answer = answer
    }

    /// Takes the dispatcher's receipts, one after the other.
    package func take(_ receipt: Receipt) {
        guard receipt == .stored else { return end(with: receipt) }
        // From here on the node is responsible, whatever the gateway says later.
        guard !isTimed, !hasEnded else { return }
        isTimed = true
        deadlines.add(self)
    }

    fileprivate func end(with receipt: Receipt) {
        guard let answer else { return }
        self.answer = nil
        if isTimed { deadlines.ended() }
        answer(receipt, id)
    }
}

/// Ends the waits of one door that last too long: all last equally long, so that they end in the order in which they
/// began and need one timer. Keeps them until then, also when the dispatcher has no ear for the end any more.
@EventLoop
package final class OutcomeDeadlines {
    /// The time that each wait may last.
    private var time: Duration
    private var waits: ArraySlice<(due: MonotonicTime, wait: OutcomeWait)> = []
    private var running = 0
    private let timer = Timer()

    package init(after time: Duration) {
        self.time = time
        timer.action = { [unowned self] in check() }
    }

    fileprivate func add(_ wait: OutcomeWait) {
        running += 1
        waits.append((EventLoop.now + time, wait))
        if !timer.isRunning { timer.start(after: time) }
    }

    /// Ends the waits soon, also those that are still to begin: who hands on to a successor keeps nobody waiting for a gateway.
    package func hurry(within limit: Duration = .seconds(1)) {
        time = min(time, limit)
        let due = EventLoop.now + time
        for index in waits.indices where waits[index].due > due { waits[index].due = due }
        if timer.isRunning { timer.start(after: time) }
    }

    /// Keeps the list as short as what waits; costs each a constant on average.
    fileprivate func ended() {
        running -= 1
        guard waits.count > 1024, waits.count > 4 * running else { return }
        waits = ArraySlice(waits.filter { !$0.wait.hasEnded })
    }

    private func check() {
        let now = EventLoop.now
        while let (due, wait) = waits.first, wait.hasEnded || due <= now {
            waits.removeFirst()
            wait.end(with: .stored)
        }
        guard let next = waits.first else {
            waits = []
            return
        }
        timer.start(after: next.due - now)
    }
}
