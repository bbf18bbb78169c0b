import Crypto
import Encodings
import Node
import Reactor
import Tor

/// The network's knowledge of a node whose address another one is to have: two nodes with one key take each other's
/// clients.
enum OldNode: Equatable {
    /// Directories have its descriptor: it runs, or ran within the last three hours.
    case published
    case absent
    /// Nobody could be asked, for this reason.
    case unknown(String)

    /// The longest time for a circuit of its own to the address.
    private static let patience: Duration = .seconds(60)

    /// Calls the address by this node's tor.
    ///
    /// - Parameter socks: Where tor takes connections; `nil`: it takes none.
    @EventLoop
    static func look(for address: String, by socks: Endpoint?) async -> OldNode {
        guard let socks else { return .unknown("tor takes no connections") }
        let route = SOCKS5Route(
            proxy: socks, host: address, port: 80,
            credentials: SOCKS5Credentials(user: Hex.encode(randomBytes(8)), password: "x"))
        do throws(SOCKS5Error) {
            let (stream, _) = try await Stream.connect(through: route, deadline: patience)
            stream.close()
            return .published
        } catch {
            return OldNode(error)
        }
    }

    init(_ error: SOCKS5Error) {
        self =
            switch error {
            case .refused(.descriptorNotFound): .absent
            // Who says these has read the descriptor.
            case .refused(.introductionFailed), .refused(.introductionTimedOut), .refused(.rendezvousFailed),
                .refused(.clientAuthorizationMissing), .refused(.clientAuthorizationWrong),
                .refused(.descriptorInvalid), .refused(.connectionRefused):
                .published
            case .refused, .lengthOutOfRange, .proxyUnreachable, .proxyEnded, .notSOCKS5, .methodRefused,
                .credentialsRefused, .timedOut:
                .unknown("\(error)")
            }
    }
}
