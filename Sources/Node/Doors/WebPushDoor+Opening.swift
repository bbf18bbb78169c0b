import Doors
import Reactor

extension WebPushDoor: ConfiguredDoor {
    nonisolated static var listenKey: String { "doors.web_push.listen" }

    nonisolated static func places(in settings: Settings) -> [DoorPlace] {
        settings.doors.webPush.place.listen
    }

    static func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        let settings = site.settings.doors.webPush
        guard settings.place.isOn else { return nil }
        let door = WebPushDoor(
            settings: settings.settings, dispatcher: site.dispatcher,
            isInDoubt: { [lanes = site.lanes] in lanes.isInDoubt($0) })
        return OpenedDoor(placed: DoorListeners.PlacedDoor(door, named: "web_push", settings.place))
    }
}
