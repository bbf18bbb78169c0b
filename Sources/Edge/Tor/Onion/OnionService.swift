import Reactor

/// Our onion service on one control connection: given to tor under our key, then watched until clients can find it.
///
/// In the plain form it lives as long as the connection: tor takes the service back when that ends. As a service of
/// tor's configuration (``OnionForm/directory``) it lives until tor ends or reads its configuration anew.
@EventLoop
package final class OnionService {
    package private(set) var publication: Publication
    let key: OnionKey
    let ports: [VirtualPort]
    package let address: OnionAddress
    package var state: OnionState { publication.state }
    package var onChange: (@EventLoop (OnionState) -> Void)?
    /// Called with everything that tor tells on this connection.
    package var onEvent: (@EventLoop (ControlEvent) -> Void)?
    /// Called once clients can find a neighbour.
    var onNeighbour: (@EventLoop (OnionAddress) -> Void)?

    private(set) var neighbours: [Publication]
    let form: OnionForm
    /// The key with which our own tor finds a private service.
    let own: ClientSecret?
    private let connection: ControlConnection
    /// Whether tor has read its configuration anew, in which the service is not.
    private var isForgotten = false
    private let grace = Timer()

    /// The time to wait for more directories once the first has taken the descriptor.
    private static let graceTime = Duration.seconds(10)

    /// Gives the service to tor. Takes over the connection's events.
    ///
    /// - Throws: ``ControlError``; ``ControlRefusal/onionAddressCollision`` if tor serves the address already and doesn't
    ///   let it be taken back.
    package static func publish(
        key: OnionKey, ports: [VirtualPort], as form: OnionForm = OnionForm(),
        on connection: ControlConnection
    ) async throws(ControlError) -> OnionService {
        let bootstrap = try await listen(on: connection)
        // A private service is closed to our own tor too, unless it has a key like any other client.
        let own = form.clients == nil ? nil : ClientSecret.generate()
        let command = form.command(key: key, ports: ports, own: own?.publicKey)
        if let directory = form.directory {
            try await configure(
                ServiceDirectory(path: directory), command, key, form.authorized(own?.publicKey),
                form.front(of: key.address), form.neighbours, connection)
        } else {
            try await add(command, key.address, connection)
            for neighbour in form.neighbours {
                let command = neighbour.form.command(key: neighbour.key, ports: neighbour.ports, own: nil)
                try await add(command, neighbour.address, connection)
            }
        }
        let service = OnionService(
            key, ports, form, own, connection, Publication(of: key.address, bootstrap: bootstrap),
            form.neighbours.map { Publication(of: $0.address, bootstrap: bootstrap) })
        try await service.giveOwnKey()
        return service
    }

    /// Has tor tell of what is useful, and returns its place on the way into the network.
    static func listen(on connection: ControlConnection) async throws(ControlError) -> Bootstrap {
        try await connection.send(.setEvents(ControlEvent.useful))
        return try await connection.ask(.getInfo([bootstrapKey])) {
            reply throws(ControlSyntaxError) -> Bootstrap in
            guard let phase = reply[bootstrapKey].flatMap(Bootstrap.init(phase:)) else {
                throw .unreadableReply(to: "GETINFO")
            }
            return phase
        }
    }

    /// Makes the object of a service that tor has by this connection.
    init(
        _ key: OnionKey, _ ports: [VirtualPort], _ form: OnionForm, _ own: ClientSecret?,
        _ connection: ControlConnection, _ publication: Publication, _ neighbours: [Publication]
    ) {
        address = key.address
        (self.key, self.ports, self.form, self.own) = (key, ports, form, own)
        self.connection = connection
        (self.publication, self.neighbours) = (publication, neighbours)
        grace.action = { [unowned self] in
            change { $0.graceEnded(at: EventLoop.unixMilliseconds) }
            for index in neighbours.indices {
                changeNeighbour(index) { $0.graceEnded(at: EventLoop.unixMilliseconds) }
            }
        }
        connection.onEvent = { [weak self] event in self?.take(event) }
    }

    private static let bootstrapKey = "status/bootstrap-phase"

    private static func configure(
        _ directory: ServiceDirectory, _ command: ControlCommand, _ key: OnionKey, _ clients: [ClientKey],
        _ front: OnionAddress?, _ neighbours: [NeighbourService], _ connection: ControlConnection
    ) async throws(ControlError) {
        do throws(SystemError) {
            try directory.fill(key: key, clients: clients, front: front)
            for neighbour in neighbours {
                guard let directory = neighbour.directory else { continue }
                try directory.fill(key: neighbour.key, clients: neighbour.form.authorized(nil))
            }
        } catch {
            throw .serviceDirectory(error)
        }
        try await connection.send(command)
        var isOurs: Bool
        do throws(SystemError) {
            isOurs = try directory.address() == key.address
            for neighbour in neighbours {
                guard let directory = neighbour.directory else { continue }
                let told = try directory.address()
                isOurs = isOurs && told == neighbour.address
            }
        } catch {
            throw .serviceDirectory(error)
        }
        guard isOurs else { throw .otherAddress }
    }

    private static func add(
        _ command: ControlCommand, _ address: OnionAddress, _ connection: ControlConnection
    ) async throws(ControlError) {
        let told: OnionAddress
        do {
            told = try await connection.ask(command, Self.serviceID)
        } catch .refused(.onionAddressCollision) {
            // One that was left detached can be taken back; another connection's can't.
            do {
                try await connection.send(.removeOnion(address))
            } catch .refused {
                throw .refused(.onionAddressCollision)
            }
            told = try await connection.ask(command, Self.serviceID)
        }
        guard told == address else {
            try await connection.send(.removeOnion(told))
            throw .otherAddress
        }
    }

    private static func serviceID(_ reply: ControlReply) throws(ControlSyntaxError) -> OnionAddress {
        guard let address = reply["ServiceID"].flatMap({ OnionAddress($0) }) else {
            throw .unreadableReply(to: "ADD_ONION")
        }
        return address
    }

    /// Takes the service back: no new client finds it. Streams that are open go on.
    package func withdraw() async throws(ControlError) {
        try await letGo()
        guard form.directory == nil else {
            try await connection.send(.resetServices, within: .seconds(2))
            return
        }
        for neighbour in form.neighbours {
            // Tor may have lost it already.
            _ = try? await connection.send(.removeOnion(neighbour.address), within: .seconds(2))
        }
        try await connection.send(.removeOnion(address), within: .seconds(2))
    }

    /// Makes way before the service is given to tor once more, on the same connection and perhaps in another
    /// form. A service of tor's configuration is replaced without a gap.
    func makeWay() async throws(ControlError) {
        if form.directory == nil { try await withdraw() } else { try await letGo() }
    }

    private func letGo() async throws(ControlError) {
        grace.stop()
        onChange = nil
        guard form.clients != nil else { return }
        // A key for a service that has none any more would keep our own tor out.
        try await connection.send(.forgetClientKey(of: address), within: .seconds(2))
    }

    /// Prepares a call of the own address.
    ///
    /// - Parameter afresh: so that the directories are asked for the descriptor, as a peer asks them: tor forgets what it
    ///   has of the kind, and clients' keys with it.
    func prepareCall(afresh: Bool, within limit: Duration) async {
        if afresh { _ = try? await connection.send(.newIdentity, within: limit) }
        // Also where others set something in tor, or have it read its files anew, it forgets the key.
        try? await giveOwnKey(within: limit)
    }

    private func giveOwnKey(within limit: Duration = .seconds(10)) async throws(ControlError) {
        if let own { try await connection.send(own.command(for: address), within: limit) }
    }

    /// Closes a client's circuit with all its streams, if it has not ended.
    func closeCircuit(_ circuit: UInt32) async {
        _ = try? await connection.send(.closeCircuit(circuit))
    }

    /// Whether tor has the service, and in this form.
    func has(_ form: OnionForm) -> Bool { !isForgotten && self.form == form }

    private func take(_ event: ControlEvent) {
        if event == .reloaded, form.directory != nil { isForgotten = true }
        change { $0.take(event, at: EventLoop.unixMilliseconds) }
        for index in neighbours.indices {
            changeNeighbour(index) { $0.take(event, at: EventLoop.unixMilliseconds) }
        }
        onEvent?(event)
    }

    private func change(_ body: (inout Publication) -> Void) {
        let before = publication
        body(&publication)
        if before.uploads == 0, publication.uploads > 0, publication.publishedAt == nil {
            grace.start(after: Self.graceTime)
        }
        if publication.state != before.state { onChange?(publication.state) }
    }

    private func changeNeighbour(_ index: Int, _ body: (inout Publication) -> Void) {
        let wasPublished = neighbours[index].publishedAt != nil
        body(&neighbours[index])
        if neighbours[index].uploads == 1, neighbours[index].publishedAt == nil {
            grace.start(after: Self.graceTime)
        }
        guard !wasPublished, neighbours[index].publishedAt != nil else { return }
        onNeighbour?(form.neighbours[index].address)
    }
}
