import Doors
import Node
import Reactor

/// Web Push from application servers, as the settings want it: `doors.web_push`.
package struct WebPushFeature: Feature {
    package static let name = "web_push"

    package var place = Settings.Door()
    package var settings = WebPushSettings()

    package var listen: [DoorPlace] { place.listen }

    package init(_ section: SettingsReader.Section, of settings: Settings) {
        place.listen = settings.places(section)
        section.app("ios", &self.settings.relay.ios, of: .ios)
        section.app("android", &self.settings.relay.android, of: .android)
        section.app("push_ios", &self.settings.pushApp, of: .ios)
        section.seconds("outcome_deadline", &self.settings.outcomeDeadline, in: 0...8)
        section.flag("ids", &self.settings.givesIDs)
        section.limits(of: &place)
    }

    package func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        guard place.isOn else { return nil }
        let door = WebPushDoor(
            settings: settings, dispatcher: site.dispatcher,
            isInDoubt: { [lanes = site.lanes] in lanes.isInDoubt($0) })
        return OpenedDoor(placed: DoorListeners.PlacedDoor(door, named: Self.name, place))
    }
}
