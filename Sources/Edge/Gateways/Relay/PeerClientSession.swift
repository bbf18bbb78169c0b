import Encodings
import HTTP2
import Relay
import Wire

/// Many requests over one connection to another node's peer endpoint: frames, each request under its uid.
///
/// The head of a request has its uid in place of a path, and its body is the frame. The answer is the response that ends
/// it: its status is the number on the wire, its body the reason. That the other node has stored it ends nothing: it is
/// waited for what became of it.
final class PeerClientSession: GatheringClientSession {
    /// Requests at once. A node takes 256 of a connection.
    static let most = 32
    /// Pings that are answered over a connection, which lives as long as there is work.
    static let mostPings = 1000

    private let network: BisqNetwork
    private var decoder = FrameDecoder(maximumLength: GatewayAnswer.bodyLimit)
    var output: [UInt8] = []
    var events: [ExchangeEvent] = [.ready]
    private var tags: [ByteText: Int] = [:]
    private var pings = 0
    private var hasEnded = false

    init(_ network: BisqNetwork) { self.network = network }

    var freeStreams: Int { hasEnded ? 0 : PeerClientSession.most - tags.count }

    func submit(_ head: HTTP2Headers, body: [UInt8], tag: Int) {
        guard let uid = head[":path"], freeStreams > 0, tags[ByteText(uid)] == nil else {
            events.append(.unharmed(tag: tag))
            return
        }
        tags[ByteText(uid)] = tag
        output += body
    }

    /// Gives a request up. The other node may have it, and is asked again under the same uid. What it says of
    /// it later goes to nobody.
    func cancel(tag: Int) {
        guard let uid = tags.first(where: { $0.value == tag })?.key else { return }
        tags[uid] = nil
        events.append(.unclear(tag: tag, .own(.answerTimeout)))
    }

    func ping() { write(.ping(Ping(nonce: .random(in: .min ... .max)))) }

    func receive(_ bytes: RawSpan) {
        let bytes = Span<UInt8>(_bytes: bytes)
        var position = 0
        while !hasEnded {
            do throws(FrameError) {
                guard let frame = try decoder.nextFrame(in: bytes, from: &position) else { return }
                switch frame {
                case .within(let range): take(try? Envelope(parsing: bytes, in: range))
                case .assembled(let body): take(try? Envelope(parsing: body))
                }
            } catch {
                end(.own(.badFrame))
            }
        }
    }

    func streamEnded() { end(tags.isEmpty ? nil : .own(.connectionLost)) }

    private func write(_ message: Message) {
        Envelope(messageVersion: network.messageVersion, message: message).appendFrame(to: &output)
    }

    private func take(_ envelope: Envelope?) {
        guard let envelope else { return end(.own(.badFrame)) }
        switch envelope.message {
        case .notificationResponse(let response): take(response)
        case .ping(let ping):
            pings += 1
            guard pings <= PeerClientSession.mostPings else { return end(.own(.tooManyPings)) }
            write(.pong(Pong(requestNonce: ping.nonce)))
        case .pong: events.append(.alive)
        case .closeConnection(let close): take(close)
        // A neighbour of Bisq's kind may say more, and nothing of it is for us.
        case .bundle, .nestedBundle, .getPeersRequest, .getPeersResponse, .notificationRequest,
            .replyRequest, .replyResponse, .replyFetch, .replies, .swallowed, .unknown, .missing:
            break
        }
    }

    private func take(_ response: MobileNotificationResponse) {
        guard response.status != .stored, let tag = tags.removeValue(forKey: ByteText(response.requestUid))
        else {
            return
        }
        let wait = max(0, min(response.retryAfterMilliseconds, 86_400_000))
        events.append(
            .answered(
                tag: tag,
                GatewayAnswer(
                    status: Int(response.statusNumber), retryAfter: wait > 0 ? .milliseconds(wait) : nil,
                    body: Array(response.reason.utf8.prefix(64)))))
    }

    /// Takes the message that closes the connection: the peer says why, and closes. A node of another network
    /// has read nothing but the version.
    private func take(_ close: CloseConnectionMessage) {
        events.append(.goAway(debugData: Array(close.reason.utf8.prefix(64))))
        guard close.reason == PeerClose.wrongNetworkID.word else { return end(nil) }
        for tag in tags.values { events.append(.unharmed(tag: tag)) }
        tags = [:]
        end(nil)
    }

    private func end(_ reason: ExchangeReason?) {
        guard !hasEnded else { return }
        hasEnded = true
        for tag in tags.values { events.append(.unclear(tag: tag, reason ?? .own(.connectionLost))) }
        tags = [:]
        events.append(.ended(reason))
    }
}
