import Reactor
import Testing
import Wire

@testable import Client

/// A node as small as can be: the session of the peer wire on a real socket, and answers as told.
@EventLoop
private final class SmallNode: StreamHandler {
    private(set) var endpoint: Endpoint!
    private(set) var requests: [MobileNotificationRequest] = []
    private(set) var streams: [Stream] = []
    var answers: @EventLoop (MobileNotificationRequest) -> [MobileNotificationResponse] = { request in
        [MobileNotificationResponse(requestUid: request.uid, status: .stored)]
    }
    /// To what comes on the way back: nothing that an honest node says.
    var answersToReplies: @EventLoop (PeerTurn.WayBack) -> Message? = { _ in nil }
    private var sessions: [ObjectIdentifier: PeerSession] = [:]
    private var listener: Listener!

    init() throws {
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            adopt(stream)
        }
        endpoint = listener.endpoint
    }

    private func adopt(_ stream: Stream) {
        stream.handler = self
        streams.append(stream)
        sessions[ObjectIdentifier(stream)] = PeerSession(network: .mainnet)
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        var turn = PeerTurn()
        sessions[ObjectIdentifier(stream)]?.receive(bytes, at: EventLoop.now, into: &turn)
        stream.write(turn.replies)
        for request in turn.requests {
            requests.append(request)
            for answer in answers(request) { send(.notificationResponse(answer), on: stream) }
        }
        for asked in turn.wayBack {
            if let answer = answersToReplies(asked) { send(answer, on: stream) }
        }
        if turn.close != nil { stream.closeWhenFlushed() }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) {}

    func send(_ message: Message, on stream: Stream) {
        stream.write(Envelope(messageVersion: 10, message: message).frame)
    }
}

/// A SOCKS5 proxy that does with each connection what its list says, then forwards, and notes the user names.
@EventLoop
private final class SmallProxy {
    enum Behaviour { case forward, silence, refuse(UInt8) }

    private(set) var endpoint: Endpoint!
    private(set) var users: [String] = []
    private(set) var hosts: [String] = []
    private var behaviours: [Behaviour]
    private let target: Endpoint
    private var listener: Listener!
    private var connections: [Connection] = []

    init(to target: Endpoint, _ behaviours: [Behaviour]) throws {
        self.target = target
        self.behaviours = behaviours
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            connections.append(Connection(stream, of: self))
        }
        endpoint = listener.endpoint
    }

    @EventLoop
    private final class Connection: StreamHandler {
        private let client: Stream
        private var far: Stream?
        private unowned let proxy: SmallProxy
        private var step = 0

        init(_ client: Stream, of proxy: SmallProxy) {
            self.client = client
            self.proxy = proxy
            client.handler = self
        }

        func stream(_ stream: Stream, received bytes: RawSpan) {
            if step == 3 { return (stream === client ? far! : client).write(bytes) }
            let bytes = bytes.withUnsafeBytes { Array($0) }
            step += 1
            switch step {
            case 1: client.write([5, 2])
            case 2:
                proxy.users.append(String(decoding: bytes[2..<2 + Int(bytes[1])], as: UTF8.self))
                client.write([1, 0])
            default:
                proxy.hosts.append(String(decoding: bytes[5..<5 + Int(bytes[4])], as: UTF8.self))
                answer(proxy.behaviours.isEmpty ? .forward : proxy.behaviours.removeFirst())
            }
        }

        private func answer(_ behaviour: Behaviour) {
            switch behaviour {
            case .silence: break
            case .refuse(let code): client.write([5, code, 0, 1, 0, 0, 0, 0, 0, 0])
            case .forward:
                Task { @EventLoop in
                    let stream = try await Stream.connect(to: proxy.target)
                    stream.handler = self
                    far = stream
                    client.write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
                }
            }
        }

        func stream(_ stream: Stream, ended end: StreamEnd) {
            client.close()
            far?.close()
        }
    }
}

@EventLoop
@Suite struct BisqPeerTests {
    private func request(_ uid: String, awaitsOutcome: Bool = false) -> MobileNotificationRequest {
        var request = MobileNotificationRequest()
        request.uid = uid
        request.awaitsOutcome = awaitsOutcome
        return request
    }

    @Test func anotherNetworkIsToldWithWhatToSet() {
        let words = "\(PeerError.closedByNode(.wrongNetworkID))"
        #expect(
            words.contains("WRONG_NETWORK_ID") && words.contains("--network")
                && words.contains("onion.network"))
    }

    @Test func aRequestGetsItsOwnResponseAmongMany() async throws {
        let node = try SmallNode()
        let peer = try await BisqPeer.dial(.direct(node.endpoint))
        let sent = (0..<100).map { index in
            Task { @EventLoop in try await peer.send(request("uid-\(index)")) }
        }
        for (index, task) in sent.enumerated() {
            let expected = MobileNotificationResponse(requestUid: "uid-\(index)", status: .stored)
            #expect(try await task.value == expected)
        }
        #expect(Set(node.requests.map(\.uid)).count == 100)
        peer.close()
    }

    @Test func theOutcomeFollowsTheReceiptAlsoWhenItComesEarly() async throws {
        let node = try SmallNode()
        node.answers = { request in
            [
                MobileNotificationResponse(requestUid: request.uid, status: .stored),
                MobileNotificationResponse(requestUid: "never asked", status: .stored),
                MobileNotificationResponse(
                    requestUid: request.uid, status: .tokenDead, reason: "Unregistered"),
            ]
        }
        let peer = try await BisqPeer.dial(.direct(node.endpoint))
        #expect(try await peer.send(request("1", awaitsOutcome: true)).status == .stored)
        _ = try await peer.ping()
        let outcome = try await peer.nextResponse(to: "1")
        #expect(outcome.status == .tokenDead)
        #expect(outcome.reason == "Unregistered")
        await #expect(throws: PeerError.noOutcomeExpected) { try await peer.nextResponse(to: "1") }
        peer.close()
    }

    @Test func aRefusalIsTheEndOfARequest() async throws {
        let node = try SmallNode()
        node.answers = {
            [MobileNotificationResponse(requestUid: $0.uid, status: .refused, reason: "BadMessage")]
        }
        let peer = try await BisqPeer.dial(.direct(node.endpoint))
        #expect(try await peer.send(request("1", awaitsOutcome: true)).reason == "BadMessage")
        await #expect(throws: PeerError.noOutcomeExpected) { try await peer.nextResponse(to: "1") }
        peer.close()
    }

    @Test func aRequestWithoutAnswerMaySoonBeSentAgain() async throws {
        let node = try SmallNode()
        node.answers = { _ in [] }
        let peer = try await BisqPeer.dial(.direct(node.endpoint))
        await #expect(throws: PeerError.noAnswer(after: .milliseconds(50))) {
            try await peer.send(request("1"), deadline: .milliseconds(50))
        }
        node.answers = { [MobileNotificationResponse(requestUid: $0.uid, status: .busy)] }
        #expect(try await peer.send(request("1")).status == .busy)
        peer.close()
    }

    @Test func pingsAreAnsweredAndPeersAskedFor() async throws {
        let node = try SmallNode()
        let peer = try await BisqPeer.dial(.direct(node.endpoint))
        #expect(try await peer.ping() > .zero)
        let peers = try await peer.peers(sender: NodeAddress(hostName: "a.onion", port: 9_999))
        #expect(peers.reportedPeers.isEmpty)
        #expect(peers.supportedCapabilities == [9])
        let pings = PongRecorder()
        node.streams[0].handler = pings
        node.send(.ping(Ping(nonce: 77)), on: node.streams[0])
        #expect(
            await pings.firstFrame()
                == Envelope(messageVersion: 10, message: .pong(Pong(requestNonce: 77))).frame)
        peer.close()
    }

    @Test func aClosingNodeSaysWhyToAllWhoWait() async throws {
        let node = try SmallNode()
        let peer = try await BisqPeer.dial(.direct(node.endpoint), network: .testnet)
        await #expect(throws: PeerError.closedByNode(.wrongNetworkID)) { try await peer.send(request("1")) }
        #expect(await peer.whenClosed() == .closedByNode(.wrongNetworkID))
        await #expect(throws: PeerError.closedByNode(.wrongNetworkID)) { try await peer.send(request("2")) }
    }

    @Test func garbageFromTheNodeEndsTheConnection() async throws {
        let node = try SmallNode()
        let peer = try await BisqPeer.dial(.direct(node.endpoint))
        _ = try await peer.ping()
        // "H" announces 72 bytes.
        let garbage = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
        node.streams[0].write(Array(garbage.utf8))
        #expect(await peer.whenClosed() == .badEnvelope)
    }

    @Test func anAnswerToAnotherQuestionIsAnErrorAndTheConnectionGoesOn() async throws {
        let node = try SmallNode()
        node.answersToReplies = { asked in
            switch asked {
            case .post(let post): .replies(MobileReplies(requestUid: post.uid))
            case .fetch(let fetch):
                .replyResponse(MobileNotificationResponse(requestUid: fetch.uid, status: .stored))
            }
        }
        let peer = try await BisqPeer.dial(.direct(node.endpoint))
        var post = MobileReplyRequest()
        (post.uid, post.sealed) = ("1", [1])
        var fetch = MobileReplyFetch()
        fetch.uid = "2"
        await #expect(throws: PeerError.wrongAnswer) { try await peer.post(post) }
        await #expect(throws: PeerError.wrongAnswer) { try await peer.replies(to: fetch) }
        #expect(try await peer.ping() > .zero)
        peer.close()
    }

    @Test func anAttemptThatHangsIsFollowedByOneOverAnotherCircuit() async throws {
        let node = try SmallNode()
        let proxy = try SmallProxy(to: node.endpoint, [.silence, .refuse(0xf2)])
        let peer = try await BisqPeer.dial(
            .tor(socks: proxy.endpoint, onion: "abc.onion", port: 9_999), attemptTimeout: .milliseconds(500))
        #expect(try await peer.send(request("1")).status == .stored)
        // On a busy machine a good attempt may take too long as well.
        #expect(proxy.users.count >= 3)
        #expect(Set(proxy.users).count == proxy.users.count)
        #expect(Set(proxy.hosts) == ["abc.onion"])
        peer.close()
    }

    @Test func whatNoFurtherAttemptCanMendIsTriedOnce() async throws {
        let node = try SmallNode()
        let proxy = try SmallProxy(to: node.endpoint, [.refuse(0xf6)])
        await #expect(throws: PeerDialError.tor(.refused(.onionAddressInvalid), attempts: 1)) {
            try await BisqPeer.dial(
                .tor(socks: proxy.endpoint, onion: "abc.onion", port: 9_999), attemptTimeout: .seconds(3600))
        }
    }

    /// No circuit can help where no tor listens: it is told at once, with what to do.
    @Test func aTorThatIsNotThereIsTriedOnce() async throws {
        let error = await #expect(throws: PeerDialError.self) {
            try await BisqPeer.dial(
                .tor(socks: .host("127.0.0.1", port: 1), onion: "abc.onion", port: 9_999),
                attemptTimeout: .seconds(3600))
        }
        guard case .tor(.proxyUnreachable, attempts: 1) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("127.0.0.1:1") == true)
        #expect(error?.description.hasSuffix("start tor, or name its SOCKS port with --socks") == true)
    }

    @Test func dialsEndAtTheirDeadline() async throws {
        let node = try SmallNode()
        let proxy = try SmallProxy(to: node.endpoint, [SmallProxy.Behaviour](repeating: .silence, count: 20))
        let error = await #expect(throws: PeerDialError.self) {
            try await BisqPeer.dial(
                .tor(socks: proxy.endpoint, onion: "abc.onion", port: 9_999),
                attemptTimeout: .milliseconds(100), deadline: .seconds(1))
        }
        guard case .tor(.timedOut, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}

/// Waits for the first bytes on a stream.
@EventLoop
private final class PongRecorder: StreamHandler {
    private var received: [UInt8] = []
    private var continuation: CheckedContinuation<[UInt8], Never>?

    func firstFrame() async -> [UInt8] {
        if !received.isEmpty { return received }
        return await withCheckedContinuation { continuation = $0 }
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        bytes.withUnsafeBytes { received.append(contentsOf: $0) }
        continuation?.resume(returning: received)
        continuation = nil
    }

    func stream(_ stream: Stream, ended end: StreamEnd) {}
}
