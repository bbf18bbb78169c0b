import Doors
import Node
import Reactor

/// The skeleton of a feature: an endpoint for other senders than Bisq's, as the settings want it, `doors.skeleton`.
package struct SkeletonFeature: Feature {
    package static let name = "skeleton"

    package var place = Settings.Door()
    package var door = SkeletonDoorSettings()

    package var listen: [DoorPlace] { place.listen }

    package init(_ section: SettingsReader.Section, of settings: Settings) {
        place.listen = settings.places(section)
        section.app("app", &door.app, of: .android)
        section.seconds("outcome_deadline", &door.outcomeDeadline, in: 0...60)
        // Requests and bytes that every such endpoint is bounded by.
        section.limits(of: &place)
    }

    package func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        guard place.isOn else { return nil }
        let door = SkeletonDoor(settings: door, dispatcher: site.dispatcher)
        return OpenedDoor(placed: DoorListeners.PlacedDoor(door, named: Self.name, place))
    }
}
