import Calls
import Doors
import HTTP1
import Node
import Reactor
import Relay
import Tor

/// The listeners of the console.
extension NodeConsole {
    /// The parts of the node that its listeners need.
    struct Site {
        let calls: any HTTPDoor
        let stateText: @EventLoop () async -> [UInt8]
        /// The certificate of `https://` places.
        let certificate: ServerCertificate?
        /// The sockets at which tor hands streams over.
        let sockets: DoorSockets
        /// The key of the onion address.
        let onionKey: OnionKeyFile
        let onionClients: Invitations
        let torDirectory: String
    }

    /// Connections at each listener: more than a program has that was given no more files than usual. Guesses wait in them, and
    /// those that make room for others would be anybody's.
    nonisolated static let mostConnections = 1024
    /// Connections at the onion address: with two hundred new ones a second, each has the seconds that a request takes over
    /// Tor.
    private static let mostOnionConnections = 512
    /// A page and what it needs are some thirty requests, once.
    private static let onionRequestsPerSecond = 10
    /// Browsers build a circuit or two. Who shows no proof of work gets in at this rate, while others wait.
    private static let work = OnionForm.Rate(perSecond: 10, burst: 100)
    private static let streamsPerCircuit = 32
    /// The share of all clients without a session at a listener that other machines reach, however many circuits they use:
    /// half a hundredth of the loop's time, and at once less than one turn of the loop may take.
    private static let ofStrangers = Rate(perSecond: 100, burst: 50)
    /// The share of the first requests of new circuits: more than tor can make circuits, which cost it over three
    /// milliseconds each.
    private static let ofFirsts = Rate(perSecond: 400, burst: 50)
    private static let acceptsPerTurn = 8
    /// "Not yours", "not you", "nothing there", "not so often".
    private static let refusals: Set = [401, 403, 404, 429]

    func open(on place: ConsolePlace, at site: Site, _ settings: Settings) throws(NodeError) {
        switch place {
        case .local(let endpoint):
            try serve(site, settings) { (server) throws(SystemError) in try server.open(on: endpoint) }
        case .https(let endpoint):
            guard let certificate = site.certificate else {
                throw .configuration("console.listen: \(place) needs doors.https.certificate_file")
            }
            var clients = CircuitsSettings.addresses(connections: settings.http.connectionsPerAddress)
            clients.areShared = true
            clients.ofStrangers = NodeConsole.ofStrangers
            try serve(site, settings, by: clients) { (server) throws(SystemError) in
                try server.open(on: endpoint, showing: certificate)
            }
        case .onion: try openOnion(at: site, settings)
        }
    }

    /// Opens the listener of a platform's proxy.
    func open(_ proxied: Settings.Console.Proxied, at site: Site, _ settings: Settings) throws(NodeError) {
        if let fault = proxied.networkFault(isOwn: NetworkOfApp.isOwn) { throw .configuration("\(fault)") }
        try serve(site, settings, hasEntered: proxied.isTrusted) { (server) throws(SystemError) in
            try server.open(on: proxied.listen, from: proxied.from)
        }
    }

    /// Opens the listener of a platform's dashboard.
    func open(_ widgets: Settings.Console.Widgets, at site: Site, _ settings: Settings) throws(NodeError) {
        if let fault = widgets.networkFault(isOwn: NetworkOfApp.isOwn) { throw .configuration("\(fault)") }
        // Nobody is served before its place is known.
        var door: WidgetDoor?
        let circuits = Circuits(settings: sharedAddresses)
        let server = server(settings, by: circuits, ConsoleStreamDoor { _ in nil }) { request, respond in
            door?.answer(request, respond: respond)
        }
        do {
            let place = try server.open(on: widgets.listen, from: widgets.from)
            door = WidgetDoor(at: place, calls: site.calls)
        } catch {
            throw .unavailable(
                "\(error). Stop the program that uses it, or set console.widgets.listen to another address")
        }
    }

    private var sharedAddresses: CircuitsSettings {
        var shared = CircuitsSettings.addresses(connections: 0)
        shared.areShared = true
        return shared
    }

    /// Opens an address of its own, of which the peers' says nothing. Tor names circuits as for peers, and each has its
    /// share.
    private func openOnion(at site: Site, _ settings: Settings) throws(NodeError) {
        try site.sockets.prepare()
        let key: OnionKey
        var form = OnionForm()
        do {
            key = try site.onionKey.loadOrCreate()
            form.clients = try site.onionClients.load().map { Set($0.values) }
        } catch {
            throw .configuration("the console's onion address: \(error)")
        }
        form.directory = settings.onionForm(torDirectory: site.torDirectory).directory.map { $0 + "-console" }
        form.streamsPerCircuit = NodeConsole.streamsPerCircuit
        if settings.onion.hasProofOfWork { form.proofOfWork = NodeConsole.work }
        let origin = "http://\(key.address)"
        linkOrigins.append(origin)
        var clients = settings.circuits
        clients.limits.framesPerSecond = NodeConsole.onionRequestsPerSecond
        clients.knowsCircuits = settings.isGuarded
        clients.areShared = !settings.isGuarded
        clients.ofStrangers = NodeConsole.ofStrangers
        clients.ofFirsts = NodeConsole.ofFirsts
        let circuits = Circuits(settings: clients)
        let endpoint = try site.sockets.open("console") { (endpoint) throws(SystemError) in
            let server = makeServer(site, settings, by: circuits, own: [origin], cookie: "onionbell")
            return try server.open(on: endpoint)
        }
        do throws(VirtualPortError) {
            let port = try VirtualPort(80, to: endpoint)
            let service = NeighbourService(key: key, ports: [port], form: form)
            onion = ConsoleOnion(service, circuits: circuits)
        } catch {
            throw .configuration("console.listen: \(error)")
        }
    }

    private func serve(
        _ site: Site, _ settings: Settings, by clients: CircuitsSettings? = nil, hasEntered: Bool = false,
        _ open: (HTTPServer) throws(SystemError) -> Endpoint
    ) throws(NodeError) {
        // Its origins are known when it has its port, and nobody is served before.
        var door: ConsoleDoor?
        let stream = ConsoleStreamDoor { door?.opening(of: $0) }
        let circuits = Circuits(settings: clients ?? sharedAddresses)
        let server = server(settings, by: circuits, stream) { request, respond in
            door?.answer(request, respond: respond)
        }
        server.bodyLimit = { door?.bodyLimit($0, NodeCalls.bodyLimit) }
        let opened: Endpoint
        do {
            opened = try open(server)
        } catch {
            throw .unavailable(
                "\(error). Stop the program that uses it, or set console.listen to another address")
        }
        let own = clients == nil ? NodeConsole.origins(of: opened) : []
        if !hasEntered { linkOrigins += own.prefix(1) }
        door = makeDoor(
            site, settings, own: own, cookie: NodeConsole.cookie(of: opened), hasEntered: hasEntered)
    }

    private func makeServer(
        _ site: Site, _ settings: Settings, by circuits: Circuits, own: [String], cookie: String
    ) -> HTTPServer {
        // Whoever comes here has none of the names of proxies.
        let door = makeDoor(site, settings, own: own, others: [], cookie: cookie, hasEntered: false)
        let server = server(settings, by: circuits, ConsoleStreamDoor { door.opening(of: $0) }) {
            door.answer($0, respond: $1)
        }
        server.bodyLimit = { door.bodyLimit($0, NodeCalls.bodyLimit) }
        return server
    }

    private func server(
        _ settings: Settings, by circuits: Circuits, _ stream: ConsoleStreamDoor,
        handler: @escaping HTTPServer.Handler
    ) -> HTTPServer {
        var http = settings.http
        http.connections =
            circuits.settings.knowsCircuits
            ? NodeConsole.mostOnionConnections : NodeConsole.mostConnections
        http.connectionsPerAddress = 0
        http.acceptsPerTurn = NodeConsole.acceptsPerTurn
        http.refusals = NodeConsole.refusals
        let server = HTTPServer(
            settings: http, circuits: circuits, doors: [stream], refusal: ConsoleDoor.refusal,
            handler: handler)
        servers.append(server)
        return server
    }

    private func makeDoor(
        _ site: Site, _ settings: Settings, own: [String], others: [String]? = nil, cookie: String,
        hasEntered: Bool
    ) -> ConsoleDoor {
        ConsoleDoor(
            origins: own + (others ?? settings.console.origins), cookie: cookie,
            login: hasEntered ? nil : login, calls: site.calls, stateText: site.stateText, events: events,
            isWidget: { [unowned self] in widgets.has($0) }
        ) { await ConsolePage.read($0) }
    }

    /// Returns the origins of a place, the most usual first; none for a Unix socket, which no browser finds
    /// by itself.
    nonisolated static func origins(of place: Endpoint) -> [String] {
        guard case .host(let host, let port) = place else { return [] }
        let names = ["127.0.0.1", "localhost"].contains(host) ? ["127.0.0.1", "localhost"] : [host]
        return names.map { name in
            let authority = Endpoint.host(name, port: port).description
            return "http://" + (port == 80 ? String(authority.dropLast(":80".utf8.count)) : authority)
        }
    }

    private static func cookie(of place: Endpoint) -> String {
        guard case .host(_, let port) = place else { return "onionbell" }
        return "onionbell-\(port)"
    }
}
