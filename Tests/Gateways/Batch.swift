import Logging
import Outbound
import Reactor
import Relay

@testable import Gateways

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

extension Gateway {
    /// Sends one notification when there is room for it.
    @EventLoop
    func deliver(_ notification: Notification) async -> Outcome {
        await deliverAll([notification], again: false)[0]
    }

    @EventLoop
    func look() async {
        await withCheckedContinuation { end in look { end.resume() } }
    }

    /// Sends all, `window` at once at most, and again what came back unharmed or unclear.
    @EventLoop
    func deliverAll(_ notifications: [Notification], window: Int = .max, again: Bool = true) async
        -> [Outcome]
    {
        await withCheckedContinuation { continuation in
            Batch(notifications, window: window, again: again, over: self) {
                continuation.resume(returning: $0)
            }.pump()
        }
    }
}

@EventLoop
private final class Batch {
    private let notifications: [Notification]
    private let window: Int
    private let again: Bool
    private let gateway: any Gateway
    private let done: ([Outcome]) -> Void
    private var waiting: [Int]
    private var outcomes: [Outcome?]
    private var left: Int
    private var inFlight = 0

    init(
        _ notifications: [Notification], window: Int, again: Bool, over gateway: any Gateway,
        done: @escaping ([Outcome]) -> Void
    ) {
        self.notifications = notifications
        self.window = window
        self.again = again
        self.gateway = gateway
        self.done = done
        waiting = notifications.indices.reversed()
        outcomes = Array(repeating: nil, count: notifications.count)
        left = notifications.count
        gateway.onCapacity = { [self] in pump() }
    }

    func pump() {
        if gateway.capacity == 0 { gateway.noteBacklog() }
        while inFlight < window, !waiting.isEmpty, gateway.capacity > 0 || gateway.fault != nil {
            let index = waiting.removeLast()
            inFlight += 1
            gateway.send(notifications[index]) { [self] in ended(index, $0) }
        }
    }

    private func ended(_ index: Int, _ outcome: Outcome) {
        inFlight -= 1
        if again, case .deferred(let deferral) = outcome, deferral.retryAfter == nil {
            waiting.append(index)
        } else {
            outcomes[index] = outcome
            left -= 1
        }
        guard left == 0 else { return pump() }
        gateway.onCapacity = nil
        done(outcomes.compactMap(\.self))
    }
}
