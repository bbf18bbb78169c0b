import Glibc
import Reactor

/// A port of 127.0.0.1 that answers no caller, like a host whose packets are lost.
///
/// Its queue of callers has one place, which a caller of its own takes: the kernel drops what others send, and they repeat it.
/// Whoever listens at the port after it is gone hears those that still call.
final class DeafPort {
    private let listener: Descriptor
    private let caller: Descriptor

    init(at endpoint: Endpoint) throws(SystemError) {
        guard case .host(_, let port) = endpoint else {
            throw SystemError("go deaf at \(endpoint)", code: EADDRNOTAVAIL)
        }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        listener = Descriptor(owning: socket(AF_INET, kind, 0))
        caller = Descriptor(owning: socket(AF_INET, kind | Int32(SOCK_NONBLOCK.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let (listening, calling) = (listener.number, caller.number)
        var on: CInt = 1
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isDeaf = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size)) == 0
                    && bind(listening, address, length) == 0 && listen(listening, 0) == 0
                    && (connect(calling, address, length) == 0 || errno == EINPROGRESS)
            }
        }
        guard isDeaf else { throw SystemError("go deaf at \(endpoint)") }
    }
}
