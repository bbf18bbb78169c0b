import ArgumentParser
import Client
import Lab
import Reactor
import Wire

/// `onionbell-chaos load`: many notifications past a gateway with faults, each to be delivered once.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Many notifications past a gateway that answers after 5 ms, with faults.")

    @Option(help: "Notifications of each run.") var notifications = 5000
    @Option(help: "How many wait for their outcome at a time.") var inFlight = 50
    @Option(help: "For the faults that come by chance.") var seed: UInt64 = 1
    @Option(help: "The project's torrc.") var torrc = "torrc"
    @Flag(help: "Leave out gateways that don't answer, and waits of ten seconds: for a short run.")
    var quick = false

    /// Whose gateway has the faults.
    enum Service { case apple, google }

    /// Name, service, faults, and whether Apple's credential is a certificate; with a key every connection begins with one
    /// stream until a push was accepted.
    private static let runs: [(String, Service, String, Bool)] = [
        ("no faults", .apple, "slow=5", true),
        ("GOAWAY every 100", .apple, "goaway/100,slow=5", true),
        ("reset every 500", .apple, "reset/500,slow=5", true),
        ("5 % of 503", .apple, "unavailable/5%,slow=5", true),
        ("one stream until authenticated", .apple, "slow=5", false),
        ("silence on 1 %", .apple, "silent/100,slow=5", true),
        ("a connection that only fails", .apple, "spoil/250,slow=5", true),
        ("all together", .apple, "goaway/100,reset/500,unavailable/5%,silent/100,slow=5", false),
        ("Google, no faults", .google, "slow=5", true),
        ("Google, 5 % of 503", .google, "unavailable/5%,slow=5", true),
        ("Google, 2 % of 401", .google, "unauthenticated/2%,slow=5", true),
        ("Google, a page in place of JSON", .google, "page/50,slow=5", true),
        ("Google, a connection that only fails", .google, "spoil/250,slow=5", true),
        (
            "Google, all together", .google,
            "goaway/100,reset/500,unavailable/5%,unauthenticated/200,page/150,silent/100,slow=5", true
        ),
    ]

    func run() async throws {
        Chaos.prepare()
        var rows = [
            [
                "run", "sent", "stored", "told delivered", "shown once", "accepted again", "lost",
                "shown twice", "time", "node's CPU",
            ]
        ]
        var violations: [String] = []
        for (name, service, faults, isCertificate) in LoadCommand.runs {
            let words = FaultWords(text: faults)
            if quick, words.isSilent || service == .google && words.makesGoogleWait { continue }
            let run = try await LoadRun(
                ChaosWorld(.loopback, torrc: torrc, certificate: isCertificate),
                at: service, faults: FaultWords(text: faults), seed: seed, count: notifications,
                window: inFlight)
            try await run.run()
            rows.append([name] + (await run.cells))
            violations += await run.world.books.violations.map { "\(name): \($0)" }
            await run.world.close()
        }
        say("seed \(seed), \(inFlight) in flight")
        for line in Table.lines(rows) { say(line) }
        for violation in violations.prefix(40) { say("VIOLATION: \(violation)") }
        guard violations.isEmpty else { throw ExitCode(1) }
    }
}

/// One run: a peer that keeps a number of notifications on their way.
@EventLoop
final class LoadRun {
    let world: ChaosWorld
    private let service: LoadCommand.Service
    private let faults: FaultWords
    private let seed: UInt64
    private let count: Int
    private let window: Int
    private var time: Int64 = 0
    private var processorTime = Duration.zero

    private static let framesOfOne = 100
    /// For each device so few that none comes too often.
    private var devices: Int { max(1, count / 2) }
    private static let longest: Duration = .seconds(300)

    init(
        _ world: ChaosWorld, at service: LoadCommand.Service, faults: FaultWords, seed: UInt64, count: Int,
        window: Int
    ) {
        self.world = world
        self.service = service
        self.faults = faults
        self.seed = seed
        self.count = count
        self.window = window
    }

    func run() async throws {
        try world.startNode()
        world.gateway.setFaults(
            apple: service == .apple ? faults : .none, google: service == .google ? faults : .none, seed: seed
        )
        // A connection may send so many frames within ten seconds, and a peer that has more opens others.
        var peers: [BisqPeer] = []
        for _ in 0..<max(1, count / LoadRun.framesOfOne) { peers.append(try await world.connect()) }
        let books = world.books
        let begun = EventLoop.now.nanoseconds
        let end = ContinuousClock.now + LoadRun.longest
        var told = 0
        var sent = 0
        for peer in peers {
            peer.onResponse = { [self] response in
                books.heard(response)
                guard response.status != .stored else { return }
                told += 1
                if sent < count { post(&sent, by: peers[sent % peers.count]) }
            }
        }
        for _ in 0..<min(window, count) { post(&sent, by: peers[sent % peers.count]) }
        while told < count, ContinuousClock.now < end { await pause(.milliseconds(5)) }
        time = EventLoop.now.nanoseconds - begun
        processorTime = world.node?.processorTime ?? .zero
        if told < count { books.violate("\(count - told) were never told their end") }
        for peer in peers {
            peer.onResponse = nil
            peer.close()
        }
    }

    private func post(_ sent: inout Int, by peer: BisqPeer) {
        sent += 1
        var request = MobileNotificationRequest()
        request.uid = "load-\(sent)"
        let number = String(sent % devices)
        let digits = String(repeating: "0", count: 64 - number.count) + number
        request.platform = service == .apple ? .ios : .android
        request.deviceToken = service == .apple ? digits : "lab:" + digits
        request.message = Sender.message(saying: request.uid)
        request.isUrgent = true
        request.awaitsOutcome = true
        world.books.sending(request, isDead: false)
        do { try peer.post(request) } catch { world.books.violate("\(error)") }
    }

    var cells: [String] {
        let books = world.books
        let (lost, twice, outOfOrder) = books.check()
        if outOfOrder > 0 { books.violate("\(outOfOrder) out of order") }
        let entries = books.entries.values
        return [
            "\(entries.count)", "\(entries.count { $0.storedAt != nil })",
            "\(entries.count { $0.told?.status == .delivered })",
            "\(entries.count { Set($0.pushes.map(\.id)).count == 1 })",
            "\(books.repeated)", "\(lost)", "\(twice)", "\(time.seconds) s",
            "\(Int64(processorTime / .nanoseconds(1)).seconds) s",
        ]
    }
}
