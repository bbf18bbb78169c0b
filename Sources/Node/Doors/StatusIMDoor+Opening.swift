import Crypto
import Doors
import Encodings
import Overview
import Persistence
import Reactor
import Tor

extension StatusIMDoor: ConfiguredDoor {
    nonisolated static var listenKey: String { "doors.status.listen" }

    nonisolated static func places(in settings: Settings) -> [DoorPlace] { settings.statusIM.server.listen }

    /// Opens the server for Status' clients: over HTTP, over a stream, or over both.
    static func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        let settings = site.settings.statusIM
        guard settings.isServer else { return nil }
        let log = site.log
        let server: StatusIMServer
        do {
            server = StatusIMServer(
                settings: settings.serverDoor, key: try Secp256k1.PrivateKey(try state.statusKey()),
                registrations: try await StoredStatusIMRegistrations(
                    in: site.outbox, limits: settings.registrations),
                dispatcher: site.dispatcher, digestKey: try state.digestKey(), log: log)
            let key = Hex.encode(server.publicKey)
            if let error = await PrivateFile.replace(state.statusPublicKey, with: Array("\(key)\n".utf8)) {
                throw error
            }
            log.notice("status.key_loaded", metadata: ["public_key": "\(key)"])
        } catch let error as NodeError {
            throw error
        } catch {
            throw .unavailable("the endpoint for Status' clients: \(error)")
        }
        var opened = OpenedDoor()
        if settings.server.isOn {
            opened.placed = DoorListeners.PlacedDoor(StatusIMDoor(server), named: "status", settings.server)
        }
        if !settings.streamPlaces.isEmpty {
            let stream = StatusIMStreamDoor(settings: settings.stream, server: server, room: site.room)
            do throws(NodeError) {
                opened.ports = try stream.open(settings.streamPlaces, in: site.sockets, by: site.circuits)
            } catch {
                await stream.close()
                throw error
            }
            opened.addFigures = { $0.add(stream, limit: settings.stream.connections) }
            opened.close = { await stream.close() }
        }
        return opened
    }
}

extension Report {
    @EventLoop
    fileprivate mutating func add(_ stream: StatusIMStreamDoor, limit: Int) {
        places.append(
            .init(
                "doors.status.stream_connections", open: stream.openConnections, limit: limit,
                heldByFew: stream.openConnections(heldBy: Places.few)))
        limitsHit.add("status_stream_connections", stream.evictedConnections)
        limitsHit.add("status_stream_rate", stream.slowed)
    }
}

extension StatusIMStreamDoor {
    /// Opens the places of the stream.
    ///
    /// - Returns: The virtual ports that lead to it.
    fileprivate func open(
        _ places: [DoorPlace], in sockets: DoorSockets, by circuits: Circuits
    ) throws(NodeError) -> [VirtualPort] {
        var ports: [VirtualPort] = []
        for place in places {
            switch place {
            case .onion(let port):
                // Ports of the address that lead here share one socket.
                let target =
                    if let known = ports.first?.target {
                        known
                    } else {
                        try sockets.open("status-stream") { (endpoint) throws(SystemError) in
                            try open(on: endpoint, by: circuits)
                        }
                    }
                do throws(VirtualPortError) {
                    ports.append(try VirtualPort(port, to: target))
                } catch {
                    throw .configuration("doors.status.stream: \(error)")
                }
            case .plain(let endpoint):
                do throws(SystemError) {
                    _ = try open(on: endpoint)
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
