import Glibc
import Lab
import Reactor
import Wire

/// The rounds of several nodes, from the first notification to the last check.
@EventLoop
final class ClusterRun {
    let world: ClusterWorld
    private var random: SplitMix
    private var lines: [[PeerLine]] = []
    private var senders: [ClusterSender] = []
    private var figures: [ClusterBlow: Figures] = [:]
    private var begun: Int64 = 0
    private var isRoundOver = false
    private var roundBegun: Int64 = 0
    /// The node whose clock is off, and for how many rounds more.
    private var clock: (node: ClusterNode, rounds: Int)?

    private struct Figures {
        var rounds = 0
        /// Nanoseconds from the blow until all devices had something sent after it, and until all nodes had their parts.
        var delivering: [Int64] = []
        var whole: [Int64] = []
        var lost = 0
    }

    private var books: Books { world.books }
    private static let longestRecovery: Duration = .seconds(120)
    private static let linesPerNode = 4
    /// Longer than a lease, which is 8 seconds.
    private static let pastLease: Duration = .seconds(12)
    private static let roundsOfClock = 3
    /// An owner may have looked last that long before.
    private static let look: Int64 = 200_000_000

    init(_ world: ClusterWorld, devices: Int, seed: UInt64) {
        self.world = world
        random = SplitMix(seed: seed)
        lines = (0..<ClusterRun.linesPerNode).map { _ in newLines() }
        senders = (0..<devices).map { number in
            ClusterSender(
                number, number % 3 == 2 ? .post : .frames, roams: number % 4 == 3, to: world.nodes,
                by: lines[number % lines.count], world.books, seed: random.next())
        }
    }

    /// One to each node.
    private func newLines() -> [PeerLine] {
        world.nodes.map { node in PeerLine(to: { node.peers }, attempt: .seconds(2), world.books) }
    }

    func run(_ rounds: Int, of blows: [ClusterBlow]) async throws {
        begun = EventLoop.now.nanoseconds
        let watch = Task { await books.watchProcessor() }
        defer { watch.cancel() }
        for node in world.nodes {
            node.gateway.setFaults(
                apple: FaultWords(text: "slow=20"), google: FaultWords(text: "slow=20"), seed: 1)
        }
        try await wait("the nodes have shared the work") { [world] in try await world.isWhole() }
        let plan = ClusterBlow.plan(rounds, of: blows, using: &random)
        for (number, blow) in plan.enumerated() {
            try await play(blow, number + 1)
            guard books.violations.isEmpty else { return }
        }
        try await askForAll()
    }

    // MARK: A round

    private func play(_ blow: ClusterBlow, _ number: Int) async throws {
        var nodes = world.nodes.shuffled(using: &random)
        let victims = Array(nodes.prefix(blow == .killTwo ? nodes.count - 1 : 1))
        nodes.removeFirst(victims.count)
        world.note("round \(number): \(blow.rawValue): \(victims.map(\.name))")
        isRoundOver = false
        roundBegun = EventLoop.now.nanoseconds
        let sending = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sender in senders {
                    group.addTask { try await sender.send { [unowned self] in isRoundOver } }
                }
                try await group.waitForAll()
            }
        }
        await pause(.milliseconds(Int.random(in: 500...2000, using: &random)))
        for node in world.nodes { node.mayEnd = mayEnd(node, by: blow, victims) }
        let outage = Duration.milliseconds(Int.random(in: 0...2000, using: &random))
        let silence = Duration.milliseconds(Int.random(in: 1000...5000, using: &random))
        let blown = EventLoop.now.nanoseconds
        var isExcused = false
        // Also where the round does not come to its end: what came twice then has the same reason.
        defer { if !isExcused { excuse(blow, victims, from: blown, until: EventLoop.now.nanoseconds) } }
        try await strike(blow, victims, outage: outage, silence: silence)
        try await waitForAllDevices(after: blow)
        let delivering = senders.compactMap { sender in
            sender.firstSinceBlow.flatMap { books.entries[$0]?.pushes.map(\.time).min() }
        }.max()
        if blow.lastsUntilOthersDeliver {
            let rest = ClusterRun.pastLease - .nanoseconds(EventLoop.now.nanoseconds - blown)
            if [.pause, .silenceForLong].contains(blow) { await pause(rest) }
            try await heal(blow, victims)
        }
        try await wait("all nodes have their parts after: \(blow.rawValue)") { [world] in
            try await world.isWhole()
        }
        let whole = EventLoop.now.nanoseconds
        isRoundOver = true
        try await sending.value
        excuse(blow, victims, from: blown, until: whole)
        isExcused = true
        for node in world.nodes { node.mayEnd = false }
        figures[blow, default: Figures()].rounds += 1
        if let delivering { figures[blow]?.delivering.append(delivering - blown) }
        figures[blow]?.whole.append(whole - blown)
        await drain(blow)
        try turnClockBack()
        try await setServersClockRight(after: blow)
        say(
            "  round \(number): \(blow.rawValue): delivers after \(((delivering ?? blown) - blown).seconds) s, whole after \((whole - blown).seconds) s, \(books.entries.count) sent"
        )
    }

    private func waitForAllDevices(after blow: ClusterBlow) async throws {
        try await wait("every device has had something after: \(blow.rawValue)") { [unowned self] in
            senders.allSatisfy { sender in
                sender.firstSinceBlow.map { books.entries[$0]?.pushes.isEmpty == false } ?? false
            }
        }
    }

    /// What of these nodes was under way may come again.
    private func excuse(_ blow: ClusterBlow, _ victims: [ClusterNode], from blown: Int64, until end: Int64) {
        guard blow.isExcuse else { return }
        for node in [.databaseForLong, .setBack].contains(blow) ? world.nodes : victims {
            books.isUnclear(blow.rawValue, at: node.name, from: blown, until: end)
        }
    }

    /// Others take its part, and then it can't go on with what it knows.
    private func mayEnd(_ node: ClusterNode, by blow: ClusterBlow, _ victims: [ClusterNode]) -> Bool {
        switch blow {
        case .pause, .silenceForLong: victims.contains { $0 === node }
        case .databaseForLong, .setBack: true
        case _: false
        }
    }

    private func strike(
        _ blow: ClusterBlow, _ victims: [ClusterNode], outage: Duration, silence: Duration
    ) async throws {
        let node = victims[0]
        switch blow {
        case .kill, .killTwo:
            for victim in victims { await victim.end(by: SIGKILL) }
            hit()
        case .killAndStart:
            await node.end(by: SIGKILL)
            hit()
            try node.start()
        case .database: try await stopServer(for: outage)
        case .databaseForLong: try await stopServer(for: ClusterRun.pastLease)
        case .both:
            await node.end(by: SIGKILL)
            try await stopServer(for: outage)
        case .pause:
            node.signal(SIGSTOP)
            hit()
        case .silence:
            node.line.fallSilent()
            hit()
            let begun = EventLoop.now.nanoseconds
            await pause(silence)
            node.line.mend()
            books.seesNothing(from: begun - ClusterRun.look, until: EventLoop.now.nanoseconds)
        case .silenceForLong:
            node.line.fallSilent()
            hit()
        case .cut:
            hit()
            await node.line.cut()
            await pause(.seconds(1))
            node.line.mend()
        case .answer:
            hit()
            node.line.losesAnswer = true
            try await wait("a commit") { !node.line.losesAnswer }
        case .stop: try await startAnew(node)
        case .inPlace:
            hit()
            try await node.restartInPlace()
        case .transaction:
            try await world.holdTransaction()
            try await startAnew(node)
        case .setBack:
            try await world.keepBackup()
            hit()
            // All nodes store something that the backup has not.
            try await waitForAllDevices(after: blow)
            let told = world.toldOfSetBack
            try await world.takeBackup(begunAt: roundBegun)
            hit()
            try await wait("a node says that the database went back") { [world] in world.toldOfSetBack > told
            }
        case .killAsClockGoesBack, .killAsClockGoesAhead:
            await node.end(by: SIGKILL)
            try await world.moveClock(ahead: blow == .killAsClockGoesAhead)
            hit()
        case .clockBack, .clockAhead:
            try await world.moveClock(ahead: blow == .clockAhead)
            hit()
        case .lock:
            let told = world.toldOfLock
            try await world.lock()
            hit()
            try await wait("a node says who holds the lock") { [world] in world.toldOfLock > told }
            try await world.unlock()
        case .clock:
            try clock?.node.clocks.rightAll()
            try node.clocks.set(
                Bool.random(using: &random) ? .ahead : .behind,
                seconds: Bool.random(using: &random) ? 3600 : 3 * 365 * 86_400)
            clock = (node, ClusterRun.roundsOfClock)
            hit()
        }
    }

    /// What is sent from now on shows when all deliver again.
    private func hit() { for sender in senders { sender.hit() } }

    private func startAnew(_ node: ClusterNode) async throws {
        hit()
        let exit = await node.end(by: SIGTERM)
        if exit != .exited(0) {
            books.violate("stopping ended with \(exit.map { "\($0)" } ?? "nothing")")
        }
        try node.start()
    }

    private func stopServer(for outage: Duration) async throws {
        try await world.stopServer()
        hit()
        await pause(outage)
        try await world.startServer()
    }

    private func heal(_ blow: ClusterBlow, _ victims: [ClusterNode]) async throws {
        switch blow {
        case .kill, .killTwo, .both, .killAsClockGoesBack, .killAsClockGoesAhead:
            for victim in victims { try victim.start() }
        case .pause:
            let ends = victims[0].ends
            victims[0].signal(SIGCONT)
            try await wait("what was paused ends") { victims[0].ends > ends }
        case .silenceForLong:
            let ends = victims[0].ends
            victims[0].line.mend()
            try await wait("what was cut off ends") { victims[0].ends > ends }
        case _: break
        }
    }

    private func turnClockBack() throws {
        guard let (node, rounds) = clock else { return }
        clock = rounds > 1 ? (node, rounds - 1) : nil
        guard clock == nil else { return }
        try node.clocks.rightAll()
        world.note("the clock of \(node.name) is right again")
    }

    /// The nodes take that as the blow that it is: nobody ends, and nobody takes what another one has.
    private func setServersClockRight(after blow: ClusterBlow) async throws {
        guard blow.movesServersClock else { return }
        try world.setClockRight()
        try await wait("all nodes have their parts with the right time after: \(blow.rawValue)") { [world] in
            try await world.isWhole()
        }
    }

    private func wait(_ what: String, until isSo: @EventLoop () async throws -> Bool) async throws {
        let end = ContinuousClock.now + ClusterRun.longestRecovery
        while try await !isSo() {
            guard books.violations.isEmpty else { throw ChaosError("given up: \(what)") }
            guard ContinuousClock.now < end else { throw ChaosError("not in time: \(what)") }
            await pause(.milliseconds(50))
        }
    }

    // MARK: The end

    private func drain(_ blow: ClusterBlow) async {
        let end = ContinuousClock.now + ClusterRun.longestRecovery
        while !books.open.isEmpty {
            guard ContinuousClock.now < end else {
                figures[blow]?.lost += books.open.count
                return books.violate("\(books.open.count) were never delivered after: \(blow.rawValue)")
            }
            await pause(.milliseconds(50))
        }
    }

    /// Sends each once more, to any node: everyone is told how it ended, and nothing is delivered again.
    private func askForAll() async throws {
        for line in lines.joined() { line.close() }
        let asking = newLines()
        let end = ContinuousClock.now + .seconds(600)
        let requests = books.entries.values.filter { !$0.isByDoor && !$0.isSetBack }.map(\.request)
        say("asking once more for \(requests.count)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, sender) in senders.enumerated() {
                let share = requests.indices.filter { $0 % senders.count == index }.map { requests[$0] }
                group.addTask { try await sender.ask(share, by: asking, until: end) }
            }
            try await group.waitForAll()
        }
        while books.entries.values.contains(where: { $0.told == nil && !$0.isByDoor && !$0.isSetBack }) {
            guard ContinuousClock.now < end else { return books.violate("some were never told their end") }
            await pause(.milliseconds(20))
        }
        for line in asking { line.close() }
    }

    func table() -> [String] {
        let (lost, twice, outOfOrder) = books.check()
        var rows = [
            [
                "blow", "rounds", "delivers after, median", "longest", "whole after, median", "longest",
                "again", "out of order", "lost",
            ]
        ]
        for blow in ClusterBlow.allCases {
            guard let figures = figures[blow] else { continue }
            rows.append(
                [blow.rawValue, "\(figures.rounds)"] + Table.medianAndLongest(figures.delivering)
                    + Table.medianAndLongest(figures.whole)
                    + [
                        "\(books.repeatedBy[blow.rawValue] ?? 0)",
                        "\(books.disorderedBy[blow.rawValue] ?? 0)",
                        "\(figures.lost)",
                    ])
        }
        return Table.lines(rows) + [
            "\(books.entries.count) notifications, \(books.entries.values.count(where: \.isByDoor)) of them by POST; \(books.busy) times busy, in \((EventLoop.now.nanoseconds - begun).seconds) s",
            "\(books.disorderedBy[Books.takenByTwo] ?? 0) out of order that two nodes had taken before the owner had looked",
            "\(lost) lost, \(twice) twice without a reason, \(outOfOrder) out of order without a reason",
        ]
    }
}
