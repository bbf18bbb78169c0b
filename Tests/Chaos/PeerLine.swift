import Client
import Crypto
import Encodings
import Lab
import Reactor
import Wire

/// A peer's connection to the node, dialled again whenever it is gone; shared by some senders.
@EventLoop
final class PeerLine {
    private let route: @EventLoop () -> PeerRoute?
    private let books: Books
    private let attempt: Duration
    private var current: BisqPeer?
    private var dialling: Task<BisqPeer?, Never>?

    /// - Parameters:
    ///   - route: `nil` while the node's address is not known.
    ///   - attempt: for one attempt to dial.
    init(to route: @escaping @EventLoop () -> PeerRoute?, attempt: Duration, _ books: Books) {
        self.route = route
        self.attempt = attempt
        self.books = books
    }

    /// Sends again under the same uid, over other connections if need be, until the node has given a receipt.
    func send(_ request: MobileNotificationRequest, until deadline: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < deadline {
            switch await attempt(request, deadline: .seconds(10)) {
            case .receipt: return
            case .later(let time): await pause(time)
            case .nobody: await pause(.milliseconds(10))
            case .noAnswer: await pause(.milliseconds(5))
            }
        }
        throw ChaosError("no receipt for \(request.uid) in time")
    }

    enum Attempt {
        case receipt
        /// The node wants it again after that time.
        case later(Duration)
        case nobody, noAnswer
    }

    /// Sends once.
    func attempt(_ request: MobileNotificationRequest, deadline: Duration) async -> Attempt {
        guard let peer = await peer() else { return .nobody }
        do {
            let response = try await peer.send(request, deadline: deadline)
            guard response.status == .busy else { return .receipt }
            return .later(.milliseconds(min(response.retryAfterMilliseconds, 200)))
        } catch {
            drop(peer)
            return .noAnswer
        }
    }

    func close() {
        current?.close()
        current = nil
    }

    private func drop(_ peer: BisqPeer) {
        peer.close()
        if current === peer { current = nil }
    }

    private func peer() async -> BisqPeer? {
        if let current { return current }
        let task = dialling ?? Task { await dial() }
        dialling = task
        let peer = await task.value
        dialling = nil
        return peer
    }

    private func dial() async -> BisqPeer? {
        guard let route = route(),
            let peer = try? await BisqPeer.dial(route, attemptTimeout: attempt, deadline: attempt)
        else { return nil }
        peer.onResponse = { [books] in books.heard($0) }
        current = peer
        return peer
    }
}

/// Sends notifications to one device, one after the other, each until it is stored.
@EventLoop
final class Sender {
    private let books: Books
    private let line: PeerLine
    private let name: String
    private let platform: Platform
    private let deviceToken: String
    private let isDead: Bool
    private let app: String
    private var random: SplitMix
    private var count = 0

    private static let mostHeld = 40

    init(
        _ name: String, to platform: Platform, deviceToken: String, isDead: Bool = false,
        app: String = "", by line: PeerLine, _ books: Books, seed: UInt64
    ) {
        self.name = name
        self.platform = platform
        self.deviceToken = deviceToken
        self.isDead = isDead
        self.app = app
        self.line = line
        self.books = books
        random = SplitMix(seed: seed)
    }

    func send(_ count: Int, until deadline: ContinuousClock.Instant) async throws {
        // Of what waits for one phone there is a limit.
        let isHeld = app == ChaosWorld.blocked || deviceToken == ChaosWorld.browserNowhere
        let count = isHeld ? min(count, Sender.mostHeld - self.count) : count
        for _ in 0..<max(0, count) {
            let request = next()
            books.sending(request, isDead: isDead)
            try await line.send(request, until: deadline)
        }
    }

    private func next() -> MobileNotificationRequest {
        count += 1
        var request = MobileNotificationRequest()
        request.uid = "\(name)-\(count)"
        request.platform = platform
        request.app = app
        request.deviceToken = deviceToken
        request.message = Sender.message(saying: request.uid)
        request.isUrgent = true
        request.awaitsOutcome = Bool.random(using: &random)
        return request
    }

    /// Not encrypted: the books read the uid in it, and any bytes will do for the node.
    static func message(saying uid: String) -> String {
        Base64.encode(
            Array(uid.utf8) + Array(repeating: UInt8(ascii: " "), count: max(1, 40 - uid.utf8.count)))
    }
}
