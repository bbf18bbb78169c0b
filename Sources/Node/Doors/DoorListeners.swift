import Clocks
import Crypto
import Doors
import Gateways
import Logging
import Reactor
import TLS
import Tor

/// All HTTP listeners of the node but the operator's: one server for each place, shared by the doors that are served
/// there. Ports of the onion address that lead to the same doors are one place.
@EventLoop
package final class DoorListeners {
    /// A door, and where it is served.
    package struct PlacedDoor {
        /// The door for clients from the onion address.
        let door: any HTTPDoor
        /// The door for other clients.
        let worldDoor: any HTTPDoor
        let places: [DoorPlace]
        /// Bytes of the largest body that it takes.
        let body: Int
        /// The name of a door with limits of its own, and the doors that count their hits.
        var limited: (name: String, doors: [LimitedDoor])?
    }

    private let settings: Settings
    private let sockets: DoorSockets
    /// The circuits by which clients come to the places on the onion address.
    private let circuits: Circuits
    private let room: BufferRoom
    /// Clients at endpoints for the world, by their addresses.
    let addresses: Circuits
    private(set) var servers: [HTTPServer] = []
    /// The doors with limits of their own, by name.
    private(set) var limited: [(name: String, doors: [LimitedDoor])] = []
    /// The certificate of the `https://` listeners, the console's too.
    package let certificate: ServerCertificate?
    /// The files of the certificate and its key as they were when they were read.
    private let files: CredentialFiles
    private let log: Logger
    private var hasReportedUnknownClients = false
    /// Seconds since 1970 of the end of the certificate shown; `nil`: none is.
    private(set) var certificateEnd: Int64?

    /// The time of the last handshake that the node made with its own certificate; `nil`: none came to its end.
    private(set) var provenAt: MonotonicTime?

    /// Makes a handshake with the certificate that is shown, as a client does who takes any.
    func proveCertificate() {
        guard let certificate else { return }
        do throws(TLSError) {
            try certificate.context.prove()
            provenAt = EventLoop.awake
        } catch {
            log.error("certificate.unusable", metadata: ["reason": "\(error)"])
        }
    }

    /// Reads the certificate that the settings name; opens nothing yet.
    ///
    /// - Throws: The fault of a file that the settings name.
    init(
        _ settings: Settings, circuits: Circuits, room: BufferRoom, log: Logger
    ) throws(SettingsFault) {
        self.settings = settings
        self.log = log
        sockets = DoorSockets(settings)
        self.circuits = circuits
        self.room = room
        addresses = Circuits(settings: .addresses(connections: settings.http.connectionsPerAddress))
        files = CredentialFiles([settings.doors.certificateFile, settings.doors.keyFile])
        guard let shown = try DoorListeners.shown(by: settings.doors) else {
            certificate = nil
            return
        }
        certificate = ServerCertificate(
            shown.context, handshakes: settings.doors.handshakes,
            perAddress: settings.doors.handshakesPerAddress)
        certificateEnd = shown.end
        provenAt = EventLoop.awake
    }

    /// Returns the certificate that the `https://` listeners are to show, from its files; `nil`: they name none.
    static func shown(
        by doors: Settings.Doors, reading file: FileReader = CredentialFiles.read
    ) throws(SettingsFault) -> (context: TLSContext, end: Int64)? {
        guard !doors.certificateFile.isEmpty, !doors.keyFile.isEmpty else { return nil }
        let chain = try readCredential(doors.certificateFile, key: "doors.https.certificate_file", by: file)
        let key = try readCredential(doors.keyFile, key: "doors.https.key_file", by: file)
        do {
            let context = try TLSContext(
                serverWith: TLSCredentials(chainPEM: chain, keyPEM: key), protocols: ["http/1.1"])
            try context.prove()
            return (context, try Certificate(pem: chain).validUntil)
        } catch {
            if let words = MistakenFile.words(for: chain, wanted: .certificate) {
                throw SettingsFault(
                    key: "doors.https.certificate_file", problem: "\(doors.certificateFile): \(words)")
            }
            if let words = MistakenFile.words(for: key, wanted: .privateKey) {
                throw SettingsFault(key: "doors.https.key_file", problem: "\(doors.keyFile): \(words)")
            }
            throw SettingsFault(key: "doors.https", problem: "\(doors.certificateFile): \(error)")
        }
    }

    /// How the certificate is taken over when its files have changed; `nil`: there is none.
    var watched: CredentialWatch.App? {
        guard let certificate else { return nil }
        return CredentialWatch.App(name: "https", files: files) { [self] contents throws(SettingsFault) in
            guard let shown = try DoorListeners.shown(by: settings.doors, reading: contents.read) else {
                return
            }
            certificate.context = shown.context
            provenAt = EventLoop.awake
            certificateEnd = shown.end
        }
    }

    // MARK: Opening

    /// Opens all places of these doors.
    ///
    /// - Returns: The virtual ports that lead to them, in the order of their numbers.
    func open(_ doors: [PlacedDoor]) throws(NodeError) -> [VirtualPort] {
        limited += doors.compactMap(\.limited)
        var doorsAt: [DoorPlace: [Int]] = [:]
        for (index, door) in doors.enumerated() {
            for place in door.places { doorsAt[place, default: []].append(index) }
        }
        var onionPorts: [[Int]: [UInt16]] = [:]
        for (place, indices) in doorsAt {
            switch place {
            case .onion(let port): onionPorts[indices, default: []].append(port)
            case .plain(let endpoint):
                // From this machine alone, unless it is a proxy that says for whom it asks.
                let isProxied =
                    if case .unix = endpoint {
                        !settings.http.clientAddressHeader.isEmpty
                    } else {
                        !settings.http.trustedProxies.isEmpty
                    }
                try open(
                    indices.map { doors[$0] }, on: endpoint,
                    by: isProxied ? addresses : Circuits(settings: .unlimited))
            case .https(let endpoint):
                try open(indices.map { doors[$0] }, on: endpoint, showing: certificate, by: addresses)
            }
        }
        var ports: [VirtualPort] = []
        for (number, (indices, numbers)) in onionPorts.sorted(by: {
            $0.value.min() ?? 0 < $1.value.min() ?? 0
        })
        .enumerated() {
            // The setting names one place; further sets of doors have sockets of their own.
            let endpoint = try sockets.open(
                number == 0 ? "http" : "http-\(number + 1)",
                orAt: ("onion.http_listen", number == 0 ? settings.onion.httpListen : nil)
            ) { (endpoint) throws(SystemError) in
                try serve(indices.map { doors[$0] }, on: endpoint, by: circuits)
            }
            do throws(VirtualPortError) {
                for number in numbers { ports.append(try VirtualPort(number, to: endpoint)) }
            } catch {
                throw .configuration("onion: \(error)")
            }
        }
        return ports.sorted { $0.number < $1.number }
    }

    private func open(
        _ doors: [PlacedDoor], on endpoint: Endpoint, showing certificate: ServerCertificate? = nil,
        by clients: Circuits
    ) throws(NodeError) {
        do {
            _ = try serve(doors, on: endpoint, showing: certificate, by: clients)
        } catch {
            throw .unavailable(
                "\(error). Stop the program that uses it, or set another address in the endpoint's listen")
        }
    }

    private func serve(
        _ doors: [PlacedDoor], on endpoint: Endpoint, showing certificate: ServerCertificate? = nil,
        by circuits: Circuits
    ) throws(SystemError) -> Endpoint {
        var http = settings.http
        http.limits.body = doors.map(\.body).max() ?? http.limits.body
        let isOnion = circuits === self.circuits
        let server = HTTPServer(
            settings: http, circuits: circuits, room: room,
            doors: doors.map { isOnion ? $0.door : $0.worldDoor })
        server.onUnknownClient = { [unowned self] in reportUnknownClient() }
        servers.append(server)
        return try server.open(on: endpoint, showing: certificate)
    }

    /// Logs once that a proxy names no client: it is the proxy's way, not one request's.
    private func reportUnknownClient() {
        guard !hasReportedUnknownClients else { return }
        hasReportedUnknownClients = true
        log.warning(
            "endpoint.client_unknown",
            metadata: [
                "field": "\(settings.http.clientAddressHeader)",
                "advice":
                    "let the proxy write the client's address there: until then its clients share the limits of one address",
            ])
    }

    /// Accepts nothing more; returns when the requests in progress have been answered.
    func close() async {
        let closing = servers.map { server in Task { await server.close() } }
        for server in closing { await server.value }
    }
}

extension DoorListeners.PlacedDoor {
    /// Makes a door without limits of its own.
    package init(_ door: any HTTPDoor, places: [DoorPlace], body: Int) {
        self.init(door: door, worldDoor: door, places: places, body: body)
    }

    /// Makes a door with the settings that every door for other senders than Bisq's has.
    @EventLoop
    package init(_ door: any HTTPDoor, named name: String, _ settings: Settings.Door) {
        // Each side has its share: what one uses up, the other can't tell.
        let onion = LimitedDoor(door, limits: settings.limits)
        let world = LimitedDoor(door, limits: settings.limits)
        self.init(
            door: onion, worldDoor: world, places: settings.listen, body: settings.limits.body,
            limited: (name, [onion, world]))
    }
}
