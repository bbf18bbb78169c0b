import Reactor

/// Our onion service on one control connection: given to tor under our key, then watched until clients can find it.
///
/// It lives as long as the connection: tor takes the service back when that ends.
@EventLoop
package final class OnionService {
    package private(set) var publication: Publication
    /// The key as given, with the address that tor told if it had none.
    package let key: OnionKey
    package let address: OnionAddress
    package var state: OnionState { publication.state }
    package var onChange: (@EventLoop (OnionState) -> Void)?
    /// Everything that tor tells on this connection.
    package var onEvent: (@EventLoop (ControlEvent) -> Void)?

    private let connection: ControlConnection
    private var grace: Timer!

    /// How long to wait for more directories once the first has taken the descriptor.
    private static let graceTime = Duration.seconds(10)

    /// Gives the service to tor. Takes over the connection's events.
    ///
    /// - Throws: ``ControlError``; ``ControlRefusal/onionAddressCollision`` if tor serves the address already and doesn't
    ///   let it be taken back.
    package static func publish(
        key: OnionKey, ports: [VirtualPort], on connection: ControlConnection
    ) async throws(ControlError) -> OnionService {
        try await connection.send(.setEvents(ControlEvent.useful))
        let bootstrap = try await connection.ask(.getInfo([bootstrapKey])) {
            reply throws(ControlSyntaxError) -> Bootstrap in
            guard let phase = reply[bootstrapKey].flatMap(Bootstrap.init(phase:)) else {
                throw .unreadableReply(to: "GETINFO")
            }
            return phase
        }
        let address = try await add(key, ports, on: connection)
        return OnionService(key, address, bootstrap, connection)
    }

    private init(
        _ key: OnionKey, _ address: OnionAddress, _ bootstrap: Bootstrap, _ connection: ControlConnection
    ) {
        self.key = key.address == nil ? key.known(as: address) : key
        self.address = address
        self.connection = connection
        publication = Publication(of: address, bootstrap: bootstrap)
        grace = Timer { [unowned self] in
            change { $0.graceEnded(at: EventLoop.unixMilliseconds) }
        }
        connection.onEvent = { [weak self] event in self?.take(event) }
    }

    private static let bootstrapKey = "status/bootstrap-phase"

    private static func add(
        _ key: OnionKey, _ ports: [VirtualPort], on connection: ControlConnection
    ) async throws(ControlError) -> OnionAddress {
        let command = ControlCommand.addOnion(key: key, ports: ports)
        let told: OnionAddress
        do {
            told = try await connection.ask(command, Self.serviceID)
        } catch .refused(.onionAddressCollision) {
            // One that was left detached can be taken back; another connection's can't.
            guard let address = key.address else { throw .refused(.onionAddressCollision) }
            do {
                try await connection.send(.removeOnion(address))
            } catch .refused {
                throw .refused(.onionAddressCollision)
            }
            told = try await connection.ask(command, Self.serviceID)
        }
        guard key.address == nil || key.address == told else {
            try await connection.send(.removeOnion(told))
            throw .otherAddress
        }
        return told
    }

    private static func serviceID(_ reply: ControlReply) throws(ControlSyntaxError) -> OnionAddress {
        guard let address = reply["ServiceID"].flatMap({ OnionAddress($0) }) else {
            throw .unreadableReply(to: "ADD_ONION")
        }
        return address
    }

    /// Takes the service back: no new client finds it. Streams that are open go on.
    package func withdraw() async throws(ControlError) {
        grace.stop()
        onChange = nil
        try await connection.send(.removeOnion(address), within: .seconds(2))
    }

    private func take(_ event: ControlEvent) {
        change { $0.take(event, at: EventLoop.unixMilliseconds) }
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
}
