import Reactor
import Relay
import TLS

/// The certificate that our own HTTPS listeners show, and the limits of how often: a handshake costs a signature. Another
/// one is shown on the connections that come after it was set.
@EventLoop
package final class ServerCertificate {
    package var context: TLSContext
    let handshakes: Rate
    let handshakesPerAddress: Rate
    var used = Rate.Use()

    /// Makes the certificate of a server.
    ///
    /// - Parameters:
    ///   - context: The context of a server, with `http/1.1` or without ALPN.
    ///   - handshakes: Handshakes a second, on average, at all listeners together; twice as many at once.
    ///   - handshakesPerAddress: Handshakes a second of one address, on average; five times as many at once.
    package init(_ context: TLSContext, handshakes: Int = 200, perAddress handshakesPerAddress: Int = 10) {
        self.context = context
        self.handshakes = Rate(perSecond: Double(handshakes), burst: 2 * handshakes)
        self.handshakesPerAddress = Rate(
            perSecond: Double(handshakesPerAddress), burst: 5 * handshakesPerAddress)
    }
}
