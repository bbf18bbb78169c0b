import Clocks
import Reactor
import Relay

extension MailboxDoor {
    /// The time for which a test is worth fetching.
    private static let lifeOfTest: Duration = .seconds(3600)

    /// Puts a test of the owner's into a mailbox, as a notification of Bisq's: a phone that shows bells rings.
    ///
    /// - Parameter text: The text that readers get who open messages themselves.
    /// - Returns: `nil`: there is no mailbox of this name.
    package func ring(
        _ name: String, showing text: String
    ) async throws(OutboxError) -> MailboxPutResult? {
        guard let address = directory.mailbox(named: name)?.address else { return nil }
        let now = UnixTime(milliseconds: EventLoop.unixMilliseconds)
        let test = MailboxMessage(
            id: MailboxDoor.newID(), acceptedAt: now, expiresAt: now + MailboxDoor.lifeOfTest, isUrgent: true,
            text: text)
        return try await put(test, atAddress: address, keeping: nil)
    }
}
