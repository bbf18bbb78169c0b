import Dispatching
import Node
import Reactor
import Relay

/// The open mailboxes, for calls.
@EventLoop
final class MailboxDesk {
    private let door: MailboxDoor
    private weak var dispatcher: Dispatcher?
    private let lane: LaneID?

    init(_ door: MailboxDoor, _ dispatcher: Dispatcher, lane: LaneID?) {
        (self.door, self.dispatcher, self.lane) = (door, dispatcher, lane)
    }

    /// Puts a test into the mailbox of a name.
    ///
    /// - Returns: `nil`: there is none of this name.
    func ring(_ mailbox: String) async throws(OutboxError) -> MailboxPutResult? {
        let result = try await door.ring(mailbox, showing: TestSeal.ofNobody)
        if case .stored? = result, let lane { dispatcher?.noteTest(ofMailbox: mailbox, in: lane) }
        return result
    }
}
