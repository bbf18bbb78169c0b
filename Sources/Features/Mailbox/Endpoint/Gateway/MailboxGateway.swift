import Clocks
import Figures
import Outbound
import Reactor
import Relay

/// The way into the mailboxes of this node: what lies there has left the outbox, and is delivered when its phone says that
/// it has it.
@EventLoop
package final class MailboxGateway: Gateway {
    /// Puts a notification into its mailbox, once however often it is called. It is durable there when this returns.
    package typealias Keep = @EventLoop (Notification) async throws(OutboxError) -> MailboxPutResult

    private var keep: Keep?
    private var counted = GatewayFigures()
    package var onCapacity: (@EventLoop () -> Void)?

    /// The most notifications at once: they go into the store's next commit together.
    private static let most = 256

    /// Opens the mailboxes: until then nothing is taken.
    package func use(_ keep: @escaping Keep) {
        self.keep = keep
        onCapacity?()
    }

    package func start() {}
    package func stop() { keep = nil }
    package func noteBacklog() {}
    package var fault: String? { nil }
    package var capacity: Int { keep == nil ? 0 : max(0, MailboxGateway.most - counted.inFlight) }

    /// There is no connection that could fail.
    package var figures: GatewayFigures {
        var figures = counted
        figures.isResting = true
        return figures
    }

    package func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        counted.inFlight += 1
        counted.requests += 1
        let keep = keep
        let start = EventLoop.now
        Task {
            let outcome = await outcome(of: notification, by: keep)
            let wasFull = capacity == 0
            counted.inFlight -= 1
            counted.answerTime.add((EventLoop.now - start).nanoseconds)
            if outcome == .kept { counted.hasAccepted = true }
            completion(outcome)
            if wasFull { onCapacity?() }
        }
    }

    /// Returns the outcome of a notification. It does not matter that a phone is away: its mailbox takes what
    /// comes.
    private func outcome(of notification: Notification, by keep: Keep?) async -> Outcome {
        do throws(OutboxError) {
            switch try await keep?(notification) {
            case .stored: return .kept
            case .full: return .refused(reason: Reason.mailboxFull, kind: .full)
            case .noSuchMailbox where notification.deviceToken == MailboxAddress.nobody:
                return .refused(reason: Reason.noSuchMailbox)
            case .noSuchMailbox: return .tokenDead(reason: Reason.noSuchMailbox, since: nil)
            case nil: return .deferred(Deferral(.stopped, scope: .device, isUnharmed: true))
            }
        } catch {
            return .deferred(Deferral(.storeFailed, scope: .host, isUnharmed: true))
        }
    }
}
