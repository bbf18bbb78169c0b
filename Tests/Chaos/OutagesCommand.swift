import ArgumentParser
import Glibc
import Lab
import Reactor
import Wire

/// `onionbell-chaos outages`: how soon all flows again after each kind of outage.
struct OutagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outages", abstract: "How soon all is delivered after each kind of outage.",
        discussion: """
            In each run notifications come in during the outage, for Apple and Google alike. The line in the log, if \
            there is one, is counted from its beginning; the deliveries from its end. What a gateway refuses for the operator's fault is tried again by itself after a minute at the \
            earliest, or at once on SIGHUP.
            """)

    @Option(help: "Notifications of each run.") var notifications = 200
    @Option(help: "The project's torrc.") var torrc = "torrc"

    func run() async throws {
        Chaos.prepare()
        var rows = [["outage", "lasted", "in the log after", "first push after", "all delivered after"]]
        var violations: [String] = []
        for outage in Outage.all {
            let run = try await OutageRun(
                ChaosWorld(.loopback, torrc: torrc), outage, count: notifications)
            try await run.run()
            rows.append(await run.cells)
            violations += await run.world.books.violations.map { "\(outage.name): \($0)" }
            say("  \(outage.name)")
            await run.world.close()
        }
        for line in Table.lines(rows) { say(line) }
        for violation in violations.prefix(40) { say("VIOLATION: \(violation)") }
        guard violations.isEmpty else { throw ExitCode(1) }
    }
}

/// What is out of order, for how long, and what ends it.
struct Outage {
    let name: String
    let duration: Duration
    /// At both gateways; `nil`: they are gone.
    let faults: FaultWords?
    /// The operator asks the node to look again.
    var endsWithHangup = false

    static let all = [
        Outage(name: "gateways gone", duration: .seconds(1), faults: nil),
        Outage(name: "gateways gone", duration: .seconds(30), faults: nil),
        Outage(name: "503 to all", duration: .seconds(10), faults: FaultWords(text: "unavailable")),
        Outage(name: "502 pages to all", duration: .seconds(10), faults: FaultWords(text: "page")),
        Outage(name: "each request resets", duration: .seconds(10), faults: FaultWords(text: "reset")),
        Outage(name: "no answers", duration: .seconds(30), faults: FaultWords(text: "silent")),
        Outage(name: "credentials refused", duration: .seconds(10), faults: FaultWords(text: "forbidden")),
        Outage(
            name: "credentials refused, SIGHUP", duration: .seconds(10),
            faults: FaultWords(text: "forbidden"), endsWithHangup: true),
    ]
}

/// One outage, and the way back.
@EventLoop
final class OutageRun {
    let world: ChaosWorld
    private let outage: Outage
    private let count: Int
    private var begun: Int64 = 0
    private var noticed: Int64?
    private var mended: Int64 = 0
    private var firstPush: Int64 = 0
    private var drained: Int64 = 0

    private static let longest: Duration = .seconds(300)

    init(_ world: ChaosWorld, _ outage: Outage, count: Int) {
        self.world = world
        self.outage = outage
        self.count = count
    }

    func run() async throws {
        try world.startNode()
        let books = world.books
        let line = PeerLine(to: { [world] in world.route }, attempt: .seconds(2), books)
        let end = ContinuousClock.now + OutageRun.longest
        // All connections are up before anything goes wrong.
        try await send(0..<2, by: line, until: end)
        try await waitUntilDelivered(until: end)
        let before = books.lastPush
        begun = EventLoop.now.nanoseconds
        let watch = Task { await notice() }
        defer { watch.cancel() }
        if let faults = outage.faults {
            world.gateway.setFaults(apple: faults, google: faults, seed: 1)
        } else {
            await world.gateway.kill()
        }
        let over = ContinuousClock.now + outage.duration
        try await send(2..<count, by: line, until: end)
        await pause(over - .now)
        mended = EventLoop.now.nanoseconds
        world.gateway.setFaults(apple: .none, google: .none, seed: 1)
        if outage.faults == nil { try await world.gateway.start() }
        if outage.endsWithHangup { world.signalNode(SIGHUP) }
        while books.lastPush == before, ContinuousClock.now < end { await pause(.milliseconds(5)) }
        firstPush = EventLoop.now.nanoseconds
        try await waitUntilDelivered(until: end)
        drained = EventLoop.now.nanoseconds
        line.close()
    }

    private func send(
        _ numbers: Range<Int>, by line: PeerLine, until end: ContinuousClock.Instant
    ) async throws {
        for number in numbers {
            var request = MobileNotificationRequest()
            request.uid = "outage-\(number)"
            request.platform = number.isMultiple(of: 2) ? .ios : .android
            let digits = String(number)
            let token = String(repeating: "0", count: 64 - digits.count) + digits
            request.deviceToken = request.platform == .android ? "lab:\(token)" : token
            request.message = Sender.message(saying: request.uid)
            request.isUrgent = true
            world.books.sending(request, isDead: false)
            try await line.send(request, until: end)
        }
    }

    /// What the node says of a gateway, and when.
    private func notice() async {
        guard let node = world.node else { return }
        let before = node.lines.count
        await node.wait { node in
            node.exit != nil || node.lines.dropFirst(before).contains { $0.contains("gateway.") }
        }
        if !Task.isCancelled, node.exit == nil { noticed = EventLoop.now.nanoseconds }
    }

    private func waitUntilDelivered(until end: ContinuousClock.Instant) async throws {
        while !world.books.open.isEmpty {
            guard ContinuousClock.now < end else {
                return world.books.violate("\(world.books.open.count) were not delivered in time")
            }
            await pause(.milliseconds(10))
        }
    }

    var cells: [String] {
        let (lost, twice, _) = world.books.check()
        if lost + twice > 0 { world.books.violate("\(lost) lost, \(twice) twice") }
        return [
            outage.name, "\(outage.duration.components.seconds) s",
            noticed.map { "\(($0 - begun).seconds) s" } ?? "-", "\((firstPush - mended).seconds) s",
            "\((drained - mended).seconds) s",
        ]
    }
}
