import Glibc
import Reactor

/// Ports of 127.0.0.1 that nobody has just now, all different, for what must be known by its port before it runs. They lie
/// below those that the system gives to outgoing connections, which could take one meanwhile.
package func freePorts(_ count: Int) throws(SystemError) -> [UInt16] {
    var held: [(port: UInt16, socket: CInt)] = []
    defer { for (_, socket) in held { close(socket) } }
    for _ in 0..<100 + count where held.count < count {
        let port = UInt16.random(in: 16_384..<32_768)
        let socket = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw SystemError("socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let isFree = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if isFree { held.append((port, socket)) } else { close(socket) }
    }
    guard held.count == count else { throw SystemError("find a free port", code: EADDRINUSE) }
    return held.map(\.port)
}

/// One of them.
package func freePort() throws(SystemError) -> UInt16 { try freePorts(1)[0] }
