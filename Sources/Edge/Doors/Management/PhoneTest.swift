import Dispatching
import Reactor
import Relay

/// Rings a phone of the phone book for its owner, and says what became of it.
@EventLoop
package final class PhoneTest {
    /// `delivered`, with a reason where there is one.
    package struct End: Sendable {
        package let outcome: String
        package let reason: String?
    }

    private let dispatcher: Dispatcher
    private let deadlines = OutcomeDeadlines(after: PhoneTest.patience)
    private let counter: DoorCounter

    /// The time for which the test waits. The caller waits a little longer.
    package nonisolated static let patience: Duration = .seconds(60)

    package init(dispatcher: Dispatcher) {
        self.dispatcher = dispatcher
        counter = dispatcher.door("phone_test")
    }

    /// Answers soon who waits: the node stops.
    package func hurry() { deadlines.hurry() }

    package func ring(
        _ phone: PhoneBook.Phone, message: String, then respond: @escaping @EventLoop (End) -> Void
    ) {
        let submission = Submission(
            platform: phone.platform, app: phone.app, deviceToken: phone.deviceToken.text, message: message,
            isUrgent: true, hasSound: true, isMutableContent: true, isContentAvailable: true)
        let verdict = OutcomeWait(until: deadlines) { [dispatcher] receipt, _ in
            respond(End(receipt, lastTrouble: dispatcher.lastTrouble(of: submission)))
        }
        // Whether the phone of a mailbox fetches it is what is tested.
        dispatcher.submit(submission, from: counter, awaitsOutcome: true) {
            if $0 != .kept { verdict.take($0) }
        }
    }
}

extension PhoneTest.End {
    fileprivate init(_ receipt: Receipt, lastTrouble: @autoclosure () -> String?) {
        (outcome, reason) =
            switch receipt {
            case .stored: ("stored", lastTrouble())
            case .kept: ("stored", nil)
            case .busy: ("busy", nil)
            case .held(let reason): ("held", reason)
            case .ended(let ending): (ending.word, ending.reason?.code)
            }
    }
}
