import Encodings
import Reactor
import Wire

/// Sends requests over many connections, and takes the time of each answer.
@EventLoop
final class PeerLoad {
    struct Plan {
        var window: Int
        var count: Int
        var awaiting: Int
        /// A second, over all connections; 0: as the windows allow.
        var rate: Int
        var platform: Platform
        /// What stands before and behind the digits of each device token; `nil`: nothing.
        var address: (before: String, behind: String)?
    }

    private let plan: Plan
    private var template: RequestTemplate
    private var awaitingTemplate: RequestTemplate
    private var connections: [LoadingPeer] = []
    private var report = LoadReport()
    private var receipts = LatencyCounter()
    private var outcomes = LatencyCounter()
    /// Other runs against the same node use other numbers.
    private let firstNumber = UInt64.random(in: 0...UInt64.max)
    private var unfinished = 0
    private var startedAt: Int64 = 0
    private var whenDone: CheckedContinuation<Void, Never>?
    private let pace = Timer()

    init(_ plan: Plan) {
        self.plan = plan
        let address = plan.address ?? ("", "")
        template = RequestTemplate(awaitsOutcome: false, platform: plan.platform, address: address)
        awaitingTemplate = RequestTemplate(awaitsOutcome: true, platform: plan.platform, address: address)
        pace.action = { [unowned self] in keepPace() }
    }

    func run(_ peers: Int, to endpoint: Endpoint) async throws -> LoadReport {
        for _ in 0..<peers {
            connections.append(
                LoadingPeer(try await Stream.connect(to: endpoint, deadline: .seconds(10)), self))
        }
        startedAt = EventLoop.now.nanoseconds
        await withCheckedContinuation {
            whenDone = $0
            if plan.rate > 0 { keepPace() } else { for peer in connections { fill(peer) } }
        }
        report.seconds = Double(EventLoop.now.nanoseconds - startedAt) / 1e9
        report.receipt = receipts.latency
        report.outcome = outcomes.latency
        for connection in connections { connection.stream.close() }
        return report
    }

    // MARK: Out

    private func fill(_ peer: LoadingPeer) {
        while peer.sentAt.count < plan.window, report.sent < plan.count { send(by: peer) }
    }

    private func send(by peer: LoadingPeer) {
        let number = firstNumber &+ UInt64(report.sent)
        // The last ones wait for their outcome, so that nothing is on its way when the run is over.
        let awaitsOutcome =
            (plan.platform == .ios || plan.address != nil)
            && (plan.awaiting > 0 && report.sent % plan.awaiting == 0
                || report.sent >= plan.count - 4 * connections.count)
        report.sent += 1
        unfinished += 1
        peer.sentAt[number] = EventLoop.now.nanoseconds
        peer.stream.write {
            if awaitsOutcome {
                awaitingTemplate.append(number, to: &$0)
                peer.awaited.insert(number)
            } else {
                template.append(number, to: &$0)
            }
        }
    }

    /// Sends every millisecond what is due by then.
    private func keepPace() {
        let now = EventLoop.now.nanoseconds
        let due = min(plan.count, Int((now - startedAt) * Int64(plan.rate) / 1_000_000_000))
        while report.sent < due { send(by: connections[report.sent % connections.count]) }
        if report.sent < plan.count { pace.start(after: .milliseconds(1)) }
    }

    // MARK: In

    func take(_ response: MobileNotificationResponse, by peer: LoadingPeer) {
        guard let number = number(uid: response.requestUid), let sentAt = peer.sentAt[number] else { return }
        let time = EventLoop.now.nanoseconds - sentAt
        switch response.status {
        case .stored:
            report.stored += 1
            receipts.record(nanoseconds: time)
            guard !peer.awaited.contains(number) else { return }
        case .delivered:
            report.delivered += 1
            outcomes.record(nanoseconds: time)
            peer.awaited.remove(number)
        case .refused, .tokenDead, .expired, .busy, nil:
            report.failed += 1
            peer.awaited.remove(number)
        }
        peer.sentAt[number] = nil
        unfinished -= 1
        if plan.rate == 0 { fill(peer) }
        finishIfDone()
    }

    func lost(_ peer: LoadingPeer) {
        report.failed += peer.sentAt.count
        unfinished -= peer.sentAt.count
        peer.sentAt = [:]
        // Nobody else sends in its place: the run ends, as failed.
        report.failed += plan.count - report.sent
        report.sent = plan.count
        finishIfDone()
    }

    private func finishIfDone() {
        guard unfinished == 0, report.sent == plan.count else { return }
        whenDone?.resume()
        whenDone = nil
    }
}

/// One peer's connection.
@EventLoop
final class LoadingPeer: StreamHandler {
    let stream: Stream
    /// Monotonic nanoseconds, by the request's number.
    var sentAt: [UInt64: Int64] = [:]
    var awaited: Set<UInt64> = []
    private unowned let load: PeerLoad
    private var decoder = FrameDecoder(maximumLength: 65_536)

    init(_ stream: Stream, _ load: PeerLoad) {
        self.stream = stream
        self.load = load
        stream.handler = self
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        let bytes = Span<UInt8>(_bytes: bytes)
        var position = 0
        while let frame = try? decoder.nextFrame(in: bytes, from: &position) {
            let envelope =
                switch frame {
                case .within(let range): try? Envelope(parsing: bytes, in: range)
                case .assembled(let body): try? Envelope(parsing: body)
                }
            if case .notificationResponse(let response) = envelope?.message { load.take(response, by: self) }
        }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { load.lost(self) }
}
