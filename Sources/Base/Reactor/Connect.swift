import CEvent
import Glibc

/// Why there is no connection.
package enum ConnectError: Error, Equatable, CustomStringConvertible {
    /// The name could not be looked up now, or what was found is not to be used.
    case unknownHost(String, reason: String)
    /// The name servers say that there is none of this name.
    case noSuchHost(String)
    case failed(SystemError)
    case timedOut(Endpoint)

    package var description: String {
        switch self {
        case .unknownHost(let host, let reason): "no address for \(host): \(reason)"
        case .noSuchHost(let host): "no address for \(host): there is no such name"
        case .failed(let error): error.description
        case .timedOut(let endpoint): "connect to \(endpoint): no answer in time"
        }
    }
}

extension Stream {
    /// Opens a connection: tries each address of the name in turn until the deadline.
    ///
    /// - Parameters:
    ///   - deadline: For the lookup and all addresses together. One address gets half of what is left, so that one
    ///     that doesn't answer leaves time for the next.
    package static func connect(
        to endpoint: Endpoint, deadline: Duration = .seconds(30)
    ) async throws(ConnectError) -> Stream {
        let end = ContinuousClock.now + deadline
        var addresses = try await addresses(of: endpoint, deadline: deadline)
        var lastError = ConnectError.timedOut(endpoint)
        while !addresses.isEmpty {
            let left = end - .now
            guard left > .zero else { throw .timedOut(endpoint) }
            let address = addresses.removeFirst()
            do {
                return try await connect(
                    to: address, of: endpoint, deadline: addresses.isEmpty ? left : left / 2)
            } catch {
                lastError = error
            }
        }
        throw lastError
    }

    /// Returns the addresses of an endpoint, by a lookup of its own each time. A numeric one and a path need
    /// none.
    package static func addresses(
        of endpoint: Endpoint, deadline: Duration
    ) async throws(ConnectError) -> [SocketAddress] {
        switch endpoint {
        case .unix(let path):
            guard let address = SocketAddress(unixPath: path) else {
                throw .failed(SystemError("connect to \(endpoint)", code: ENAMETOOLONG))
            }
            return [address]
        case .host(let host, let port):
            if let numeric = Resolver.numericAddress(host, port: port) { return [numeric] }
            return try await Race.firstOf(deadline: deadline, late: .timedOut(endpoint)) {
                () async throws(ConnectError) in
                try await Resolver.addresses(of: host, port: port)
            }
        }
    }

    /// Connects to one address; `endpoint` names it in errors.
    package static func connect(
        to address: SocketAddress, of endpoint: Endpoint, deadline: Duration
    ) async throws(ConnectError) -> Stream {
        var address = address
        let descriptor: Descriptor
        do {
            descriptor = try Descriptor.socket(family: address.family, for: "connect to \(endpoint)")
        } catch {
            throw .failed(error)
        }
        let number = descriptor.number
        if address.withPointer({ Glibc.connect(number, $0, $1) }) != 0 {
            guard errno == EINPROGRESS else { throw .failed(SystemError("connect to \(endpoint)")) }
            var event: LoopEvent?
            let what = await withUnsafeContinuation { continuation in
                event = LoopEvent(descriptor: number, events: EV_WRITE) {
                    continuation.resume(returning: Int32($0))
                }
                event?.add(timeout: deadline)
            }
            event = nil
            guard what & EV_WRITE != 0 else { throw .timedOut(endpoint) }
            var code: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length)
            guard code == 0 else { throw .failed(SystemError("connect to \(endpoint)", code: code)) }
        }
        return Stream(descriptor)
    }
}

/// Waits for work that can't be cancelled, but no longer than a deadline. What comes late is dropped.
@EventLoop
private enum Race {
    static func firstOf<Value: Sendable>(
        deadline: Duration, late: ConnectError,
        _ work: @escaping @Sendable () async throws(ConnectError) -> Value
    ) async throws(ConnectError) -> Value {
        var timer: Timer?
        let result = await withUnsafeContinuation {
            (continuation: UnsafeContinuation<Result<Value, ConnectError>, Never>) in
            var isOver = false
            func finish(_ result: Result<Value, ConnectError>) {
                guard !isOver else { return }
                isOver = true
                continuation.resume(returning: result)
            }
            timer = Timer { finish(.failure(late)) }
            timer?.start(after: deadline)
            Task {
                do throws(ConnectError) { finish(.success(try await work())) } catch {
                    finish(.failure(error))
                }
            }
        }
        timer?.stop()
        return try result.get()
    }
}
