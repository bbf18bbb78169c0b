import ArgumentParser
import Client
import Lab
import Reactor
import Wire

/// `onionbell-chaos flood`: more comes in than can ever go out.
struct FloodCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "flood", abstract: "Peers that pour in while no gateway answers: the node's memory.",
        discussion: """
            Some peers send as fast as they are answered; one sends pings and reads no answer. The node lets only so \
            many wait, and says busy to the others. Exit status: 0 only if its memory rose by less than a tenth from \
            the second quarter of the time to the last, and all that it stored was delivered in the end.
            """)

    @Option(help: "How long they pour.") var seconds = 60
    @Option(help: "How many notifications the node lets wait.") var waiting = 5000
    @Option(help: "The project's torrc.") var torrc = "torrc"

    func validate() throws {
        guard seconds >= 8 else { throw ValidationError("--seconds is a number from 8 on") }
    }

    func run() async throws {
        Chaos.prepare()
        // Four peers are to bring what it takes many circuits for: each of them would be read more slowly.
        let run = try await FloodRun(
            ChaosWorld(.loopback, torrc: torrc, waiting: waiting, hasLiftedLimits: true),
            time: .seconds(seconds))
        try await run.run()
        for line in await Table.lines(run.rows) { say(line) }
        let violations = await run.world.books.violations
        for violation in violations.prefix(40) { say("VIOLATION: \(violation)") }
        await run.world.close()
        guard violations.isEmpty else { throw ExitCode(1) }
    }
}

/// The flood and the way out of it.
@EventLoop
final class FloodRun {
    let world: ChaosWorld
    private let time: Duration
    private(set) var rows = [["after", "resident", "sent", "stored", "busy", "unread by the deaf peer"]]
    private var sent = 0
    private var stored = 0
    private var busy = 0
    private var peers: [BisqPeer] = []
    private var isOver = false

    private static let peers = 4
    private static let window = 200
    private static let devices = 1000
    private static let samples = 12
    private static let longestDrain: Duration = .seconds(300)
    private static let deafOutput = 262_144

    init(_ world: ChaosWorld, time: Duration) {
        self.world = world
        self.time = time
    }

    func run() async throws {
        let silence = FaultWords(text: "silent")
        world.gateway.setFaults(apple: silence, google: silence, seed: 1)
        try world.startNode()
        await world.node?.wait { $0.exit != nil || $0.lines.contains { $0.contains("node.started") } }
        guard let route = world.route, case .direct(let endpoint) = route else {
            throw ChaosError("no route to the node")
        }
        let pouring = (0..<FloodRun.peers).map { _ in Task { try await pour(by: route) } }
        let deaf = Task { try await pingWithoutReading(endpoint) }
        var memory: [Int] = []
        for sample in 1...FloodRun.samples {
            let before = sent
            await pause(time / FloodRun.samples)
            if sent == before { world.books.violate("no peer had an answer in \(time / FloodRun.samples)") }
            guard let resident = world.node?.residentMemory else {
                throw ChaosError("the node ended by itself")
            }
            memory.append(resident)
            let after = Int64(time * sample / FloodRun.samples / .nanoseconds(1)).seconds
            rows.append(
                ["\(after) s", "\(resident / 1024) MiB", "\(sent)", "\(stored)", "\(busy)", "\(pings)"])
        }
        isOver = true
        try await deaf.value
        for peer in peers { peer.close() }
        for peer in pouring { try await peer.value }
        let quarter = FloodRun.samples / 4
        let before = memory[quarter..<2 * quarter].max() ?? 0
        let last = memory[(3 * quarter)...].max() ?? 0
        if last > before + before / 10 { world.books.violate("memory rose from \(before) to \(last) KiB") }
        try await drain()
    }

    /// Pours by a peer that comes again whenever the node closes it: no setting lets a peer bring more than 65,535 frames in ten
    /// seconds.
    private func pour(by route: PeerRoute) async throws {
        while !isOver {
            let peer = try await BisqPeer.dial(route, deadline: .seconds(10))
            guard !isOver else { return peer.close() }
            peers.append(peer)
            pour(by: peer)
            _ = await peer.whenClosed()
            peers.removeAll { $0 === peer }
            await pause(.milliseconds(100))
        }
    }

    /// Sends as many as are answered, whatever the answer.
    private func pour(by peer: BisqPeer) {
        peer.onResponse = { [unowned peer, self] response in
            if response.status == .busy { busy += 1 }
            if response.status == .stored {
                stored += 1
                world.books.sending(request(response.requestUid), isDead: false)
                world.books.heard(response)
            }
            if !isOver { post(by: peer) }
        }
        for _ in 0..<FloodRun.window { post(by: peer) }
    }

    private func post(by peer: BisqPeer) {
        sent += 1
        do { try peer.post(request("flood-\(sent)")) } catch { world.books.violate("\(error)") }
    }

    private func request(_ uid: String) -> MobileNotificationRequest {
        var request = MobileNotificationRequest()
        request.uid = uid
        let number = (Int(uid.dropFirst("flood-".count)) ?? 0) % FloodRun.devices
        request.platform = number.isMultiple(of: 2) ? .ios : .android
        let digits = String(number)
        let token = String(repeating: "0", count: 64 - digits.count) + digits
        request.deviceToken = request.platform == .android ? "lab:\(token)" : token
        request.message = Sender.message(saying: uid)
        request.isUrgent = true
        return request
    }

    // MARK: The deaf peer

    /// Pings that the kernel has taken.
    private var pings = 0

    private func pingWithoutReading(_ endpoint: Endpoint) async throws {
        let stream = try await Stream.connect(to: endpoint, deadline: .seconds(10))
        stream.pauseReading()
        let ping = Envelope(
            messageVersion: BisqNetwork.mainnet.messageVersion, message: .ping(Ping(nonce: 7))
        )
        .frame
        while !isOver, stream.isOpen {
            while stream.isOpen, stream.unsentBytes < FloodRun.deafOutput {
                stream.write(Array(repeatElement(ping, count: 100).joined()))
                pings += 100
            }
            await pause(.milliseconds(20))
        }
        stream.close()
    }

    // MARK: The way out

    private func drain() async throws {
        let begun = EventLoop.now.nanoseconds
        world.gateway.setFaults(apple: .none, google: .none, seed: 1)
        let end = ContinuousClock.now + FloodRun.longestDrain
        while !world.books.open.isEmpty {
            guard ContinuousClock.now < end else {
                return world.books.violate("\(world.books.open.count) were not delivered in time")
            }
            await pause(.milliseconds(100))
        }
        let (lost, twice, _) = world.books.check()
        say(
            "\(stored) stored and delivered \((EventLoop.now.nanoseconds - begun).seconds) s after the gateways' return; \(lost) lost, \(twice) twice"
        )
    }
}
