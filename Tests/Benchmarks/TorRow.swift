import Client
import Lab
import Reactor
import Wire

/// What the node adds to tor's own time and work, over a private Tor network on this machine: five relays, a tor that
/// serves the node, and one for the peers.
///
/// tor's own time is that of a Ping, which the node answers without a disk. All of it shares two cores with the relays:
/// what takes a public network hundreds of milliseconds takes some here.
extension Rows {
    mutating func measureTor() async throws {
        let network = try await PrivateTorNetwork.start()
        do {
            try await measure(in: network)
        } catch {
            await network.stop()
            throw error
        }
        await network.stop()
    }

    struct Times {
        var ping: Latency?
        var receipt: Latency?
        var accepted: Latency?
    }

    /// CPU seconds.
    private struct Work {
        var node: Double
        var tor: Double
        /// Of the wall clock.
        var seconds: Double
    }

    private mutating func measure(in network: PrivateTorNetwork) async throws {
        let service = try await network.startTor()
        let client = try await network.startTor()
        guard let socks = client.socks else { throw BenchError("the peers' tor has no SOCKS port") }
        let (times, perRequest, perConnection, atRest) = try await bench.withNode(over: service) {
            (node: NodeUnderTest) async throws -> (Times, Work, Work, Work) in
            let route = PeerRoute.tor(socks: socks, onion: try await node.onionAddress(), port: 9999)
            let peer = try await BisqPeer.dial(route)
            let times = try await self.times(of: peer, count: isQuick ? 100 : 300)
            let perRequest = try await work(of: node, service) { try await load(peer) }
            let perConnection = try await work(of: node, service) {
                for _ in 0..<connections {
                    let other = try await BisqPeer.dial(route)
                    _ = try await other.ping()
                    other.close()
                }
            }
            let atRest = try await work(of: node, service) { try await Task.sleep(for: .seconds(rest)) }
            peer.close()
            return (times, perRequest, perConnection, atRest)
        }
        let named = [("Ping", times.ping), ("receipt", times.receipt), ("accepted", times.accepted)]
        for (name, times) in named {
            results.add("tor, \(name) p50", "ms", times?.median ?? .nan)
            results.add("tor, \(name) p99", "ms", times?.p99 ?? .nan)
        }
        results.add("tor, node per notification", "CPU us", perRequest.node * 1e6 / Double(requests))
        results.add("tor, its tor per notification", "CPU us", perRequest.tor * 1e6 / Double(requests))
        results.add("tor, node per connection", "CPU us", perConnection.node * 1e6 / Double(connections))
        // Connections come one after the other: what the node does meanwhile anyway is in their figure.
        let share = atRest.node / atRest.seconds * perConnection.seconds
        results.add("tor, of it at rest", "CPU us", share * 1e6 / Double(connections))
        results.add("tor, its tor per connection", "CPU us", perConnection.tor * 1e6 / Double(connections))
        // What Bisq 1 costs, which makes a connection for each notification.
        func both(_ part: (Work) -> Double) -> Double {
            part(perConnection) * 1e6 / Double(connections) + part(perRequest) * 1e6 / Double(requests)
        }
        let name = "tor, connection and notification, node"
        results.add(name, "CPU us", both(\.node))
        results.add("\(name) to its tor", "times", both(\.node) / both(\.tor))
    }

    private var requests: Int { isQuick ? 2_000 : 10_000 }
    private var connections: Int { isQuick ? 20 : 100 }
    private var rest: Int { isQuick ? 5 : 20 }

    /// Of the node and of its tor.
    private func work(
        of node: NodeUnderTest, _ tor: LabTor, _ body: () async throws -> Void
    ) async throws -> Work {
        let nodeBefore = try node.figures
        let torBefore = try ProcessFigures(of: tor.processID)
        let begun = ContinuousClock.now
        try await body()
        try await Task.sleep(for: .milliseconds(500))
        return Work(
            node: try node.figures.threadTime(since: nodeBefore),
            tor: try ProcessFigures(of: tor.processID).threadTime(since: torBefore),
            seconds: (ContinuousClock.now - begun) / .seconds(1))
    }

    /// One at a time, in turn: nothing waits for anything else.
    func times(of peer: BisqPeer, count: Int) async throws -> Times {
        var pings = LatencyCounter()
        var receipts = LatencyCounter()
        var outcomes = LatencyCounter()
        for _ in 0..<count {
            pings.record(nanoseconds: nanoseconds(try await peer.ping()))
            let request = request(awaitsOutcome: true)
            let start = EventLoop.now.nanoseconds
            // Delivered is the only response if it comes before the notification would be stored.
            var response = try await peer.send(request)
            receipts.record(nanoseconds: EventLoop.now.nanoseconds - start)
            if response.status == .stored { response = try await peer.nextResponse(to: request.uid) }
            guard response.status == .delivered else { throw BenchError("not delivered") }
            outcomes.record(nanoseconds: EventLoop.now.nanoseconds - start)
        }
        return Times(ping: pings.latency, receipt: receipts.latency, accepted: outcomes.latency)
    }

    /// 64 in flight on one connection.
    private func load(_ peer: BisqPeer) async throws {
        var sent: [String] = []
        for index in 0..<requests {
            let request = request(awaitsOutcome: false)
            try peer.post(request)
            sent.append(request.uid)
            if index >= 64 {
                guard try await peer.nextResponse(to: sent[index - 64]).status == .stored else {
                    throw BenchError("not stored")
                }
            }
        }
        for uid in sent.suffix(64) { _ = try await peer.nextResponse(to: uid) }
    }

    private func request(awaitsOutcome: Bool) -> MobileNotificationRequest {
        let number = UInt64.random(in: 0...UInt64.max)
        var request = MobileNotificationRequest()
        request.uid = String(number, radix: 16)
        request.platform = .ios
        request.deviceToken = deviceToken(number)
        request.message = RequestTemplate.message
        request.isUrgent = true
        request.isMutableContent = true
        request.isContentAvailable = true
        request.awaitsOutcome = awaitsOutcome
        return request
    }

    private func nanoseconds(_ duration: Duration) -> Int64 { Int64(duration / .nanoseconds(1)) }
}
