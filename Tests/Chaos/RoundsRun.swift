import Client
import Encodings
import Lab
import Reactor
import Wire

/// The rounds in one world, from the first notification to the last check.
@EventLoop
final class RoundsRun {
    let world: ChaosWorld
    private let rounds: Int
    private let isQuick: Bool
    private var random: SplitMix
    private var lines: [PeerLine] = []
    private var senders: [Sender] = []
    private var doorSenders: [DoorSender] = []
    private var figures: [Blow: Figures] = [:]
    private var drains: [Int64] = []
    private var begun: Int64 = 0
    private(set) var table: [String] = []

    /// What one kind of blow cost: nanoseconds from the blow until the first receipt, and until the first push, that
    /// came after what was hit had been started again.
    private struct Figures {
        var rounds = 0
        var receipts: [Int64] = []
        var pushes: [Int64] = []
    }

    /// After so many rounds the gateways are left in peace until all is delivered.
    private static let roundsPerDrain = 20
    private static let longestRound: Duration = .seconds(180)
    private static let longestDrain: Duration = .seconds(240)

    init(_ world: ChaosWorld, rounds: Int, seed: UInt64, isQuick: Bool) async throws {
        self.world = world
        self.rounds = rounds
        self.isQuick = isQuick
        random = SplitMix(seed: seed)
        try makeSenders()
    }

    private func makeSenders() throws {
        lines = (0..<4).map { _ in
            PeerLine(
                to: { [unowned self] in world.route }, attempt: world.isOverTor ? .seconds(8) : .seconds(2),
                world.books)
        }
        let platforms: [Platform] = [.ios, .iosDev, .android, .android]
        for number in 0..<24 {
            let platform = platforms[number % 4]
            let token = randomToken()
            senders.append(
                Sender(
                    "device\(number)", to: platform,
                    deviceToken: platform == .android ? "lab:\(token)" : token, by: lines[number % 4],
                    world.books, seed: random.next()))
        }
        for number in 0..<2 * GatewayFiles.manners.count {
            let token = try world.gateway.subscribe(
                at: number % GatewayFiles.manners.count, "browser\(number)\(randomToken())")
            senders.append(
                Sender(
                    "browser\(number)", to: .android, deviceToken: token, by: lines[number % 4],
                    world.books, seed: random.next()))
        }
        // A push service that is not there: what is for it waits, and holds up no other.
        senders.append(
            Sender(
                "nowhere", to: .android, deviceToken: ChaosWorld.browserNowhere, by: lines[0], world.books,
                seed: random.next()))
        for number in 0..<4 {
            senders.append(
                Sender(
                    "held\(number)", to: .ios, deviceToken: randomToken(), app: ChaosWorld.blocked,
                    by: lines[number], world.books, seed: random.next()))
        }
        for (platform, token) in [
            (Platform.ios, FaultWords.deadAtApple), (.android, FaultWords.deadAtGoogle),
        ] {
            senders.append(
                Sender(
                    "dead-\(platform)", to: platform, deviceToken: token, isDead: true, by: lines[0],
                    world.books, seed: random.next()))
        }
    }

    private func randomToken() -> String {
        let digits = String(UInt64.random(in: .min ... .max, using: &random), radix: 16)
        return String(String(repeating: digits + "0123456789abcdef", count: 4).prefix(64))
    }

    /// A sender for each door and platform; those to Android come by way of nginx.
    private func makeDoorSenders() async throws {
        // The node has made what a command beside it needs.
        while world.statusKey == nil, world.node?.exit == nil { await pause(.milliseconds(20)) }
        let installation = try await world.addInstallation()
        for platform in [Platform.ios, .android] {
            func phone() -> DoorSender.Phone {
                let token = randomToken()
                return DoorSender.Phone(
                    platform: platform, deviceToken: platform == .android ? "lab:\(token)" : token)
            }
            let forms: [any DoorForm] = [
                WebPushForm(phone()), GorushForm(phone()), BitwardenForm(phone(), installation),
                StatusIMForm(phone()),
            ]
            let isBehindProxy = platform == .android && world.proxyRoute != nil
            doorSenders += forms.enumerated().map { number, form in
                DoorSender(form, by: world, from: isBehindProxy ? "192.0.2.\(number)" : nil)
            }
        }
    }

    func run() async throws {
        begun = EventLoop.now.nanoseconds
        try world.startNode()
        try await makeDoorSenders()
        for number in 1...rounds {
            let round = Round(isQuick: isQuick, using: &random)
            try await play(round)
            if number.isMultiple(of: RoundsRun.roundsPerDrain) {
                try await drain()
                say(
                    "  round \(number): \(world.books.entries.count) sent, \(world.books.violations.count) violations"
                )
            }
            guard world.books.violations.isEmpty else { break }
        }
        try await drain()
        try await askForAll()
        let held = world.books.entries.values.count { $0.isHeld }
        let waiting = try await world.waitingForEver()
        if waiting != held {
            world.books.violate("\(waiting) of \(held) wait for what nothing gets through to")
        }
        report(held: held)
    }

    // MARK: A round

    private func play(_ round: Round) async throws {
        world.note(
            "\(round.blow.rawValue); apple: \(round.apple.text); google: \(round.google.text); browsers: \(round.web.map(\.text))"
        )
        world.gateway.setFaults(
            apple: round.apple, google: round.google, web: round.web, seed: round.seed)
        let end = ContinuousClock.now + RoundsRun.longestRound
        let sending = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sender in senders { group.addTask { try await sender.send(round.count, until: end) } }
                for sender in doorSenders {
                    group.addTask { try await sender.send(round.count, until: end) }
                }
                try await group.waitForAll()
            }
        }
        await pause(round.instant)
        let blown = EventLoop.now.nanoseconds
        try await strike(round)
        let healed = EventLoop.now.nanoseconds
        try await sending.value
        figures[round.blow, default: Figures()].rounds += 1
        guard round.blow != .none else { return }
        try await measure(round.blow, from: blown, healed: healed, until: end)
    }

    private func strike(_ round: Round) async throws {
        if round.blow == .tor { world.killTor() }
        if round.blow == .file { world.deleteOutbox() }
        if round.blow == .stop { _ = await world.stopNode() }
        if round.blow == .inPlace { try await world.restartInPlace() }
        if round.blow.hitsNode, round.blow != .stop { await world.killNode() }
        if round.blow.hitsGateway { await world.gateway.kill() }
        guard round.blow.hitsNode || round.blow.hitsGateway else { return }
        await pause(round.absence)
        if round.blow.hitsNode { try world.startNode() }
        if round.blow.hitsGateway { try await world.gateway.start() }
        guard round.blow == .nodeTwice else { return }
        await pause(round.secondInstant)
        await world.killNode()
        try world.startNode()
    }

    /// Sends on until there was a receipt and a push after the blow.
    private func measure(
        _ blow: Blow, from blown: Int64, healed: Int64, until end: ContinuousClock.Instant
    ) async throws {
        var receipt: Int64?
        var push: Int64?
        while receipt == nil || push == nil {
            let books = world.books
            if receipt == nil, books.lastStored > healed { receipt = books.lastStored }
            if push == nil, books.lastPush > healed { push = books.lastPush }
            guard receipt == nil || push == nil else { break }
            guard ContinuousClock.now < end else {
                return world.books.violate("\(blow.rawValue): no receipt or push came after it")
            }
            try await senders[0].send(1, until: end)
            await pause(.milliseconds(20))
        }
        if let receipt { figures[blow]?.receipts.append(receipt - blown) }
        if let push { figures[blow]?.pushes.append(push - blown) }
    }

    // MARK: The end

    /// Leaves the gateways in peace until everything stored was delivered.
    private func drain() async throws {
        let begun = EventLoop.now.nanoseconds
        world.gateway.setFaults(apple: .none, google: .none, seed: 1)
        let end = ContinuousClock.now + RoundsRun.longestDrain
        while !world.books.open.isEmpty {
            guard ContinuousClock.now < end else {
                return world.books.violate(
                    "\(world.books.open.count) waiting after \(RoundsRun.longestDrain)")
            }
            await pause(.milliseconds(20))
        }
        drains.append(EventLoop.now.nanoseconds - begun)
    }

    /// Sends each once more: everyone is told how it ended, and nothing is delivered again.
    private func askForAll() async throws {
        for line in lines { line.close() }
        let end = ContinuousClock.now + RoundsRun.longestRound
        let requests = world.books.entries.values.filter { !$0.isByDoor && !$0.isHeld }.map { entry in
            var request = entry.request
            request.awaitsOutcome = true
            return request
        }
        let shares = lines.enumerated().flatMap { index, line in
            (0..<8).map { share in
                (line, requests.indices.filter { $0 % (8 * lines.count) == 8 * index + share })
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (line, indices) in shares {
                group.addTask {
                    for index in indices { try await line.send(requests[index], until: end) }
                }
            }
            try await group.waitForAll()
        }
        while world.books.entries.values.contains(where: { $0.told == nil && !$0.isByDoor && !$0.isHeld }) {
            guard ContinuousClock.now < end else {
                return world.books.violate("some were never told their end")
            }
            await pause(.milliseconds(20))
        }
    }

    private func report(held: Int) {
        let books = world.books
        let (lost, twice, outOfOrder) = books.check()
        var rows = [["blow", "rounds", "receipt after, median", "longest", "push after, median", "longest"]]
        for blow in Blow.allCases {
            guard let figures = figures[blow] else { continue }
            rows.append(
                [blow.rawValue, "\(figures.rounds)"] + Table.medianAndLongest(figures.receipts)
                    + Table.medianAndLongest(figures.pushes))
        }
        table = Table.lines(rows)
        let drain = Table.medianAndLongest(drains)
        table += [
            "all delivered after the last fault: median \(drain[0]), longest \(drain[1])",
            "\(books.entries.count) notifications, \(books.entries.values.count(where: \.isByDoor)) of them by the doors for others than Bisq; \(books.busy) times busy, in \((EventLoop.now.nanoseconds - begun).seconds) s",
            world.proxyRoute == nil
                ? "nginx is not installed: nothing came by a proxy"
                : "half of what came by those doors came by way of nginx",
            "\(held) for an app that is blocked and a push service that is away, all of them waiting",
            "\(books.repeated) accepted again under the same ids after an unclear outcome",
            "\(lost) lost, \(twice) shown twice, \(outOfOrder) out of order",
        ]
    }
}
