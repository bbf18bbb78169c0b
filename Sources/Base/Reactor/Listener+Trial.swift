import CSupport
import Glibc

extension Listener {
    /// Binds a socket to a place for an instant, and listens to nobody there. Of a Unix socket nothing is changed: its
    /// folder must be open to this user, and nobody may listen at it.
    ///
    /// - Parameter places: Places that are this node's own already, in any spelling.
    /// - Returns: Why a listener could not be opened there; `nil`: it could, or the place is one of `places`.
    package static func trialFault(at endpoint: Endpoint, besides places: [Endpoint]) -> SystemError? {
        do throws(SystemError) {
            var address = try address(of: endpoint)
            for place in places {
                if let own = try? Listener.address(of: place), own.isSamePlace(as: address) { return nil }
            }
            guard case .unix(let path) = endpoint else {
                let socket = try bound(to: endpoint, &address)
                _ = consume socket
                return nil
            }
            guard !isListening(&address) else {
                throw SystemError("listen on \(endpoint)", code: EADDRINUSE)
            }
            guard access(PrivateFile.parent(of: path), W_OK | X_OK) == 0 else {
                throw SystemError("listen on \(endpoint)")
            }
            return nil
        } catch {
            return error
        }
    }
}
