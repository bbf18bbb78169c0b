import HTTP2
import Lab
import Reactor
import TLS

/// Accepts connections and does as little as it is told.
@EventLoop
final class IdleServer: StreamHandler {
    enum Behaviour {
        /// Never says a word.
        case mute
        /// Speaks TLS and sends SETTINGS, then reads nothing more.
        case freezing
        /// Sends SETTINGS that allow no request.
        case barring
        /// Speaks TLS with ALPN for something else.
        case otherProtocol
        /// Closes at once.
        case closing
        /// Says that the certificate of whoever connects is bad, as Apple does.
        case dismissing
    }

    private(set) var listener: Listener!
    private(set) var accepted = 0
    private let behaviour: Behaviour
    private let context: TLSContext
    private var peers: [ObjectIdentifier: (stream: Stream, tls: TLSSession, http: HTTP2ServerSession)] = [:]

    init(_ behaviour: Behaviour, _ lab: LabCredentials) throws {
        self.behaviour = behaviour
        context = try lab.serverContext(protocols: behaviour == .otherProtocol ? ["spdy"] : ["h2"])
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            accepted += 1
            guard behaviour != .closing else { return stream.close() }
            stream.handler = self
            let http = HTTP2ServerSession(maxConcurrentStreams: behaviour == .barring ? 0 : 10)
            peers[ObjectIdentifier(stream)] = (stream, TLSSession(serving: context), http)
        }
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        guard behaviour != .mute, let (_, tls, http) = peers[ObjectIdentifier(stream)] else { return }
        tls.receive(bytes) { http.receive($0) }
        if tls.state == .open {
            if behaviour == .dismissing {
                http.goaway(lastStream: 0, code: .noError, debug: Array(#"{"reason":"BadCertificate"}"#.utf8))
            }
            var plain: [UInt8] = []
            _ = http.takeOutput(into: &plain)
            tls.write(plain)
            if behaviour == .freezing, !http.takeEvents().isEmpty { stream.pauseReading() }
        }
        stream.write { tls.takeOutput(into: &$0) }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { peers[ObjectIdentifier(stream)] = nil }
}
