import Glibc
import Reactor

/// Returns free ports of 127.0.0.1, all different, for a program whose port must be known before it runs. They lie below
/// the ports of outgoing connections, which could take one meanwhile. No other process gets one of them by this function until
/// this process ends.
package func freePorts(_ count: Int) throws(SystemError) -> [UInt16] {
    var held: [(port: UInt16, socket: CInt)] = []
    defer { for (_, socket) in held { close(socket) } }
    for _ in 0..<100 + count where held.count < count {
        let port = UInt16.random(in: 16_384..<32_768)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        guard let socket = try boundSocket(address, length: MemoryLayout<sockaddr_in>.size) else { continue }
        if try isClaimed(port) { held.append((port, socket)) } else { close(socket) }
    }
    guard held.count == count else { throw SystemError("find a free port", code: EADDRINUSE) }
    return held.map(\.port)
}

package func freePort() throws(SystemError) -> UInt16 { try freePorts(1)[0] }

/// Marks a port as this process' own, until it ends, by a Unix socket that has a name and no file (unix(7), "abstract"). Such
/// names are of one network namespace, as ports are.
private func isClaimed(_ port: UInt16) throws(SystemError) -> Bool {
    let name = Array("onionbell-port-\(port)".utf8)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // A zero stands before the name.
    withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name) }
    return try boundSocket(address, length: MemoryLayout<sa_family_t>.size + 1 + name.count) != nil
}

/// Returns a socket bound to the address, which the caller closes; `nil`: the address is another's.
private func boundSocket<Address>(_ address: Address, length: Int) throws(SystemError) -> CInt? {
    let isUnix = Address.self == sockaddr_un.self
    let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let socket = socket(isUnix ? AF_UNIX : AF_INET, kind, 0)
    guard socket >= 0 else { throw SystemError("socket") }
    let isBound = withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, socklen_t(length)) == 0 }
    }
    if isBound { return socket }
    close(socket)
    return nil
}
