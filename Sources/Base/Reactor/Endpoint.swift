import Glibc

/// A place to listen at or to connect to: a host and port, or a Unix socket.
package enum Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name or a numeric address (IPv6 without brackets).
    case host(String, port: UInt16)
    case unix(path: String)

    /// Reads `127.0.0.1:9051`, `[::1]:9051`, `localhost:9051` or `unix:/run/tor/control`.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard path.hasPrefix("/") else { return nil }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self = .host(String(host), port: port)
    }

    package var description: String {
        switch self {
        case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// Whether no other machine reaches it: `127.x.y.z`, `::1`, `localhost`, or a Unix socket.
    package var isLoopback: Bool {
        switch self {
        case .host(let host, _):
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return host == "localhost" || host == "::1"
                || (parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil })
        case .unix: return true
        }
    }
}

/// A socket address in the form the kernel takes.
package struct SocketAddress: Sendable {
    private var storage: sockaddr_storage
    private let length: socklen_t

    var family: CInt { CInt(storage.ss_family) }

    /// The IP address; `nil` for a Unix socket.
    package var networkAddress: NetworkAddress? { NetworkAddress(storage) }

    init(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
        storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { target in
            target.copyMemory(
                from: UnsafeRawBufferPointer(start: address, count: min(Int(length), target.count)))
        }
        self.length = length
    }

    /// Makes the address of a Unix socket; `nil` when the path is longer than the 107 bytes that the kernel
    /// takes.
    init?(unixPath path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let capacity = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < capacity else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                SocketAddress(copying: $0, length: socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    mutating func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        let length = length
        return withUnsafePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Whether a socket is bound to this address.
    func isBound(by descriptor: CInt) -> Bool {
        SocketAddress(boundBy: descriptor).map { isSamePlace(as: $0) } ?? false
    }

    /// Whether both are one place. A port that is not chosen yet is none.
    func isSamePlace(as other: SocketAddress) -> Bool {
        guard family == other.family else { return false }
        guard family == AF_UNIX else {
            return networkAddress == other.networkAddress && port == other.port && port != 0
        }
        return unixPath == other.unixPath
    }

    /// Reads the address that a socket is bound to.
    init?(boundBy descriptor: CInt) {
        storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let failed = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard failed == 0 else { return nil }
        self.length = length
    }

    /// Whether clients find what is bound to this address: somebody may have removed the file of a Unix socket.
    var canBeFound: Bool {
        guard family == AF_UNIX else { return true }
        var status = stat()
        return stat(String(decoding: unixPath, as: UTF8.self), &status) == 0
            && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// The bytes of a Unix socket's path.
    private var unixPath: [UInt8] {
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        return withUnsafeBytes(of: storage) { bytes in
            bytes[start..<MemoryLayout<sockaddr_un>.size].prefix { $0 != 0 }.map(\.self)
        }
    }

    private var port: UInt16? {
        withUnsafeBytes(of: storage) { bytes in
            switch family {
            case AF_INET: UInt16(bigEndian: bytes.loadUnaligned(as: sockaddr_in.self).sin_port)
            case AF_INET6: UInt16(bigEndian: bytes.loadUnaligned(as: sockaddr_in6.self).sin6_port)
            default: nil
            }
        }
    }

    /// Returns the local port of a bound socket.
    static func boundPort(of descriptor: CInt) -> UInt16? { SocketAddress(boundBy: descriptor)?.port }
}
