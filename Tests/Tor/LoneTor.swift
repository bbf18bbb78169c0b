import Foundation
import Lab
import Reactor

@testable import Tor

/// A real tor without any network, for what is between it and its controller.
@EventLoop
final class LoneTor {
    let directory = TemporaryDirectory()
    private(set) var exit: ChildExit?
    private var child: ChildProcess!
    private var log: [String] = []

    var control: Endpoint { .unix(path: directory.path + "/control") }
    var cookieFile: String { directory.path + "/cookie" }
    var credentials: ControlCredentials { ControlCredentials(cookieFile: cookieFile) }
    var processID: Int32 { child.processID }

    static let cookieLines = ["CookieAuthentication 1"]

    init(_ lines: [String] = cookieLines) throws {
        let torrc = directory.path + "/torrc"
        let text =
            [
                "DisableNetwork 1", "SocksPort 0", "DataDirectory \(directory.path)/data",
                "ControlPort unix:\(directory.path)/control", "CookieAuthFile \(cookieFile)",
                "__OwningControllerProcess \(getpid())",
            ] + lines
        try text.joined(separator: "\n").write(toFile: torrc, atomically: false, encoding: .utf8)
        child = try ChildProcess(
            ["tor", "-f", torrc, "--defaults-torrc", torrc + "-none", "--ignore-missing-torrc"],
            onLine: { [weak self] in self?.log.append($0) }, onExit: { [weak self] in self?.exit = $0 })
    }

    /// When tor has its control port and its cookie.
    func connect(_ credentials: ControlCredentials? = nil) async throws -> ControlConnection {
        try await EventLoop.until { self.exit != nil || self.log.contains { $0.contains("Bootstrapped 0%") } }
        return try await .open(control, credentials: credentials ?? self.credentials)
    }

    func kill() { child.signal(SIGKILL) }

    func waitUntilGone() async throws { try await EventLoop.until { self.exit != nil } }
}

/// A program on a control port that says what a test wants it to say.
@EventLoop
final class FakeTor: StreamHandler {
    let directory = TemporaryDirectory()
    private let answer: @EventLoop (String) -> String?
    private let greeting: String
    private var listener: Listener!
    private var streams: [Reactor.Stream] = []
    private var partial = ""

    var control: Endpoint { listener.endpoint }

    /// - Parameter answer: to a command line; `nil` closes the connection, an empty string is silence.
    init(greeting: String = "", answer: @escaping @EventLoop (String) -> String?) throws {
        self.greeting = greeting
        self.answer = answer
        listener = try Listener(on: .unix(path: directory.path + "/control")) { [unowned self] stream in
            stream.handler = self
            streams.append(stream)
            if !self.greeting.isEmpty { stream.write(Array(self.greeting.utf8)) }
        }
    }

    static func protocolInfo(
        version: String = "0.4.9.11", methods: String = "NULL", cookieFile: String? = nil
    ) -> String {
        let cookie = cookieFile.map { " COOKIEFILE=\"\($0)\"" } ?? ""
        return
            "250-PROTOCOLINFO 1\r\n250-AUTH METHODS=\(methods)\(cookie)\r\n250-VERSION Tor=\"\(version)\"\r\n250 OK\r\n"
    }

    func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
        bytes.withUnsafeBytes { partial += String(decoding: $0, as: UTF8.self) }
        while let end = partial.range(of: "\r\n") {
            let line = String(partial[..<end.lowerBound])
            partial.removeSubrange(..<end.upperBound)
            guard let text = answer(line) else { return stream.close() }
            stream.write(Array(text.utf8))
        }
    }

    func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {}
}
