import Dispatching
import Doors
import Reactor
import Relay

/// The endpoints that are there only if the settings name a place for them.
extension RelayNode {
    func webPush(_ dispatcher: Dispatcher) -> DoorListeners.PlacedDoor? {
        guard settings.doors.webPush.door.isOn else { return nil }
        let door = WebPushDoor(
            settings: settings.doors.webPush.settings, dispatcher: dispatcher,
            isInDoubt: { [unowned self] in isInDoubt($0) })
        return DoorListeners.PlacedDoor(door, named: "web_push", settings.doors.webPush.door)
    }

    /// Whether what a lane's gateway says of device tokens may be the fault of the settings.
    func isInDoubt(_ lane: LaneID) -> Bool {
        lanes.first { $0.id == lane }?.gateway.figures.isInDoubt ?? true
    }

    func phonePage() throws(NodeError) -> DoorListeners.PlacedDoor? {
        guard settings.doors.phonePage.door.isOn else { return nil }
        let key = try state.vapidKey().publicText
        do throws(PhonePageFiles.Fault) {
            let door = PhonePageDoor(try PhonePageFiles.page(for: key))
            return DoorListeners.PlacedDoor(door, named: "phone_page", settings.doors.phonePage.door)
        } catch {
            throw .unavailable("doors.phone_page: \(error)")
        }
    }

    var mailboxDoor: DoorListeners.PlacedDoor? {
        let places = settings.doors.mailbox.listen
        guard let mailboxes, !places.isEmpty else { return nil }
        return DoorListeners.PlacedDoor(mailboxes.door, places: places, body: MailboxDoor.mostBody)
    }
}
