import ArgumentParser
import Client
import Lab
import LabParts
import Reactor
import Relay
import Wire

/// `onionbell-chaos poison`: tokens that a gateway always fails as if it were in trouble itself.
struct PoisonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poison",
        abstract:
            "Tokens that each service always fails, brought first and again and again: how long others wait.",
        discussion: """
            Apple, Google, a push service of browsers and an ntfy server answer them 503, and other relays \
            THIRD_PARTY_AUTH_ERROR. Exit status: 0 only if each notification to another phone was delivered within 24 \
            seconds.
            """)

    @Option(help: "Seconds of each set.") var seconds = 60
    @Option(
        parsing: .upToNextOption, help: "How many poisoned tokens each service has, one run for each number.")
    var sets = [1, 3, 20, 48, 200]
    @Option(help: "The project's torrc.") var torrc = "torrc"

    func validate() throws {
        guard sets.allSatisfy((1...200).contains) else {
            throw ValidationError("--sets are numbers from 1 to 200")
        }
    }

    func run() async throws {
        Chaos.prepare()
        var rows = [
            ["service", "poison", "requests for it", "sent to others", "delivered", "the slowest after"]
        ]
        var violations: [String] = []
        for poison in sets {
            let run = try await PoisonRun(poison: poison, time: .seconds(seconds), torrc: torrc)
            try await run.run()
            rows += await run.rows
            violations += await run.violations
            await run.close()
            say("  \(poison)")
        }
        for line in Table.lines(rows) { say(line) }
        for violation in violations.prefix(40) { say("VIOLATION: \(violation)") }
        guard violations.isEmpty else { throw ExitCode(1) }
        say("no other phone waited longer than two pauses")
    }
}

/// One set of them, at all services at the same time.
@EventLoop
final class PoisonRun {
    private enum Service: String, CaseIterable { case apple, google, browsers, ntfy, one, two }

    private struct Sent {
        let service: Service
        let at: Int64
    }

    let world: ChaosWorld
    private let poison: Int
    private let time: Duration
    private let relays: [SimulatedRelay]
    private let ntfy: SimulatedNtfy
    private var browsers: [String] = []
    private var peers: [BisqPeer] = []
    /// To healthy phones, by uid.
    private var sent: [String: Sent] = [:]
    private var number = 0
    /// Poisoned ones, to each service.
    private var brought = 0

    private static let phones = 1000
    private static let perMinute = 180
    private static let stated: Int64 = 24_000_000_000
    /// Of ntfy: each is in the phone book.
    private static let topics = 10
    /// Each is a sender of its own.
    private static let connections = 24

    init(poison: Int, time: Duration, torrc: String) async throws {
        self.poison = poison
        self.time = time
        relays = [try SimulatedRelay(), try SimulatedRelay(), try SimulatedRelay()]
        for relay in relays {
            (relay.tokenRate, relay.rate) = (nil, nil)
            for number in 0..<poison {
                relay.refused["lab:" + FaultWords.poisoned(number)] = "THIRD_PARTY_AUTH_ERROR"
            }
        }
        ntfy = try SimulatedNtfy()
        ntfy.failing = Set((0..<poison).map(FaultWords.poisoned))
        world = try await ChaosWorld(
            .loopback, torrc: torrc, hasLiftedLimits: true,
            apps: [
                "{name: ntfy, gateway: ntfy, url: \"\(ntfy.url)\", show: sealed}",
                "{name: one, gateway: relay, form: bisq2, url: \"\(relays[0].url)\"}",
                "{name: two, gateway: relay, form: bisq2, url: [\"\(relays[1].url)\", \"\(relays[2].url)\"]}",
            ])
        for relay in relays {
            relay.onPush = { [world] push in
                world.books.accepted(
                    Books.Push(
                        id: push.message, connection: "relay.\(push.connection)", isAnswered: true,
                        time: push.at.nanoseconds),
                    token: push.deviceToken, message: push.message)
            }
        }
        ntfy.onMessage = { [world] message in
            world.books.accepted(
                Books.Push(
                    id: message.sequenceID ?? "", connection: "ntfy", isAnswered: true,
                    time: EventLoop.now.nanoseconds),
                token: "nt1:" + message.topic, message: message.message)
        }
        for number in 0..<PoisonRun.phones / 10 {
            browsers.append(try world.gateway.subscribe(at: 0, "h\(number)"))
        }
    }

    func run() async throws {
        let words = FaultWords(text: "slow=20,poison=\(poison)")
        world.gateway.setFaults(apple: words, google: words, web: [words], seed: 1)
        try world.startNode()
        for _ in 0..<PoisonRun.connections { peers.append(try await world.connect()) }
        let topics = (0..<PoisonRun.topics).map(PoisonRun.healthy) + (0..<poison).map(FaultWords.poisoned)
        try await world.addPhones(topics.map { "nt1:" + $0 }, of: "ntfy")
        for number in 0..<poison { try bring(number) }
        let end = ContinuousClock.now + time
        let last = end + .nanoseconds(PoisonRun.stated)
        var again = 0
        // Others go on sending meanwhile.
        while ContinuousClock.now < last, ContinuousClock.now < end || isAwaited {
            for service in Service.allCases { try send(service, isCounted: ContinuousClock.now < end) }
            if Int.random(in: 0..<3) == 0 {
                try bring(again % poison)
                again += 1
            }
            await pause(.seconds(60) / PoisonRun.perMinute)
        }
        for peer in peers { peer.close() }
    }

    func close() async {
        for relay in relays { relay.close() }
        ntfy.close()
        await world.close()
    }

    /// One poisoned device of each service.
    private func bring(_ number: Int) throws {
        brought += 1
        for service in Service.allCases {
            let name = FaultWords.poisoned(number)
            let token =
                switch service {
                case .apple: name
                case .google, .one, .two: "lab:" + name
                case .browsers: try world.gateway.subscribe(at: 0, name)
                case .ntfy: "nt1:" + name
                }
            try post(token, at: service)
        }
    }

    private var isAwaited: Bool { sent.keys.contains { delay(of: $0) == nil } }

    private func send(_ service: Service, isCounted: Bool) throws {
        let name = PoisonRun.healthy(Int.random(in: 0..<PoisonRun.phones))
        let token =
            switch service {
            case .apple: name
            case .google, .one, .two: "lab:" + name
            case .browsers: browsers[Int.random(in: 0..<browsers.count)]
            case .ntfy: "nt1:" + PoisonRun.healthy(Int.random(in: 0..<PoisonRun.topics))
            }
        let uid = try post(token, at: service)
        if isCounted { sent[uid] = Sent(service: service, at: EventLoop.now.nanoseconds) }
    }

    private static func healthy(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    @discardableResult
    private func post(_ token: String, at service: Service) throws -> String {
        number += 1
        var request = MobileNotificationRequest()
        request.uid = "poison-\(number)"
        request.platform = service == .apple ? .ios : .android
        request.app = service == .browsers ? "" : service.rawValue
        request.deviceToken = token
        request.message = Sender.message(saying: request.uid)
        request.isUrgent = true
        world.books.sending(request)
        try peers[Int.random(in: peers.indices)].post(request)
        return request.uid
    }

    // MARK: What became of them

    private func delay(of uid: String) -> Int64? {
        guard let sent = sent[uid], let push = world.books.entries[uid]?.pushes.first else { return nil }
        return push.time - sent.at
    }

    var violations: [String] {
        sent.compactMap { uid, sent in
            let delay = delay(of: uid)
            return delay.map { $0 <= PoisonRun.stated } ?? false
                ? nil
                : "\(poison) at \(sent.service.rawValue): \(uid) \(delay.map { "after \($0.seconds) s" } ?? "never")"
        }
    }

    var rows: [[String]] {
        Service.allCases.map { service in
            let uids = sent.filter { $0.value.service == service }.keys
            let delays = uids.compactMap { delay(of: $0) }
            return [
                service.rawValue, "\(poison)", "\(brought)",
                "\(uids.count)", "\(delays.count)", "\((delays.max() ?? 0).seconds) s",
            ]
        }
    }
}
