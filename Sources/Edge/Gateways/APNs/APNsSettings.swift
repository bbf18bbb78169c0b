import Crypto
import Relay
import TLS

/// How an app proves to Apple that it may push.
package enum APNsCredentials: Sendable {
    /// A `.p8` key: a token goes with each request.
    case providerKey(ProviderKey)
    /// A `.p12` certificate, shown when a connection is opened. Ends after a year.
    case certificate(Identity)
}

/// One app at Apple's two hosts.
package struct APNsSettings: Sendable {
    /// The app's bundle id.
    package var topic: String
    package var credentials: APNsCredentials
    package var productionURL: GatewayURL
    package var sandboxURL: GatewayURL
    /// The authorities that may sign the hosts' certificates.
    package var trust: TLSTrust
    package var egress = Egress.direct

    package init(
        topic: String, credentials: APNsCredentials, productionURL: GatewayURL, sandboxURL: GatewayURL,
        trust: TLSTrust = .systemRoots
    ) {
        self.topic = topic
        self.credentials = credentials
        self.productionURL = productionURL
        self.sandboxURL = sandboxURL
        self.trust = trust
    }

    func url(of host: LaneHost) -> GatewayURL { host == .sandbox ? sandboxURL : productionURL }

    /// Seconds since 1970 until which the certificate is valid; `nil`: a key proves who we are.
    var certificateEnd: Int64? {
        if case .certificate(let identity) = credentials { identity.certificate.validUntil } else { nil }
    }

    /// Returns the context for connections: with the certificate, if that is the credential.
    func context() throws(GatewaySetupError) -> TLSContext {
        var shown: TLSCredentials?
        if case .certificate(let identity) = credentials {
            do throws(CryptoError) {
                shown = TLSCredentials(
                    chainPEM: try identity.chainPEM(), keyPEM: try identity.keyPEM().bytes)
            } catch {
                throw .credentials(error)
            }
        }
        return try trust.context(protocols: ["h2"], credentials: shown)
    }
}
