import Crypto
import Encodings
import Glibc
import Lab
import Reactor

/// The gateways' process as the driver sees it: started, killed, started again at the same ports.
@EventLoop
final class GatewayProcess {
    let files: GatewayFiles
    private(set) var appleURL = ""
    private(set) var googleURL = ""
    /// Where browsers' push services listen: `127.0.0.1:PORT`.
    private(set) var webHosts: [String] = []
    /// By the paths of their endpoints.
    private var browsers: [String: Browser] = [:]

    /// The one of several nodes that has these gateways for itself.
    private let node: String
    private let books: Books
    private var child: ChildProcess?
    private var isServing = false
    private var hasEnded = true
    private var orders: Stream?
    private var apple = FaultWords.none
    private var google = FaultWords.none
    private var web: [FaultWords] = []
    private var seed: UInt64 = 1
    /// Connections are counted anew by each process.
    private var generation = 0

    init(_ files: GatewayFiles, of node: String = "", _ books: Books) {
        self.files = files
        self.node = node
        self.books = books
    }

    /// Returns when both gateways listen.
    func start() async throws {
        generation += 1
        isServing = false
        hasEnded = false
        var arguments = [
            Chaos.itself, "gateway", files.directory, "--apple", apple.text, "--google", google.text,
            "--seed", "\(seed)",
        ]
        for (option, url) in [("--apple-port", appleURL), ("--google-port", googleURL)] {
            if let port = url.split(separator: ":").last { arguments += [option, String(port)] }
        }
        for host in webHosts { arguments += ["--web-port", String(host.split(separator: ":")[1])] }
        for faults in web { arguments += ["--web", faults.text] }
        child = try ChildProcess(
            arguments, onLine: { [unowned self] in read($0) },
            onExit: { [unowned self] _ in hasEnded = true })
        while !isServing {
            guard !hasEnded else { throw ChaosError("the gateways' process ended by itself") }
            await pause(.milliseconds(2))
        }
        orders = try await Stream.connect(to: .unix(path: files.control))
    }

    func kill() async {
        books.gatewayKilled()
        child?.signal(SIGKILL)
        while !hasEnded { await pause(.milliseconds(1)) }
        orders?.close()
        orders = nil
    }

    /// Kept over restarts.
    func setFaults(apple: FaultWords, google: FaultWords, web: [FaultWords] = [], seed: UInt64) {
        self.web = webHosts.indices.map { web.indices.contains($0) ? web[$0] : .none }
        self.apple = apple
        self.google = google
        self.seed = seed
        let lines = self.web.enumerated().map { "web\($0.offset) \(seed) \($0.element.text)\n" }.joined()
        orders?.write(Array("apple \(seed) \(apple.text)\ngoogle \(seed) \(google.text)\n\(lines)".utf8))
    }

    /// A browser at one of the push services: its token.
    func subscribe(at service: Int, _ name: String) throws -> String {
        let path = "/wpush/v2/\(name)"
        let browser = try Browser(at: "https://\(webHosts[service])", path: path)
        browsers[path] = browser
        return browser.token
    }

    private func accepted(_ push: Books.Push, of gateway: String, at token: String, _ message: String) {
        guard gateway.hasPrefix("web") else { return books.accepted(push, token: token, message: message) }
        guard let browser = browsers[token], let body = Base64.decode(message),
            let text = try? browser.open(body)
        else { return books.violate("a push that its browser can't open") }
        books.accepted(push, token: browser.token, message: text)
    }

    private func read(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "serving" where words.count > 3:
            appleURL = "https://\(words[1])"
            googleURL = "https://\(words[2])"
            webHosts = Array(words[3...])
            isServing = true
        case "push" where words.count == 8:
            accepted(
                Books.Push(
                    id: words[6], connection: connection(words), isAnswered: words[3] == "true",
                    time: Int64(words[4]) ?? 0, node: node), of: words[1], at: words[5], words[7])
        case "broke" where words.count == 4:
            books.broke(connection(words), at: Int64(words[3]) ?? 0)
        case _: books.violate("the gateways said: \(line)")
        }
    }

    private func connection(_ words: [String]) -> String { "\(node).\(generation).\(words[1]).\(words[2])" }
}

struct ChaosError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
