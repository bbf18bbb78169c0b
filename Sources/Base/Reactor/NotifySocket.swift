import CSupport
import Glibc

/// An unconnected Unix datagram socket with the address of the service manager that started this process: systemd's
/// notification protocol (sd_notify(3)), datagrams of lines to the socket that `$NOTIFY_SOCKET` names.
package final class NotifySocket: Sendable {
    private let descriptor: Descriptor
    private let address: sockaddr_un
    private let length: socklen_t

    /// The longest time for which a descriptor waits for a manager that reads nothing, in milliseconds.
    private static let patience: CInt = 500

    /// Opens a socket to the service manager; `nil`: the path is no address of ours.
    ///
    /// - Parameter path: absolute, or `@` and a name without a file (an abstract socket).
    package init?(_ path: String) {
        var bytes = Array(path.utf8)
        var address = sockaddr_un()
        guard let first = bytes.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@"),
            bytes.count > 1, bytes.count < MemoryLayout.size(ofValue: address.sun_path)
        else { return nil }
        let isAbstract = first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let number = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
        self.address = address
        // An abstract name ends with its last byte, a path with its zero.
        let path = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        length = socklen_t(path + bytes.count + (isAbstract ? 0 : 1))
    }

    /// Sends a text. A service manager that doesn't take it is no reason to stop.
    package func send(_ text: String) { _ = send(text, -1, for: 0) }

    /// Sends a text about a descriptor, and the descriptor where there is one.
    ///
    /// - Returns: Whether the service manager has it before it. What it makes of that it does not say.
    func send(_ text: String, with number: CInt?) -> Bool {
        send(text, number ?? -1, for: NotifySocket.patience)
    }

    private func send(_ text: String, _ number: CInt, for milliseconds: CInt) -> Bool {
        var address = address
        let bytes = Array(text.utf8)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                onionbell_send(descriptor.number, $0, length, bytes, bytes.count, number, milliseconds) == 0
            }
        }
    }
}
