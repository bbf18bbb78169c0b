import Reactor
import Wire

/// A Bisq peer that sends notification requests to a node over one connection, many at a time.
///
/// As the dialling side it pings once a minute, so that the node does not take the connection for dead.
@EventLoop
package final class BisqPeer {
    /// A hook for tests: called with every request that any peer of this process sends.
    package static var onPost: (@EventLoop (MobileNotificationRequest) -> Void)?

    /// Called with every response, also with one that a caller waits for. While this is set, responses that nobody waits
    /// for are not kept.
    package var onResponse: (@EventLoop (MobileNotificationResponse) -> Void)?

    private let network: BisqNetwork
    private let stream: Stream
    private var decoder = FrameDecoder(maximumLength: FrameDecoder.usualMaximumLength)
    private var waiters: [Key: Waiter] = [:]
    /// Responses still to come for a uid, and those that came before somebody asked.
    private var conversations: [String: Conversation] = [:]
    private var end: PeerError?
    private var closeWaiters: [UnsafeContinuation<PeerError, Never>] = []
    private let keepAlive = Timer()
    private static let keepAliveInterval = Duration.seconds(60)

    private enum Key: Hashable {
        case response(uid: String)
        case pong(nonce: Int32)
        case peers(nonce: Int32)
        case reply(uid: String)
    }

    private struct Waiter {
        let continuation: UnsafeContinuation<Result<Message, PeerError>, Never>
        let timer: Timer
    }

    private struct Conversation {
        var expected: Int
        var arrived: [MobileNotificationResponse] = []
    }

    /// Connects to a node.
    ///
    /// - Parameters:
    ///   - attemptTimeout: for one attempt over tor; more follow until the deadline.
    package static func dial(
        _ route: PeerRoute, network: BisqNetwork = .mainnet, attemptTimeout: Duration = .seconds(20),
        deadline: Duration = .seconds(120)
    ) async throws(PeerDialError) -> BisqPeer {
        let connection = try await route.dial(attemptTimeout: attemptTimeout, deadline: deadline)
        return BisqPeer(connection.stream, unread: connection.unread, network: network)
    }

    /// Makes a peer over a connection that stands: reading is paused, and `unread` came over it already.
    package init(_ stream: Stream, unread: [UInt8], network: BisqNetwork) {
        self.stream = stream
        self.network = network
        keepAlive.action = { [unowned self] in
            write(.ping(Ping(nonce: .random(in: .min ... .max))))
            keepAlive.start(after: Self.keepAliveInterval)
        }
        keepAlive.start(after: Self.keepAliveInterval)
        stream.handler = self
        receive(unread.span)
        stream.resumeReading()
    }

    // MARK: Sending

    /// Sends a request and waits for the first response to it.
    package func send(
        _ request: MobileNotificationRequest, deadline: Duration = .seconds(60)
    ) async throws(PeerError) -> MobileNotificationResponse {
        try post(request)
        do {
            return try await nextResponse(to: request.uid, deadline: deadline)
        } catch {
            // The same uid may be sent again: that is how a sender without an answer goes on.
            conversations[request.uid] = nil
            throw error
        }
    }

    /// Sends a request whose responses are taken from ``onResponse``, or asked for with ``nextResponse(to:deadline:)``.
    package func post(_ request: MobileNotificationRequest) throws(PeerError) {
        if let end { throw end }
        guard conversations[request.uid] == nil else { throw .uidInUse }
        conversations[request.uid] = Conversation(expected: request.awaitsOutcome ? 2 : 1)
        BisqPeer.onPost?(request)
        write(.notificationRequest(request))
    }

    /// Returns the response that follows the last one taken: for a request with `awaitsOutcome`, after
    /// ``send(_:deadline:)``, the outcome. It may have come before it is asked for.
    package func nextResponse(
        to uid: String, deadline: Duration = .seconds(60)
    ) async throws(PeerError) -> MobileNotificationResponse {
        guard let conversation = conversations[uid] else { throw .noOutcomeExpected }
        if let response = conversation.arrived.first {
            conversations[uid]?.arrived.removeFirst()
            forgetIfOver(uid)
            return response
        }
        guard case .notificationResponse(let response) = try await answer(.response(uid: uid), deadline)
        else {
            preconditionFailure("a waiter for a response got another message")
        }
        return response
    }

    /// Sends a Ping and waits for its Pong.
    /// - Returns: the time in between.
    package func ping(deadline: Duration = .seconds(60)) async throws(PeerError) -> Duration {
        let start = ContinuousClock.now
        let nonce = Int32.random(in: .min ... .max)
        write(.ping(Ping(nonce: nonce)))
        _ = try await answer(.pong(nonce: nonce), deadline)
        return .now - start
    }

    /// Asks for peers, as every Bisq does of every neighbour.
    package func peers(
        sender: NodeAddress? = nil, deadline: Duration = .seconds(60)
    ) async throws(PeerError) -> GetPeersResponse {
        let nonce = Int32.random(in: .min ... .max)
        write(
            .getPeersRequest(
                GetPeersRequest(
                    senderNodeAddress: sender, nonce: nonce, supportedCapabilities: [mandatoryCapability])))
        guard case .getPeersResponse(let response) = try await answer(.peers(nonce: nonce), deadline) else {
            preconditionFailure("a waiter for peers got another message")
        }
        return response
    }

    /// Leaves a reply with the node, on the way back.
    package func post(
        _ request: MobileReplyRequest, deadline: Duration = .seconds(60)
    ) async throws(PeerError) -> MobileNotificationResponse {
        write(.replyRequest(request))
        guard case .replyResponse(let response) = try await answer(.reply(uid: request.uid), deadline) else {
            throw .wrongAnswer
        }
        return response
    }

    /// Fetches what lies in a channel of the way back.
    package func replies(
        to fetch: MobileReplyFetch, deadline: Duration = .seconds(180)
    ) async throws(PeerError) -> MobileReplies {
        write(.replyFetch(fetch))
        guard case .replies(let replies) = try await answer(.reply(uid: fetch.uid), deadline) else {
            throw .wrongAnswer
        }
        return replies
    }

    package func write(_ message: Message) {
        write(Envelope(messageVersion: network.messageVersion, message: message).frame)
    }

    /// Sends any bytes: what an unfriendly peer does.
    package func write(_ bytes: [UInt8]) {
        stream.write(bytes)
    }

    // MARK: Ending

    /// Ends the connection at once.
    package func close() {
        finish(.closed)
    }

    /// Waits until the connection is over.
    package func whenClosed() async -> PeerError {
        if let end { return end }
        return await withUnsafeContinuation { closeWaiters.append($0) }
    }

    private func finish(_ error: PeerError) {
        guard end == nil else { return }
        end = error
        keepAlive.stop()
        stream.close()
        let waiting = (waiters, closeWaiters)
        waiters = [:]
        closeWaiters = []
        for waiter in waiting.0.values {
            waiter.timer.stop()
            waiter.continuation.resume(returning: .failure(error))
        }
        for waiter in waiting.1 { waiter.resume(returning: error) }
    }

    // MARK: Receiving

    private func answer(_ key: Key, _ deadline: Duration) async throws(PeerError) -> Message {
        if let end { throw end }
        guard waiters[key] == nil else { throw .uidInUse }
        let result = await withUnsafeContinuation { continuation in
            let timer = Timer { [unowned self] in
                waiters.removeValue(forKey: key)?.continuation.resume(
                    returning: .failure(.noAnswer(after: deadline)))
            }
            timer.start(after: deadline)
            waiters[key] = Waiter(continuation: continuation, timer: timer)
        }
        return try result.get()
    }

    private func resume(_ key: Key, with message: Message) -> Bool {
        guard let waiter = waiters.removeValue(forKey: key) else { return false }
        waiter.timer.stop()
        waiter.continuation.resume(returning: .success(message))
        return true
    }

    private func receive(_ bytes: Span<UInt8>) {
        var position = 0
        while end == nil {
            do throws(FrameError) {
                guard let frame = try decoder.nextFrame(in: bytes, from: &position) else { return }
                let envelope =
                    switch frame {
                    case .within(let range): try? Envelope(parsing: bytes, in: range)
                    case .assembled(let body): try? Envelope(parsing: body)
                    }
                guard let envelope else { return finish(.badEnvelope) }
                handle(envelope.message)
            } catch {
                finish(.badFrame(error))
            }
        }
    }

    private func handle(_ message: Message) {
        switch message {
        case .ping(let ping): write(.pong(Pong(requestNonce: ping.nonce)))
        case .pong(let pong): _ = resume(.pong(nonce: pong.requestNonce), with: message)
        case .getPeersResponse(let response): _ = resume(.peers(nonce: response.requestNonce), with: message)
        case .notificationResponse(let response): take(response)
        case .closeConnection(let close):
            finish(.closedByNode(PeerClose.allCases.first { $0.word == close.reason }))
        case .replyResponse(let response): _ = resume(.reply(uid: response.requestUid), with: message)
        case .replies(let replies): _ = resume(.reply(uid: replies.requestUid), with: message)
        case .bundle, .nestedBundle, .getPeersRequest, .notificationRequest, .replyRequest, .replyFetch,
            .swallowed, .unknown, .missing:
            break
        }
    }

    /// Takes a response. If it is to nothing that was asked, it is dropped.
    private func take(_ response: MobileNotificationResponse) {
        onResponse?(response)
        let uid = response.requestUid
        guard var conversation = conversations[uid] else { return }
        // After anything but "stored" nothing follows.
        conversation.expected = response.status == .stored ? conversation.expected - 1 : 0
        if !resume(.response(uid: uid), with: .notificationResponse(response)), onResponse == nil {
            conversation.arrived.append(response)
        }
        conversations[uid] = conversation
        forgetIfOver(uid)
    }

    private func forgetIfOver(_ uid: String) {
        guard let conversation = conversations[uid], conversation.expected <= 0, conversation.arrived.isEmpty
        else { return }
        conversations[uid] = nil
    }
}

extension BisqPeer: StreamHandler {
    package func stream(_ stream: Stream, received bytes: RawSpan) {
        receive(Span<UInt8>(_bytes: bytes))
    }

    package func stream(_ stream: Stream, ended streamEnd: StreamEnd) {
        finish(.connectionEnded(streamEnd))
    }
}
