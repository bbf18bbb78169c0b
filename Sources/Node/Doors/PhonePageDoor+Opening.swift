import Doors
import Reactor

extension PhonePageDoor: ConfiguredDoor {
    nonisolated static var listenKey: String { "doors.phone_page.listen" }

    nonisolated static func places(in settings: Settings) -> [DoorPlace] {
        settings.doors.phonePage.place.listen
    }

    static func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        let settings = site.settings.doors.phonePage
        guard settings.place.isOn else { return nil }
        let key = try state.vapidKey().publicText
        do throws(PhonePageFiles.Fault) {
            let door = PhonePageDoor(try PhonePageFiles.page(for: key))
            return OpenedDoor(placed: DoorListeners.PlacedDoor(door, named: "phone_page", settings.place))
        } catch {
            throw .unavailable("doors.phone_page: \(error)")
        }
    }
}
