import Crypto
import Doors
import Encodings
import Node
import Overview
import Persistence
import PushEndpoints
import Reactor
import Relay
import Tor

/// The push notification server for Status, as the settings want it: `doors.status`.
package struct StatusIMFeature: Feature {
    package static let name = "status"
    package static var tables: [any DoorTables.Type] { [StatusIMTables.self] }

    /// The endpoint that answers as the push notification server, over HTTP.
    package var server = Settings.Door(body: 131_072)
    /// The places of the server over a stream. Empty: there is none.
    package var streamPlaces: [DoorPlace] = []
    package var stream = MessageDoorSettings()
    package var serverDoor = StatusIMServerSettings()
    package var registrations = StatusIMRegistration.Limits()

    package var isServer: Bool { server.isOn || !streamPlaces.isEmpty }

    package var listen: [DoorPlace] { server.listen }
    package var otherPlaces: [(key: String, places: [DoorPlace])] { [("doors.status.stream", streamPlaces)] }
    package var connections: Int { streamPlaces.isEmpty ? 0 : stream.connections }

    package init(_ section: SettingsReader.Section, of settings: Settings) {
        streamPlaces = section.places("stream")
        server.listen = settings.places(section)
        for place in streamPlaces {
            switch place {
            case .https: section.fault("stream", "\(place): the stream has no TLS; use onion:PORT")
            case .onion(let port) where port == settings.onion.peerPort:
                section.fault("stream", "onion:\(port) is the port of the peers (onion.peer_port)")
            case .onion(let port)
            where settings.onion.httpPorts.contains(port) || server.listen.contains(place):
                section.fault("stream", "onion:\(port) is already used for HTTP")
            case .onion, .plain: break
            }
        }
        section.apps(&serverDoor.apps, isOn: isServer)
        section.flag("sandbox", &serverDoor.apps.isSandbox)
        section.integer("keys_per_query", &serverDoor.keysPerQuery, in: 1...10_000)
        section.integer("entries_per_request", &serverDoor.entriesPerRequest, in: 1...10_000)
        section.integer("installations_per_key", &registrations.perOwner, in: 1...10_000)
        section.integer("installations", &registrations.installations, in: 1...100_000_000)
        serverDoor.installations = registrations.installations
        section.integer("registration_bytes", &registrations.bytes, in: 65536...(1 << 40), unit: "bytes")
        section.seconds("message_memory", &serverDoor.messageMemory, in: 3600...(90 * 86400))
        section.integer("stream_connections", &stream.connections, in: 1...1_000_000)
        section.integer("stream_rate", &stream.rate, in: 1...10_000)
        section.seconds("stream_idle_timeout", &stream.idleTimeout, in: 1...86400)
        section.limits(of: &server)
        // What is carried is the same: so are its limits.
        stream.messageBytes = server.limits.body
        stream.totalRate = server.limits.rate
    }

    package mutating func lowerConnections(_ lowered: (Int) -> Int) -> (key: String, number: Int)? {
        stream.connections = lowered(stream.connections)
        return streamPlaces.isEmpty ? nil : ("doors.status.stream_connections", stream.connections)
    }

    /// Opens the server for Status' clients: over HTTP, over a stream, or over both.
    package func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor? {
        guard isServer else { return nil }
        let log = site.log
        let core: StatusIMServer
        do {
            core = StatusIMServer(
                settings: serverDoor, key: try Secp256k1.PrivateKey(try state.statusKey()),
                registrations: try await StoredStatusIMRegistrations(in: site.outbox, limits: registrations),
                dispatcher: site.dispatcher, digestKey: try state.digestKey(), log: log)
            let key = Hex.encode(core.publicKey)
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
        if server.isOn {
            opened.placed = DoorListeners.PlacedDoor(StatusIMDoor(core), named: Self.name, server)
        }
        if !streamPlaces.isEmpty {
            let door = MessageDoor(settings: stream, room: site.room) { message, sender, answer in
                core.take(message, from: sender, answer: answer)
            } onRefusal: {
                core.figures.count("refused")
            }
            do throws(NodeError) {
                opened.ports = try door.open(streamPlaces, in: site.sockets, by: site.circuits)
            } catch {
                await door.close()
                throw error
            }
            opened.addFigures = { [most = stream.connections] in $0.add(door, limit: most) }
            opened.close = { await door.close() }
        }
        return opened
    }
}

extension Report {
    @EventLoop
    fileprivate mutating func add(_ stream: MessageDoor, limit: Int) {
        places.append(
            .init(
                "doors.status.stream_connections", open: stream.openConnections, limit: limit,
                heldByFew: stream.openConnections(heldBy: Places.few)))
        limitsHit.add("status_stream_connections", stream.evictedConnections)
        limitsHit.add("status_stream_rate", stream.slowed)
    }
}

extension MessageDoor {
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
