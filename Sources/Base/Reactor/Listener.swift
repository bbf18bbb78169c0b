import CEvent
import CSupport
import Glibc

/// Accepts connections on a TCP port or a Unix socket.
///
/// When the process is out of descriptors it stops accepting for a second instead of turning in a loop; the
/// connections wait in the kernel's backlog.
@EventLoop
package final class Listener {
    /// The endpoint that it listens at, with the real port when 0 was asked for.
    package let endpoint: Endpoint

    private let descriptor: Descriptor
    private let accept: @EventLoop (Stream) -> Void
    private var event: LoopEvent!
    private let pause = Timer()
    private var isPaused = false
    private let acceptsPerTurn: Int
    /// Whether what is accepted now was there before this listener.
    private var findsWaiting = false

    /// The places at which this process listens.
    package private(set) static var places: [Endpoint] = []
    /// Connections that this process found waiting at sockets that were handed over to it.
    package private(set) static var foundWaiting = 0

    /// Opens a listening socket.
    ///
    /// - Parameters:
    ///   - endpoint: A numeric address or `localhost`, or a Unix socket; an old socket file there is replaced
    ///     if nobody listens on it.
    ///   - acceptsPerTurn: The most connections accepted at once; after them whatever else waits on the loop
    ///     has its turn.
    package init(
        on endpoint: Endpoint, acceptsPerTurn: Int = 64, accept: @escaping @EventLoop (Stream) -> Void
    ) throws(SystemError) {
        var address = try Listener.address(of: endpoint)
        let descriptor: Descriptor
        if let inherited = Handover.shared.takeListener(at: address) {
            descriptor = inherited
            var waiting = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            findsWaiting = poll(&waiting, 1, 0) == 1
        } else {
            descriptor = try Listener.open(endpoint, &address)
        }
        if case .host(let host, port: 0) = endpoint, let port = SocketAddress.boundPort(of: descriptor.number)
        {
            self.endpoint = .host(host, port: port)
        } else {
            self.endpoint = endpoint
        }
        self.accept = accept
        self.acceptsPerTurn = acceptsPerTurn
        self.descriptor = descriptor
        event = LoopEvent(descriptor: self.descriptor.number, events: EV_READ | EV_PERSIST) {
            [unowned self] what in
            if Int32(what) & EV_READ != 0 { acceptWaiting() } else { pause.start(after: .seconds(1)) }
        }
        event.add()
        pause.action = { [unowned self] in event?.add() }
        Handover.shared.store(listener: self.descriptor.number)
        Listener.places.append(self.endpoint)
        for client in Handover.shared.takeClients(at: address) {
            Listener.foundWaiting += 1
            accept(client)
        }
    }

    /// Returns the address of a place; throws for a name, and for a path that is too long.
    static func address(of endpoint: Endpoint) throws(SystemError) -> SocketAddress {
        switch endpoint {
        case .host(let host, let port):
            let numeric = host == "localhost" ? "127.0.0.1" : host
            guard let found = Resolver.numericAddress(numeric, port: port) else {
                throw SystemError("listen on \(endpoint)", code: EADDRNOTAVAIL)
            }
            return found
        case .unix(let path):
            guard let made = SocketAddress(unixPath: path) else {
                throw SystemError("listen on \(endpoint)", code: ENAMETOOLONG)
            }
            return made
        }
    }

    private static func open(
        _ endpoint: Endpoint, _ address: inout SocketAddress
    ) throws(SystemError) -> Descriptor {
        if case .unix(let path) = endpoint, !isListening(&address) { unlink(path) }
        let descriptor = try bound(to: endpoint, &address)
        guard listen(descriptor.number, 1024) == 0 else { throw SystemError("listen on \(endpoint)") }
        if case .unix(let path) = endpoint {
            guard chmod(path, 0o600) == 0 else { throw SystemError("listen on \(endpoint)") }
        }
        return descriptor
    }

    /// The event leaves the loop before the descriptor is closed, and on the loop: its number is at once another's.
    isolated deinit {
        if event != nil { Handover.shared.forget(listener: descriptor.number) }
        event = nil
    }

    /// Stops listening; accepted connections live on. While the process hands on, whoever connects now waits for the
    /// successor.
    package func close() {
        guard event != nil else { return }
        event.remove()
        event = nil
        pause.stop()
        if let index = Listener.places.firstIndex(of: endpoint) { Listener.places.remove(at: index) }
        if Handover.shared.isHandingOn, let copy = Descriptor(copying: descriptor.number) {
            return Handover.shared.keep(listener: copy)
        }
        Handover.shared.forget(listener: descriptor.number)
        shutdown(descriptor.number, CInt(SHUT_RDWR))
        if case .unix(let path) = endpoint { unlink(path) }
    }

    /// Leaves what comes in the kernel's backlog for a while.
    package func pause(for duration: Duration) {
        guard event != nil else { return }
        event.remove()
        isPaused = true
        pause.start(after: duration)
    }

    private func acceptWaiting() {
        isPaused = false
        for _ in 0..<acceptsPerTurn {
            let accepted = onionbell_accept(descriptor.number)
            if accepted >= 0 {
                if findsWaiting { Listener.foundWaiting += 1 }
                accept(Stream(Descriptor(owning: accepted)))
                guard event != nil, !isPaused else { return }
                continue
            }
            switch errno {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                event.remove()
                pause.start(after: .seconds(1))
                return
            case ECONNABORTED, EINTR: continue
            default:  // EAGAIN: all accepted
                findsWaiting = false
                return
            }
        }
    }

    /// Makes a socket that is bound, and does not listen yet.
    static func bound(to endpoint: Endpoint, _ address: inout SocketAddress) throws(SystemError) -> Descriptor
    {
        let descriptor = try Descriptor.socket(family: address.family, for: "listen on \(endpoint)")
        var on: CInt = 1
        guard
            setsockopt(
                descriptor.number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size)) == 0,
            address.withPointer({ bind(descriptor.number, $0, $1) }) == 0
        else {
            throw SystemError("listen on \(endpoint)")
        }
        return descriptor
    }

    static func isListening(_ address: inout SocketAddress) -> Bool {
        guard let probe = try? Descriptor.socket(family: address.family, for: "probe") else { return false }
        return address.withPointer { connect(probe.number, $0, $1) } == 0
    }
}

extension Descriptor {
    /// Makes a non-blocking, close-on-exec stream socket.
    static func socket(family: CInt, for operation: @autoclosure () -> String) throws(SystemError)
        -> Descriptor
    {
        let number = onionbell_socket(family)
        guard number >= 0 else { throw SystemError(operation()) }
        return Descriptor(owning: number)
    }
}
