import CSupport
import Glibc

/// Looks a host name up with the system's own resolver (hosts file, nsswitch, DNS), anew each time.
///
/// `getaddrinfo` blocks, so each lookup has a short-lived thread of its own; a caller that has stopped waiting leaves
/// it to end by itself.
enum Resolver {
    /// Looks up the addresses of a host.
    ///
    /// - Throws: ``ConnectError/unknownHost(_:reason:)`` or ``ConnectError/noSuchHost(_:)``.
    static func addresses(of host: String, port: UInt16) async throws(ConnectError) -> [SocketAddress] {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Lookup.Result, Never>) in
            Lookup(host: host, port: port, continuation: continuation).start()
        }
        switch result {
        case .success(let addresses): return addresses
        case .failure(let error): throw error
        }
    }

    static func numericAddress(_ host: String, port: UInt16) -> SocketAddress? {
        try? Lookup.lookUp(host: host, port: port, flags: AI_NUMERICHOST).get().first
    }
}

private final class Lookup: Sendable {
    typealias Result = Swift.Result<[SocketAddress], ConnectError>

    let host: String
    let port: UInt16
    let continuation: CheckedContinuation<Result, Never>

    init(host: String, port: UInt16, continuation: CheckedContinuation<Result, Never>) {
        self.host = host
        self.port = port
        self.continuation = continuation
    }

    func start() {
        var thread = pthread_t()
        // The thread owns one reference to this lookup and gives it back by `takeRetainedValue`.
        let context = Unmanaged.passRetained(self)
        let failed = pthread_create(
            &thread, nil,
            { context in
                onionbell_name_thread("lookup")
                let lookup = Unmanaged<Lookup>.fromOpaque(context!).takeRetainedValue()
                lookup.continuation.resume(
                    returning: Lookup.lookUp(host: lookup.host, port: lookup.port, flags: AI_ADDRCONFIG))
                return nil
            }, context.toOpaque())
        if failed == 0 {
            pthread_detach(thread)
        } else {
            context.release()
            continuation.resume(returning: .failure(.unknownHost(host, reason: "no thread for the lookup")))
        }
    }

    static func lookUp(host: String, port: UInt16, flags: CInt) -> Result {
        var hints = addrinfo()
        hints.ai_flags = flags
        hints.ai_protocol = CInt(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            guard code != EAI_NONAME else { return .failure(.noSuchHost(host)) }
            return .failure(.unknownHost(host, reason: String(cString: gai_strerror(code))))
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let info = entry {
            addresses.append(SocketAddress(copying: info.pointee.ai_addr, length: info.pointee.ai_addrlen))
            entry = info.pointee.ai_next
        }
        return .success(addresses)
    }
}
