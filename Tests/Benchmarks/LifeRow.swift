import Client
import HTTP1
import Lab
import Reactor
import Wire

/// A Bisq in life, over a private Tor network on this machine: each notification comes on a new circuit, and a gateway
/// answers after 40 ms.
///
/// Relays, the peers' tors and the service's tor share the machine with the node: what it costs the node and its tor is
/// theirs, how long a circuit takes to build is the machine's.
extension Rows {
    mutating func measureLife() async throws {
        let network = try await PrivateTorNetwork.start()
        do {
            try await measureLife(in: network)
        } catch {
            await network.stop()
            throw error
        }
        await network.stop()
    }

    private mutating func measureLife(in network: PrivateTorNetwork) async throws {
        let service = try await network.startTor()
        var clients: [LabTor] = []
        for _ in 0..<4 { clients.append(try await network.startTor()) }
        let socks = clients.compactMap(\.socks)
        guard socks.count == clients.count else { throw BenchError("a peers' tor has no SOCKS port") }
        var measured = try await bench.withNode(delay: 40, over: service) {
            (node: NodeUnderTest) async throws -> [Crowd.Report] in
            let crowd = Crowd(node, service, socks, onion: try await node.onionAddress())
            try await crowd.warmUp()
            var reports: [Crowd.Report] = []
            for rate in [1, 10, 50] {
                for form in Crowd.Form.allCases {
                    reports.append(try await crowd.run(form, rate: rate, seconds: isQuick ? 5 : 20))
                }
            }
            reports.append(try await crowd.fill(circuits: isQuick ? 100 : 1000))
            return reports
        }
        // Another address each: what tor has in mind of the one before is of no use.
        for hasWork in [false, true] {
            measured.append(
                try await bench.withNode(delay: 40, hasWork: hasWork, over: service) {
                    (node: NodeUnderTest) async throws -> Crowd.Report in
                    let crowd = Crowd(node, service, socks, onion: try await node.onionAddress())
                    try await crowd.warmUp()
                    return try await crowd.flood(isQuick ? 60 : 300, hasWork: hasWork)
                })
        }
        for report in measured {
            for figure in report.figures {
                results.add("life, \(report.name), \(figure.name)", figure.unit, figure.value)
            }
        }
    }
}

/// Peers of which each dials anew for each notification.
@EventLoop
private final class Crowd {
    enum Form: String, CaseIterable {
        case frame
        case get = "GET"
    }

    struct Report {
        let name: String
        let figures: [(name: String, unit: String, value: Double)]
    }

    private let node: NodeUnderTest
    private let service: LabTor
    private let socks: [Endpoint]
    private let onion: String
    private var dials = 0

    init(_ node: NodeUnderTest, _ service: LabTor, _ socks: [Endpoint], onion: String) {
        (self.node, self.service, self.socks, self.onion) = (node, service, socks, onion)
    }

    private func route(_ port: UInt16) -> PeerRoute {
        dials += 1
        return .tor(socks: socks[dials % socks.count], onion: onion, port: port)
    }

    /// From the dial to the node's word that it is done, to a phone of its own.
    private func seconds(of form: Form) async throws -> Double {
        let begun = ContinuousClock.now
        let route = route(form == .frame ? 9999 : 80)
        let phone = try PairingToken(
            platform: .ios, descriptor: "iPhone 13", key: String(repeating: "k", count: 32),
            deviceToken: deviceToken(UInt64(dials)))
        let sender = BisqSender(to: phone)
        let message = PhoneText(
            sentDate: 1, title: "Trade", message: "A trade waits for you", kind: .trade)
        switch form {
        case .frame:
            let peer = try await BisqPeer.dial(route)
            defer { peer.close() }
            var request = try sender.request(for: message)
            request.awaitsOutcome = true
            var response = try await peer.send(request)
            if response.status == .stored { response = try await peer.nextResponse(to: request.uid) }
            guard response.status == .delivered else { throw BenchError("not delivered") }
        case .get:
            let answer = try await HTTPExchange.answer(
                to: try sender.httpRequest(for: message), host: onion, by: route)
            guard answer.status == 200 else { throw BenchError("answered \(answer.status)") }
        }
        return (ContinuousClock.now - begun) / .seconds(1)
    }

    /// The peers' tors have the descriptor, the node's tor its introduction circuits.
    func warmUp() async throws {
        for _ in 0..<2 * socks.count { _ = try await seconds(of: .frame) }
    }

    /// So many a second begin, whether those before have ended or not.
    func run(_ form: Form, rate: Int, seconds duration: Int) async throws -> Report {
        let count = rate * duration
        var times = LatencyCounter()
        var failed = 0
        let (nodeBefore, torBefore) = try figures()
        let begun = ContinuousClock.now
        await withTaskGroup(of: Double?.self) { @EventLoop group in
            for number in 0..<count {
                let due = begun + .milliseconds(1000 * number / rate)
                group.addTask {
                    try? await Task.sleep(until: due)
                    return try? await self.seconds(of: form)
                }
            }
            while let time = await group.next() {
                if let time { times.record(nanoseconds: Int64(time * 1e9)) } else { failed += 1 }
            }
        }
        let took = (ContinuousClock.now - begun) / .seconds(1)
        let (node, tor) = try figures()
        return Report(
            name: "\(form.rawValue) \(rate)/s",
            figures: [
                ("node", "CPU us", node.threadTime(since: nodeBefore) * 1e6 / Double(count)),
                ("its tor", "CPU us", tor.threadTime(since: torBefore) * 1e6 / Double(count)),
                (
                    "node to its tor", "times",
                    node.threadTime(since: nodeBefore) / tor.threadTime(since: torBefore)
                ),
                ("dial to done p50", "ms", times.latency?.median ?? .nan),
                ("dial to done p99", "ms", times.latency?.p99 ?? .nan),
                // Below the rate: what the tors of this machine can take.
                ("done", "1/s", Double(count - failed) / took),
                ("failed", "of 100", 100 * Double(failed) / Double(count)),
            ])
    }

    /// Dials, 32 at a time, and keeps what it has dialled.
    func fill(circuits: Int) async throws -> Report {
        let (nodeBefore, torBefore) = try figures()
        let begun = ContinuousClock.now
        var peers: [BisqPeer] = []
        await withTaskGroup(of: BisqPeer?.self) { @EventLoop group in
            for number in 0..<circuits {
                if number >= 32, let peer = await group.next() ?? nil { peers.append(peer) }
                let route = route(9999)
                group.addTask { try? await BisqPeer.dial(route) }
            }
            while let peer = await group.next() { if let peer { peers.append(peer) } }
        }
        let took = (ContinuousClock.now - begun) / .seconds(1)
        let (node, tor) = try figures()
        for peer in peers { peer.close() }
        return Report(
            name: "\(circuits) circuits",
            figures: [
                ("stand", "", Double(peers.count)), ("new", "1/s", Double(peers.count) / took),
                ("node, each", "KiB", (node.resident - nodeBefore.resident) / Double(peers.count)),
                ("its tor, each", "KiB", (tor.resident - torBefore.resident) / Double(peers.count)),
                ("node", "MB", node.resident / 1000), ("its tor", "MB", tor.resident / 1000),
            ])
    }

    /// New clients, as many as the machine's tors take: 32 on their way at any time, each gone when it is connected.
    func flood(_ count: Int, hasWork: Bool) async throws -> Report {
        let torBefore = try figures().tor
        let begun = ContinuousClock.now
        var times = LatencyCounter()
        var ninth: Duration?
        func note(_ time: Double?) {
            guard let time else { return }
            times.record(nanoseconds: Int64(time * 1e9))
            if times.latency?.count == UInt64(count * 9 / 10) { ninth = ContinuousClock.now - begun }
        }
        await withTaskGroup(of: Double?.self) { @EventLoop group in
            for number in 0..<count {
                if number >= 32 { note(await group.next() ?? nil) }
                let route = route(9999)
                group.addTask {
                    let begun = ContinuousClock.now
                    guard let peer = try? await BisqPeer.dial(route) else { return nil }
                    await peer.close()
                    return (ContinuousClock.now - begun) / .seconds(1)
                }
            }
            while let time = await group.next() { note(time) }
        }
        let tor = try figures().tor.threadTime(since: torBefore)
        let connected = Double(times.latency?.count ?? 0)
        return Report(
            name: "new clients \(hasWork ? "with" : "without") proof of work",
            figures: [
                // Of nine in ten: one that hangs is not what the machine takes.
                ("connected", "1/s", ninth.map { Double(count * 9 / 10) / ($0 / .seconds(1)) } ?? .nan),
                ("its tor", "CPU us", tor * 1e6 / connected),
                ("dial p50", "ms", times.latency?.median ?? .nan),
                ("dial p99", "ms", times.latency?.p99 ?? .nan),
                ("failed", "of 100", 100 * (Double(count) - connected) / Double(count)),
            ])
    }

    private func figures() throws -> (node: ProcessFigures, tor: ProcessFigures) {
        (try node.figures, try ProcessFigures(of: service.processID))
    }
}
