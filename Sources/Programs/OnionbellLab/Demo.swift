import Client
import Clocks
import JSONCoding
import Lab
import Processes
import QR
import Reactor
import Tor
import Wire

/// The whole story on loopback, step by step: private Tor network, node, phones, peer, gateways. Every step is verified;
/// the first that is not ends it.
@EventLoop
final class Demo {
    /// A step that didn't end as it must.
    struct Broken: Error {
        let step: String
    }

    /// How long each leg took for one notification.
    struct Legs {
        var receipt: Duration
        var pushed: Duration
        /// The time until the sender heard the outcome; `nil`: the sender hears no more.
        var outcome: Duration?
    }

    let tor: String
    let narrator = Narrator()
    private var network: PrivateTorNetwork?
    private var world: LabWorld?
    private var node: LabNode?

    init(tor: String) { self.tor = tor }

    /// Runs the demo, and returns whether every step was verified.
    func run() async -> Bool {
        var isVerified = false
        do {
            try await tellStory()
            isVerified = true
        } catch let broken as Broken {
            narrator.failed(broken.step)
            for line in node?.lines.suffix(10) ?? [] { narrator.tell("node said: \(line)") }
        } catch {
            narrator.failed("\(error)")
            for line in node?.lines.suffix(10) ?? [] { narrator.tell("node said: \(line)") }
        }
        if let node, node.exit == nil { _ = await node.stop() }
        await world?.close()
        await network?.stop()
        return isVerified
    }

    private func tellStory() async throws {
        narrator.chapter("1. A private Tor network on this machine")
        // Before anything takes long.
        _ = try installedTorrc()
        let network = try await PrivateTorNetwork.start(tor: tor) { [narrator] in narrator.tell($0) }
        self.network = network
        let client = try await network.startTor()
        guard let socks = client.socks else { throw Broken(step: "the peer's tor has no SOCKS port") }
        narrator.verified("the network is up, and the peer's tor is connected")

        narrator.chapter("2. The node publishes itself")
        let world = try LabWorld()
        self.world = world
        let address = try await startNode(in: world, network)
        narrator.verified("published as \(address)")

        narrator.chapter("3. Two phones pair")
        let iPhone = try Phone.new(.ios, descriptor: "iPhone 8 Plus")
        let android = try Phone.new(.android, descriptor: "Google Pixel 6a")
        for phone in [iPhone, android] { narrator.tell("pairing token: \(phone.pairingToken.text)") }
        for line in try QRCode(iPhone.pairingToken.text).lines(coloured: hasColours) { printLine(line) }
        narrator.verified("the peer has both tokens (simulated for this demo)")

        narrator.chapter("4. A Bisq peer sends to both, over Tor")
        let dialled = EventLoop.now
        let peer = try await BisqPeer.dial(.tor(socks: socks, onion: address, port: 9999))
        narrator.verified("connected in \(since(dialled).inWords)")
        let roundTrip = try await peer.ping()
        var figures: [(name: String, legs: Legs)] = []
        for (name, server) in world.browsers {
            figures.append((name, try await ring(name, of: server, by: peer, in: world)))
        }
        for (name, phone, title) in [("iOS", iPhone, "Trade taken"), ("Android", android, "Payment started")]
        {
            figures.append((name, try await send(title, to: phone, called: name, by: peer, in: world)))
        }
        peer.close()

        narrator.chapter("5. A node without an account rings through Bisq's relay")
        figures.append(("Bisq's relay", try await ringThroughBisqsRelay(in: network)))

        narrator.chapter("6. The node stops in order")
        let memory = node?.residentMemory
        guard await node?.stop() == .exited(0) else {
            throw Broken(step: "the node did not end with status 0")
        }
        narrator.verified("node stopped")
        tell(figures, roundTrip: roundTrip, memory: memory)
    }

    private func startNode(in world: LabWorld, _ network: PrivateTorNetwork) async throws -> String {
        _ = try world.directory.make("state")
        let torDirectory = try world.directory.make("state/tor")
        // What every tor fetches first, so that the demo is not mostly waiting.
        try network.seed(dataDirectory: torDirectory)
        let torrc = world.directory.path + "/torrc"
        try network.writeTorrc(basedOn: installedTorrc(), to: torrc)
        let configuration = try world.configure(
            tor: ["mode: own", "binary: \(tor)", "torrc: \(torrc)"], withWebPush: true)
        narrator.tell("onionbell run --config \(configuration)")
        let node = try LabNode(ProgramBeside("onionbelld").path, configuration: configuration)
        self.node = node
        guard let line = await node.publishedLine() else {
            throw Broken(step: "the node ended before it was published")
        }
        narrator.tell("node said: \(line)")
        guard let address = try? PrivateFile.read(world.state + "/onion-address", limit: 100) else {
            throw Broken(step: "the node wrote no onion-address")
        }
        return String(decoding: address.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Sends a notification and follows it to the phone's screen.
    private func send(
        _ title: String, to phone: Phone, called name: String, by peer: BisqPeer, in world: LabWorld
    ) async throws -> Legs {
        let message = PhoneText(
            sentDate: EventLoop.unixMilliseconds, transactionID: "IgytxfRN", title: title,
            message: "Your trade IgytxfRN is waiting for you.", kind: .trade, actionRequired: "", version: 1)
        var request = try BisqSender(to: phone.pairingToken).request(for: message)
        request.awaitsOutcome = true
        let waiter = world.nextPush(to: phone)
        narrator.tell(
            "\(name): peer encrypts \"\(title)\" and sends \(request.message.utf8.count) characters")
        let sent = EventLoop.now
        let receipt = try await peer.send(request)
        let receiptTime = since(sent)
        guard receipt.status == .stored || receipt.status == .delivered else {
            throw Broken(step: "\(name): the node answered \(receipt.words)")
        }
        // What is delivered at once needs no place on the disk.
        if receipt.status == .stored {
            narrator.verified("\(name): node has stored it and answers \"\(receipt.words)\"")
        }
        guard let (push, at) = await waiter.wait(for: .seconds(20)) else {
            throw Broken(step: "\(name): the gateway got no push")
        }
        let pushTime = at - sent
        let outcome = receipt.status == .delivered ? receipt : try await peer.nextResponse(to: request.uid)
        let outcomeTime = since(sent)
        guard outcome.status == .delivered else {
            throw Broken(step: "\(name): the outcome is \(outcome.words)")
        }
        narrator.verified("\(name): gateway accepted it, node answers \"\(outcome.words)\"")
        let shown = try phone.open(try encrypted(in: push, for: phone))
        guard shown == message else { throw Broken(step: "\(name): the phone shows something else") }
        narrator.verified("\(name): phone decrypts and shows \"\(shown.title): \(shown.message)\"")
        return Legs(receipt: receiptTime, pushed: pushTime, outcome: outcomeTime)
    }

    /// Returns the text that the phone's app reads from the push.
    private func encrypted(in push: AcceptedPush, for phone: Phone) throws -> String {
        let body = try JSON(push.body)
        let text =
            phone.pairingToken.platform == .android
            ? body["message"]?["data"]?["encrypted"] : body["encrypted"]
        guard let encrypted = text?.string else { throw Broken(step: "the push has no encrypted text") }
        return encrypted
    }

    func since(_ start: MonotonicTime) -> Duration { EventLoop.now - start }

    private func tell(_ figures: [(name: String, legs: Legs)], roundTrip: Duration, memory: Int?) {
        narrator.chapter("Figures")
        printLine("  ping through Tor and back     \(roundTrip.inWords)")
        for (name, legs) in figures {
            printLine("  \(name): from sending to receipt   \(legs.receipt.inWords)")
            printLine("  \(name): ... to push at the gateway \(legs.pushed.inWords)")
            if let outcome = legs.outcome {
                printLine("  \(name): ... to outcome at the peer \(outcome.inWords)")
            }
        }
        if let memory { printLine("  memory of the node (VmRSS)    \(memory / 1024) MiB") }
    }
}
