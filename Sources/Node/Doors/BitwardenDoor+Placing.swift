import Crypto
import Dispatching
import Doors
import Logging
import Persistence
import Reactor
import Relay

extension DoorListeners.PlacedDoor {
    /// The door for Bitwarden servers; `nil`: it is off.
    @EventLoop
    init?(
        _ settings: Settings.Bitwarden, state: borrowing StateDirectory, outbox: SQLiteOutbox?,
        _ dispatcher: Dispatcher, log: Logger
    ) async throws(NodeError) {
        guard settings.place.isOn, let outbox else { return nil }
        let key = try state.digestKey()
        let door: BitwardenDoor
        do throws(OutboxError) {
            door = BitwardenDoor(
                settings: settings.door, installations: try await SQLiteInstallations(in: outbox),
                devices: try await SQLiteBitwardenDevices(in: outbox), dispatcher: dispatcher, key: key,
                log: log)
        } catch {
            throw .unavailable("the endpoint for Bitwarden servers: \(error)")
        }
        self.init(door, named: "bitwarden", settings.place)
    }
}
