import ArgumentParser
import Crypto
import Encodings
import Glibc
import JSONCoding
import Lab
import Reactor
import TLS

/// Apple and Google in a process of their own, so that they can be killed. Each push that is accepted is a line on
/// standard output before it is answered.
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway", abstract: "The simulated gateways, for the driver.", shouldDisplay: false)

    @Argument var directory: String
    @Option var applePort: UInt16 = 0
    @Option var googlePort: UInt16 = 0
    @Option var apple = ""
    @Option var google = ""
    /// Of each push service of browsers.
    @Option var webPort: [UInt16] = []
    @Option var web: [String] = []
    @Option var seed: UInt64 = 1

    func run() async throws {
        Chaos.prepare()
        let gateways = try await Gateways(self)
        await gateways.serve()
    }
}

/// Both gateways, and the socket by which the driver changes their faults.
@EventLoop
private final class Gateways {
    private let apple: GatewaySimulator
    private let google: GatewaySimulator
    private let browsers: [GatewaySimulator]
    private var control: Listener!
    private var orders: [Orders] = []

    init(_ options: GatewayCommand) throws {
        let files = GatewayFiles(directory: options.directory)
        let context = try files.serverContext()
        apple = try GatewaySimulator(
            .apns(try files.apnsRules()), context, on: .host("127.0.0.1", port: options.applePort))
        google = try GatewaySimulator(
            .fcm(try files.fcmRules()), context, on: .host("127.0.0.1", port: options.googlePort))
        browsers = try files.webPushRules().enumerated().map { index, rules in
            let port = options.webPort.indices.contains(index) ? options.webPort[index] : 0
            return try GatewaySimulator(.webPush(rules), context, on: .host("127.0.0.1", port: port))
        }
        let web = browsers.enumerated().map { ($0.element, "web\($0.offset)") }
        for (simulator, name) in [(apple, "apple"), (google, "google")] + web {
            simulator.keepsBook = false
            simulator.onAccepted = { say(Gateways.line(of: $0, at: name)) }
            simulator.onBreak = { say("broke \(name) \($0) \(EventLoop.now.nanoseconds)") }
        }
        apple.faults = try FaultWords(text: options.apple).script(seed: options.seed)
        google.faults = try FaultWords(text: options.google).script(seed: options.seed)
        for (index, words) in options.web.enumerated() where browsers.indices.contains(index) {
            browsers[index].faults = try FaultWords(text: words).script(seed: options.seed)
        }
        control = try Listener(on: .unix(path: files.control)) { [unowned self] stream in
            orders.append(Orders(stream) { [unowned self] in obey($0) })
        }
    }

    func serve() async {
        let web = browsers.map { " \($0.endpoint)" }.joined()
        say("serving \(apple.endpoint) \(google.endpoint)\(web)")
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }

    /// `push GATEWAY CONNECTION ANSWERED TIME TOKEN ID MESSAGE`, all without blanks.
    /// What a browser gets is sealed: the driver opens it.
    private static func line(of push: AcceptedPush, at name: String) -> String {
        let begin =
            "push \(name) \(push.connection) \(push.isAnswered) \(EventLoop.now.nanoseconds) \(push.deviceToken)"
        if let topic = push.headers["topic"] { return "\(begin) \(topic) \(Base64.encode(push.body))" }
        let body = try? JSON(push.body)
        let message = body.flatMap(SenderWords.message) ?? "-"
        // Google is given no id: there the same sealed text is the same notification.
        let id = push.headers["apns-id"].map { "\($0)/\(push.headers["apns-collapse-id"] ?? "-")" } ?? message
        return "\(begin) \(id) \(message)"
    }

    /// `GATEWAY SEED WORDS`.
    private func obey(_ line: String) {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, let seed = UInt64(parts[1]),
            let script = try? FaultWords(text: String(parts[2])).script(seed: seed)
        else { return say("not understood: \(line)") }
        switch parts[0] {
        case "apple": apple.faults = script
        case "google": google.faults = script
        case _: if let index = Int(parts[0].dropFirst(3)) { browsers[index].faults = script }
        }
    }
}

/// Lines from the driver.
@EventLoop
private final class Orders: StreamHandler {
    private let stream: Stream
    private let onLine: @EventLoop (String) -> Void
    private var partial: [UInt8] = []

    init(_ stream: Stream, onLine: @escaping @EventLoop (String) -> Void) {
        self.stream = stream
        self.onLine = onLine
        stream.handler = self
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        for index in bytes.byteOffsets {
            let byte = bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            guard byte == UInt8(ascii: "\n") else {
                partial.append(byte)
                continue
            }
            onLine(String(decoding: partial, as: UTF8.self))
            partial = []
        }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { stream.close() }
}
