import Doors
import Persistence
import Reactor
import Relay

extension BitwardenDoor: ConfiguredDoor {
    nonisolated static var listenKey: String { "doors.bitwarden.listen" }

    nonisolated static func places(in settings: Node.Settings) -> [DoorPlace] {
        settings.bitwarden.place.listen
    }

    static func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        let settings = site.settings.bitwarden
        guard settings.place.isOn else { return nil }
        let key = try state.digestKey()
        let door: BitwardenDoor
        do throws(OutboxError) {
            door = BitwardenDoor(
                settings: settings.door, installations: try await StoredInstallations(in: site.outbox),
                devices: try await StoredBitwardenDevices(in: site.outbox), dispatcher: site.dispatcher,
                key: key, log: site.log)
        } catch {
            throw .unavailable("the endpoint for Bitwarden servers: \(error)")
        }
        return OpenedDoor(placed: DoorListeners.PlacedDoor(door, named: "bitwarden", settings.place))
    }
}
