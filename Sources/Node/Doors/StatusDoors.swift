import Crypto
import Dispatching
import Doors
import Encodings
import Logging
import Persistence
import Reactor
import Relay
import Tor

/// The doors for Status, as far as they are set.
@EventLoop
struct StatusDoors {
    /// Those over HTTP.
    private(set) var placed: [DoorListeners.PlacedDoor] = []
    private(set) var stream: StatusStreamDoor?

    init(
        _ settings: Settings.Status, state: borrowing StateDirectory, outbox: SQLiteOutbox?,
        _ dispatcher: Dispatcher, room: BufferRoom, log: Logger
    ) async throws(NodeError) {
        if settings.gorush.isOn {
            var door = settings.gorushDoor
            door.secret = try StatusDoors.secret(in: settings.gorushSecretFile)
            if door.secret == nil {
                log.warning(
                    "endpoint.unprotected",
                    metadata: [
                        "endpoint": "gorush", "addresses": "\(settings.gorush.listen.map(\.description))",
                    ])
            }
            placed.append(
                DoorListeners.PlacedDoor(
                    GorushDoor(settings: door, dispatcher: dispatcher), named: "gorush", settings.gorush))
        }
        guard settings.isServer, let outbox else { return }
        let server: StatusServer
        do {
            server = StatusServer(
                settings: settings.serverDoor, key: try Secp256k1.PrivateKey(try state.statusKey()),
                registrations: try await SQLiteStatusRegistrations(
                    in: outbox, limits: settings.registrations),
                dispatcher: dispatcher, digestKey: try state.digestKey(), log: log)
            let key = Hex.encode(server.publicKey)
            try state.write(statusPublicKey: key)
            log.notice("status.key_loaded", metadata: ["public_key": "\(key)"])
        } catch let error as NodeError {
            throw error
        } catch {
            throw .unavailable("the endpoint for Status' clients: \(error)")
        }
        if settings.server.isOn {
            placed.append(DoorListeners.PlacedDoor(StatusDoor(server), named: "status", settings.server))
        }
        if !settings.streamPlaces.isEmpty {
            stream = StatusStreamDoor(settings: settings.stream, server: server, room: room)
        }
    }

    /// The first line of a file; `nil`: none is set.
    private static func secret(in file: String) throws(NodeError) -> Secret? {
        guard !file.isEmpty else { return nil }
        do throws(SettingsFault) {
            let line = try readCredential(file, key: "doors.gorush.secret_file")
                .split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)[0]
            guard !line.isEmpty else {
                throw SettingsFault(
                    key: "doors.gorush.secret_file", problem: "\(file): the first line is empty")
            }
            return Secret(Array(line))
        } catch {
            throw .configuration("\(error)")
        }
    }

    /// Opens the places of the stream.
    ///
    /// - Returns: The virtual ports that lead to it.
    func openStream(
        _ places: [DoorPlace], in sockets: DoorSockets, by circuits: Circuits
    ) throws(NodeError) -> [VirtualPort] {
        guard let stream else { return [] }
        var ports: [VirtualPort] = []
        for place in places {
            switch place {
            case .onion(let port):
                // Ports of the address that lead here share one socket.
                var target = ports.first?.target
                if target == nil {
                    target = try sockets.open("status-stream") { (endpoint) throws(SystemError) in
                        try stream.open(on: endpoint, by: circuits)
                    }
                }
                do throws(VirtualPortError) {
                    ports.append(try VirtualPort(port, to: target!))
                } catch {
                    throw .configuration("doors.status.stream: \(error)")
                }
            case .plain(let endpoint):
                do throws(SystemError) {
                    _ = try stream.open(on: endpoint)
                } catch {
                    throw .unavailable(
                        "\(error). Stop the program that uses it, or set another port in doors.status.stream")
                }
            // The settings refuse it.
            case .https: break
            }
        }
        return ports
    }
}
