import Crypto
import TLS

/// Why a gateway can't be set up from its settings, in words for the operator.
package enum GatewaySetupError: Error, CustomStringConvertible {
    case tls(TLSError)
    case credentials(CryptoError)
    /// The service account's own `token_uri`.
    case tokenURI(GatewayURL.Fault)
    /// A certificate in place of a key, or the other way round: needs a restart.
    case otherKind

    package var description: String {
        switch self {
        case .tls(let error): "\(error)"
        case .credentials(let error): "\(error)"
        case .otherKind: "a certificate and a key can't take each other's place without a restart"
        case .tokenURI(let fault): "token_uri: \(fault)"
        }
    }
}

extension TLSTrust {
    /// Returns the context for connections to a gateway.
    func context(
        protocols: [String] = ["h2", "http/1.1"], credentials: TLSCredentials? = nil
    ) throws(GatewaySetupError) -> TLSContext {
        do throws(TLSError) {
            guard let credentials else { return try .shared(trusting: self, protocols: protocols) }
            return try TLSContext(trusting: self, protocols: protocols, credentials: credentials)
        } catch {
            throw .tls(error)
        }
    }
}
