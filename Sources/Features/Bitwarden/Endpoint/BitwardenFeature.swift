import Doors
import Node
import Persistence
import PushEndpoints
import Reactor
import Relay

/// The endpoint for self-hosted Bitwarden servers, as the settings want it: `doors.bitwarden`.
package struct BitwardenFeature: Feature {
    package static let name = "bitwarden"
    package static var tables: [any DoorTables.Type] { [InstallationTables.self, BitwardenTables.self] }

    package var place = Settings.Door(body: 131_072)
    package var door = BitwardenDoorSettings()

    package var listen: [DoorPlace] { place.listen }

    package init(_ section: SettingsReader.Section, of settings: Settings) {
        place.listen = settings.places(section)
        section.apps(&door.apps, isOn: place.isOn)
        section.flag("sandbox", &door.apps.isSandbox)
        section.integer("devices_per_installation", &door.devices, in: 1...10_000_000)
        section.limits(of: &place)
    }

    package func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        guard place.isOn else { return nil }
        let key = try state.digestKey()
        let door: BitwardenDoor
        do throws(OutboxError) {
            door = BitwardenDoor(
                settings: self.door, installations: try await StoredInstallations(in: site.outbox),
                devices: try await StoredBitwardenDevices(in: site.outbox), dispatcher: site.dispatcher,
                key: key, log: site.log)
        } catch {
            throw .unavailable("the endpoint for Bitwarden servers: \(error)")
        }
        return OpenedDoor(placed: DoorListeners.PlacedDoor(door, named: Self.name, place))
    }
}
