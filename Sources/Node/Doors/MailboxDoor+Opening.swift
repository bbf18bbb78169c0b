import Doors
import Reactor

extension MailboxDoor: ConfiguredDoor {
    nonisolated static func places(in settings: Node.Settings) -> [DoorPlace] {
        settings.doors.mailbox.listen
    }

    /// Returns the door that the gateway of mailboxes keeps notifications with: it is there before it has a place.
    static func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        let places = site.settings.doors.mailbox.listen
        guard let door = site.mailboxes, !places.isEmpty else { return nil }
        return OpenedDoor(
            placed: DoorListeners.PlacedDoor(door, places: places, body: MailboxDoor.mostBody))
    }
}
