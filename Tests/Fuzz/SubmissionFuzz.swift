import Figures
// Whole frames and requests, from the socket to the store and a gateway that takes everything: what one sender brings may
// cost a turn of the loop 5 ms at most. Built by `Deploy/tools/fuzz --cost` alone.
import Glibc
import Logging
import Synchronization

@testable import Bitwarden
@testable import Crypto
@testable import Dispatching
@testable import Doors
@testable import Encodings
@testable import Gorush
@testable import HTTP1
@testable import MailboxEndpoint
@testable import Outbound
@testable import Persistence
@testable import PushEndpoints
@testable import Reactor
@testable import Relay
@testable import StatusIMEndpoint
@testable import WebPushIn
@testable import Wire

/// An input's first byte names the endpoint: `P` the peers', `H` all that speak HTTP, `S` Status' stream.
///
/// - Returns: Processor time of the longest turn that it led to, in nanoseconds.
func longestTurn(of input: [UInt8]) -> UInt64 {
    // What a world has seen is a repetition to it, which costs less.
    if let known = world.value, known.seen.insert(input).inserted { return known.run(input) }
    if let known = world.value { onLoop { await known.end() } }
    let fresh = onLoop { try! await World() }
    world.value = fresh
    fresh.seen.insert(input)
    return fresh.run(input)
}

nonisolated(unsafe) private let world = Current()

private final class Current {
    var value: World?
}

/// Waits for what is done on the loop.
@discardableResult
private func onLoop<Value: Sendable>(_ body: @escaping @EventLoop @Sendable () async -> Value) -> Value {
    let holder = Holder<Value>()
    var ends: [CInt] = [0, 0]
    precondition(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let end = ends[1]
    Task { @EventLoop in
        let value = await body()
        holder.value.withLock { $0 = value }
        var byte: UInt8 = 1
        precondition(write(end, &byte, 1) == 1)
    }
    var byte: UInt8 = 0
    precondition(read(ends[0], &byte, 1) == 1)
    return holder.value.withLock { $0! }
}

private final class Holder<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
}

/// A node's inside with all endpoints, its store in memory.
@EventLoop
private final class World {
    nonisolated(unsafe) var seen: Set<[UInt8]> = []
    private let directory: String
    private let outbox: OutboxStore
    private let dispatcher: Dispatcher
    private let gateways: [Taker]
    private let peers: PeerDoor
    private let http: HTTPServer
    private let mailbox: MailboxDoor
    private let status: MessageDoor
    private let bearer: [UInt8]

    nonisolated private static let installation = "93b60203-2c75-4ec9-b575-6651c7dad956"
    nonisolated private static let address = "mb1:" + String(repeating: "a", count: 96)
    private static var made = 0

    init() async throws {
        World.made += 1
        // Deploy/tools/fuzz makes the folder, and removes it with all that is in it.
        let directory = String(cString: getenv("FUZZ_DIRECTORY")) + "/\(World.made)"
        precondition(mkdir(directory, 0o700) == 0)
        self.directory = directory
        outbox = try await OutboxStore(path: directory + "/outbox.sqlite")
        let log = Logger(label: "cost") { _ in SwiftLogNoOpLogHandler() }
        var apps = ["apple", "bisq2-ios", "bitwarden-ios"].map {
            App(name: $0, service: APNsService(), isEnabled: true)
        }
        apps.append(App(name: "android", service: FCMService(withNotification: false), isEnabled: true))
        apps.append(App(name: "mailboxes", service: MailboxService(), isEnabled: true))
        var limits = Admission.Limits()
        (limits.tokenBurst, limits.waitingPerToken) = (1_000_000, 100_000)
        dispatcher = Dispatcher(
            pipeline: Pipeline(
                validator: Validator(apps: apps, defaultIOS: "apple", defaultAndroid: "android"),
                limits: limits),
            outbox: outbox, digester: SubmissionDigester(key: Secret([1, 2, 3])), log: log)
        var gateways: [Taker] = []
        for app in apps {
            for host in [LaneHost.production, .sandbox] {
                let gateway = Taker()
                gateways.append(gateway)
                dispatcher.add(gateway, for: LaneID(app: app.name, host: host))
            }
        }
        self.gateways = gateways
        try await dispatcher.start()

        let key = Secret([UInt8](repeating: 7, count: 32))
        let store = try await StoredMailboxes(in: outbox)
        let digests = MailboxDigests(key: key)
        let file = try RegistrationFile(path: directory + "/outbox.sqlite", isReadOnly: false)
        let reader = Mailbox.Reader(name: "phone", token: digests.token("tk_1"))
        _ = try file.add(
            Mailbox(
                name: "mine", show: .sealed, isOpen: false, topic: digests.topic("mbmine"), readers: [reader]),
            address: digests.address(World.address), addedAt: 1)
        _ = try file.add(
            Mailbox.Publisher(name: "cron", token: digests.token("tk_2")), to: "mine", addedAt: 1)
        let replies = ReplyBoard(store: store, digests: digests)
        mailbox = MailboxDoor(
            settings: MailboxDoorSettings(), store: store, digests: digests, replies: replies)
        mailbox.use(try await store.all(unless: nil)?.mailboxes ?? [])

        var pushApps = PushApps()
        pushApps.ios = [PushApps.Apple(name: "apple", topic: "a.b")]
        pushApps.android = "android"
        var gorush = GorushDoorSettings()
        (gorush.apps, gorush.broadcasts) = (pushApps, true)
        var bisq = BisqRelayDoorSettings()
        bisq.bisq2.ios = "bisq2-ios"
        var webPush = WebPushSettings()
        (webPush.relay.ios, webPush.relay.android, webPush.pushApp) = ("apple", "android", "apple")
        var bitwarden = BitwardenDoorSettings()
        bitwarden.apps = pushApps
        let installations = try await StoredInstallations(in: outbox)
        let digest = BitwardenDigests(key: key).key("k", of: World.installation)
        try await installations.put(
            Installation(id: World.installation, keyDigest: digest, isEnabled: true, addedAt: 0))
        bearer = Array(
            BitwardenTokens(key: key).token(
                for: World.installation, with: digest, at: EventLoop.unixMilliseconds / 1000
            ).utf8)
        let server = StatusIMServer(
            settings: StatusIMServerSettings(), key: try Secp256k1.PrivateKey(key),
            registrations: try await StoredStatusIMRegistrations(
                in: outbox, limits: StatusIMRegistration.Limits()),
            dispatcher: dispatcher, digestKey: key, log: log)
        var settings = HTTPServerSettings()
        settings.limits.body = 1 << 20
        http = HTTPServer(
            settings: settings,
            doors: [
                BisqRelayDoor(settings: bisq, dispatcher: dispatcher),
                WebPushDoor(settings: webPush, dispatcher: dispatcher) { _ in false },
                LimitedDoor(
                    GorushDoor(settings: gorush, dispatcher: dispatcher), limits: World.limits(262_144)),
                BitwardenDoor(
                    settings: bitwarden, installations: installations,
                    devices: try await StoredBitwardenDevices(in: outbox), dispatcher: dispatcher, key: key,
                    log: log),
                LimitedDoor(StatusIMDoor(server), limits: World.limits(131_072)), mailbox,
            ])
        _ = try http.open(on: .unix(path: directory + "/H"))
        peers = PeerDoor(settings: PeerDoorSettings(), dispatcher: dispatcher, replies: replies)
        _ = try peers.open(on: .unix(path: directory + "/P"))
        var stream = MessageDoorSettings()
        (stream.rate, stream.totalRate) = (1000, 1000)
        status = MessageDoor(settings: stream) { message, sender, answer in
            server.take(message, from: sender, answer: answer)
        } onRefusal: {
        }
        _ = try status.open(on: .unix(path: directory + "/S"))
    }

    private static func limits(_ body: Int) -> LimitedDoor.Limits {
        var limits = LimitedDoor.Limits()
        limits.body = body
        return limits
    }

    func end() async {
        await peers.close()
        await http.close()
        await status.close()
        await mailbox.close()
        await dispatcher.stop(deadline: .seconds(1))
    }

    nonisolated func run(_ input: [UInt8]) -> UInt64 {
        let place = directory + "/" + String(UnicodeScalar(input[0]))
        // What is made once is not the input's.
        ask(place, input[0] == UInt8(ascii: "H") ? Array("GET / HTTP/1.0\r\n\r\n".utf8) : [0])
        settle()
        _ = onLoop { EventLoop.takeLongestTurn() }
        ask(place, withBearer(Array(input.dropFirst())))
        settle()
        return UInt64(onLoop { EventLoop.takeLongestTurn() })
    }

    private nonisolated func withBearer(_ bytes: [UInt8]) -> [UInt8] {
        let mark = Array("BEARER".utf8)
        guard let place = bytes.prefix(400).indices.first(where: { bytes[$0...].starts(with: mark) }) else {
            return bytes
        }
        return bytes[..<place] + bearer + bytes[(place + mark.count)...]
    }

    /// Sends it and reads until the other side closes, or says nothing for a while.
    private nonisolated func ask(_ path: String, _ bytes: [UInt8]) {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
        }
        precondition(code == 0, "\(path): \(errno)")
        var patience = timeval(tv_sec: 0, tv_usec: 300_000)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
        }
        var buffer = [UInt8](repeating: 0, count: 65536)
        while recv(socket, &buffer, buffer.count, 0) > 0 {}
    }

    /// Waits until everything that was begun has had its turns.
    private nonisolated func settle() {
        for _ in 0..<100 {
            usleep(1000)
            let isBusy = onLoop { [self] in
                for _ in 0..<3 { await EventLoop.nextTurn() }
                return dispatcher.waiting > 0 || peers.openConnections > 0
            }
            guard isBusy else { break }
        }
        for _ in 0..<3 {
            usleep(1000)
            onLoop { await EventLoop.nextTurn() }
        }
    }
}

/// Takes whatever it gets, at once.
@EventLoop
private final class Taker: Gateway {
    let capacity = 256
    let fault: String? = nil
    var onCapacity: (@EventLoop () -> Void)?
    let figures = GatewayFigures()
    private var taken: [@EventLoop (Outcome) -> Void] = []
    private let soon = EndOfTurn()

    init() {
        soon.action = { [unowned self] in
            var taken: [@EventLoop (Outcome) -> Void] = []
            swap(&taken, &self.taken)
            for completion in taken { completion(.accepted) }
        }
    }

    func start() {}
    func stop() {}
    func noteBacklog() {}
    func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        taken.append(completion)
        soon.schedule()
    }
}
