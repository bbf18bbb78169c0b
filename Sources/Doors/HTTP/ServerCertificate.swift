import Reactor
import TLS

/// What a server of our own shows on its HTTPS listeners. Another one is shown on the connections that come after it
/// was set.
@EventLoop
package final class ServerCertificate {
    package var context: TLSContext

    /// - Parameter context: a server's, with `http/1.1` or without ALPN.
    package init(_ context: TLSContext) { self.context = context }
}
