import Crypto
import TLS

/// A client and a server joined in memory. What each sends is cut into pieces as the test says.
final class TLSPair {
    let client: TLSSession
    let server: TLSSession
    private(set) var atClient: [UInt8] = []
    private(set) var atServer: [UInt8] = []
    private var random: SystemRandomNumberGenerator
    /// Bytes of a piece on the wire.
    let pieces: ClosedRange<Int>
    /// What the server does with plain text.
    var onServer: ((RawSpan) -> Void)?

    init(client: TLSSession, server: TLSSession, pieces: ClosedRange<Int> = 16_384...16_384) {
        self.client = client
        self.server = server
        self.pieces = pieces
        random = SystemRandomNumberGenerator()
    }

    /// Carries bytes until neither end has more to say.
    func run() {
        while client.hasOutput || server.hasOutput {
            var bytes: [UInt8] = []
            client.takeOutput(into: &bytes)
            feed(bytes, to: server) {
                append($0, to: &atServer)
                onServer?($0)
            }
            bytes = []
            server.takeOutput(into: &bytes)
            feed(bytes, to: client) { append($0, to: &atClient) }
        }
    }

    private func append(_ span: RawSpan, to bytes: inout [UInt8]) {
        span.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    private func feed(_ bytes: [UInt8], to session: TLSSession, deliver: (RawSpan) -> Void) {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: pieces, using: &random))
            session.receive(bytes.span.bytes.extracting(start..<end), deliver: deliver)
            start = end
        }
    }
}

/// Certificates for the tests, made once.
struct TLSWorld: Sendable {
    let authority: CertificateAuthority
    let server: TLSContext
    let client: TLSContext

    static let shared = try! TLSWorld()

    init() throws {
        authority = try CertificateAuthority()
        server = try TLSContext(
            serverWith: try authority.server(names: ["push.example", "127.0.0.1", "::1"]).credentials,
            protocols: ["h2", "http/1.1"], clientAuthorities: .authorities(pem: try authority.rootPEM()))
        client = try TLSContext(trusting: .authorities(pem: try authority.rootPEM()), protocols: ["h2"])
    }

    func pair(to name: String = "push.example", pieces: ClosedRange<Int> = 16_384...16_384) throws -> TLSPair
    {
        TLSPair(client: try TLSSession(to: name, client), server: TLSSession(serving: server), pieces: pieces)
    }
}

extension Identity {
    var credentials: TLSCredentials {
        get throws { TLSCredentials(chainPEM: try chainPEM(), keyPEM: try keyPEM().bytes) }
    }
}
