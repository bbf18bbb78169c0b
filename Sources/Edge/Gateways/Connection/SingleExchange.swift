import Encodings
import HTTP2
import Reactor
import TLS

/// One request over a connection of its own, which closes behind it.
@EventLoop
final class SingleExchange: ConnectionOwner {
    typealias Completion = @EventLoop (Result<GatewayAnswer, Failure>) -> Void

    struct Failure: Error, Equatable {
        let reason: String
        /// Whether the other end is not who it must be.
        let isUntrusted: Bool
        /// The word of a GOAWAY frame, by which Apple refuses a certificate.
        var goAwayWord: String?
    }

    private var connection: GatewayConnection?
    private let head: HTTP2Headers
    private let body: [UInt8]
    private var completion: Completion?
    private var isSent = false
    private var goAwayWord: String?
    private var answer: GatewayAnswer?

    /// Begins at once; `completion` is called once, later, and not after the exchange is let go.
    ///
    /// - Parameter version: The version of HTTP where ALPN doesn't say which.
    init(
        to url: GatewayURL, by egress: Egress, _ context: TLSContext?,
        version: GatewayConnection.HTTPVersion = .http1, head: HTTP2Headers, body: [UInt8],
        limits: ConnectionLife.Limits = ConnectionLife.Limits(),
        lookUp: @escaping Dial.Lookup = Dial.systemLookup, completion: @escaping Completion
    ) {
        self.head = head
        self.body = body
        self.completion = completion
        connection = GatewayConnection(
            to: url, by: egress, context, version: version, needsProof: false,
            limits: limits, lookUp: lookUp, owner: self)
    }

    func connectionChanged(_ connection: GatewayConnection) {
        guard !isSent, connection.room > 0 else { return }
        isSent = true
        connection.send(head, body: body) { [weak self] end, connection in
            if case .answered(let answer) = end { self?.answer = answer }
            connection.drain()
        }
    }

    func connection(_ connection: GatewayConnection, goesAwayFor word: String?) {
        goAwayWord = word ?? goAwayWord
    }

    func isSpare(_ connection: GatewayConnection) -> Bool { false }

    func connectionEnded(_ connection: GatewayConnection, _ end: ConnectionEnd) {
        let completion = completion
        self.completion = nil
        self.connection = nil
        if let answer {
            completion?(.success(answer))
        } else {
            let isUntrusted = if case .untrusted = end { true } else { false }
            completion?(
                .failure(Failure(reason: end.text, isUntrusted: isUntrusted, goAwayWord: goAwayWord)))
        }
    }
}
