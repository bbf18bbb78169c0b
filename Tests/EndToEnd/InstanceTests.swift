import Client
import Foundation
import Lab
import LabParts
import Reactor
import Testing
import Tor
import Wire

/// The built program with `tor.mode: instance`, and a tor with the command line of the package's unit.
@EventLoop
@Suite(.serialized) struct InstanceTests {
    private func command(_ stage: Stage, _ words: String...) throws -> CommandResult {
        try run([program] + words + ["--config", stage.configuration])
    }

    @Test func nodeAndTorStartAgainEachWithoutTheOther() async throws {
        let stage = try await Stage()
        _ = try await stage.dial().ping()
        #expect(access(stage.key, F_OK) == 0, "the service is not in the guarded form")
        let tor = stage.tor.processID

        await stage.node.kill()
        try await stage.startAgain()
        _ = try await stage.dial().ping()
        #expect(stage.tor.exit == nil && stage.tor.processID == tor)

        await stage.tor.end(by: SIGKILL)
        try stage.tor.start()
        await stage.published(2)
        _ = try await stage.dial().ping()

        stage.tor.signal(SIGHUP)
        await stage.published(3)
        _ = try await stage.dial().ping()

        let configuration = stage.configuration
        let doctor = try await Task.detached {
            try run([program, "doctor", "--config", configuration])
        }.value
        for words in [
            "pass  sockets: \(stage.path)/sockets is for the node's user only",
            "pass  sockets: \(stage.path)/shared is for the node's user only",
            "pass  tor: version", "pass  onion.dial: port 9999",
        ] { #expect(doctor.output.contains(words), "\(doctor)") }

        await stage.node.stop()
        #expect(stage.node.exit == .exited(0) && stage.tor.exit == nil)
        #expect(access(stage.key, F_OK) != 0, "the second copy of the onion key outlives the node")
        await stage.close()
    }

    /// Tor is a program of its own, and has the service by the connection that is handed on.
    @Test func aRestartInPlaceKeepsTheService() async throws {
        let stage = try await Stage()
        _ = try await stage.dial().ping()
        let (process, tor) = (stage.node.processID, stage.tor.processID)
        for _ in 1...3 {
            let configuration = stage.configuration
            let restarted = try await Task.detached {
                try run([program, "restart", "--config", configuration])
            }.value
            #expect(restarted.status == 0, "\(restarted)")
            _ = try await stage.dial().ping()
            #expect(try stage.isWell("onion"))
        }
        #expect(stage.node.processID == process && stage.tor.processID == tor && stage.tor.exit == nil)
        #expect(!stage.node.lines.contains { $0.contains("onion.republishing") })
        // What ends the node in the usual way takes the service back.
        await stage.node.stop()
        #expect(access(stage.key, F_OK) != 0, "the second copy of the onion key outlives the node")
        await stage.close()
    }

    /// A tor that hangs cuts the node off as one does that has lost its circuits: nobody is left to find that out alone.
    @Test func aTorThatHangsTurnsHealthRed() async throws {
        let stage = try await Stage()
        #expect(try stage.isWell("onion") && stage.isWell("tor"))
        stage.tor.signal(SIGSTOP)
        try await until { try !stage.isWell("onion") && !stage.isWell("tor") }
        stage.tor.signal(SIGCONT)
        try await until { try stage.isWell("onion") }
        await stage.close()
    }

    /// Tor still has the service of the node that was killed, and circuits by which its clients came.
    @Test func whoeverWasRevokedWhileTheNodeWasDownIsOut() async throws {
        let stage = try await Stage()
        let (alice, bob) = (try invite("alice", to: stage), try invite("bob", to: stage))
        await stage.node.wait { node in
            node.exit != nil || node.lines.contains { $0.contains("peers.authorized count=2") }
        }
        await stage.published(2)
        let network = try await SharedTorNetwork.network()
        let (hers, his) = (try await network.startTor(), try await network.startTor())
        try await hers.give(clientKey: alice, for: String(stage.address.dropLast(6)))
        try await his.give(clientKey: bob, for: String(stage.address.dropLast(6)))
        let socks = try #require(his.socks)
        try await until { await reaches(stage, by: socks) }

        await stage.node.kill()
        #expect(try command(stage, "revoke", "bob").status == 0)
        try await stage.startAgain()
        // By the circuit that he has, and by any other.
        let herSocks = try #require(hers.socks)
        try await until { await reaches(stage, by: herSocks) }
        for _ in 0..<3 { #expect(await !reaches(stage, by: socks)) }
        await stage.close()
    }

    /// The key for a client's control port.
    private func invite(_ name: String, to stage: Stage) throws -> String {
        let invited = try command(stage, "invite", name)
        #expect(invited.status == 0, "\(invited)")
        let line = invited.output.split(separator: "\n").first { $0.hasPrefix("ONION_CLIENT_AUTH_ADD ") }
        return String(try #require(line?.split(separator: " ").last))
    }

    /// Tries once, always by the same circuit while there is one.
    private func reaches(_ stage: Stage, by socks: Endpoint) async -> Bool {
        let route = SOCKS5Route(
            proxy: socks, host: stage.address, port: 9999,
            credentials: SOCKS5Credentials(user: "same", password: "same"))
        guard let found = try? await Reactor.Stream.connect(through: route, deadline: .seconds(5)) else {
            return false
        }
        found.stream.close()
        return true
    }

    /// A node and its tor, which share a directory.
    @EventLoop
    fileprivate final class Stage {
        let world: LabWorld
        let tor: InstanceTor
        let configuration: String
        private(set) var node: LabNode
        private(set) var address = ""
        private let socks: Endpoint

        var path: String { world.directory.path }
        /// Tor's copy of the onion key.
        var key: String { path + "/shared/service/hs_ed25519_secret_key" }

        init() async throws {
            socks = try #require(try await SharedTorNetwork.client().socks)
            world = try LabWorld()
            let path = world.directory.path
            tor = try InstanceTor(world.directory, try await SharedTorNetwork.network())
            try tor.start()
            configuration = try world.configure(
                tor: ["mode: instance", "control: \"unix:\(path)/shared/control\""],
                more: ["onion: {socket_directory: \(path)/sockets}"])
            node = try LabNode(nodeProgram, configuration: configuration)
            try await published()
        }

        private func published() async throws {
            let line = await node.publishedLine()
            let lines = node.lines
            address = String(
                try #require(line?.split(separator: " ").dropFirst().first, "the node said: \(lines)"))
        }

        /// Waits until this node has published so often.
        func published(_ count: Int) async {
            await node.wait { node in
                node.exit != nil || node.lines.count { $0.contains("onion.published") } >= count
            }
        }

        func startAgain() async throws {
            node = try LabNode(nodeProgram, configuration: configuration)
            try await published()
        }

        func isWell(_ check: String) throws -> Bool {
            try health(over: path + "/management")["checks"]?[check]?["ok"]?.bool ?? false
        }

        func dial() async throws -> BisqPeer {
            try await BisqPeer.dial(
                .tor(socks: socks, onion: address, port: 9999), attemptTimeout: .seconds(10))
        }

        func close() async {
            if node.exit == nil { await node.stop() }
            let indiscretions = node.indiscretions
            #expect(indiscretions.isEmpty, "the log tells what nobody may know")
            await tor.end(by: SIGKILL)
            await world.close()
        }
    }
}

/// The command of `onionbell-tor.service`, with other paths.
@EventLoop
final class InstanceTor {
    private(set) var exit: ChildExit?
    private var arguments: [String] = []
    private var child: ChildProcess!
    private var exitWaiter: UnsafeContinuation<Void, Never>?

    var processID: Int32 { child.processID }

    init(_ directory: LabDirectory, _ network: PrivateTorNetwork) throws {
        let path = directory.path
        _ = try directory.make("shared")
        _ = try directory.make("sockets")
        try network.seed(dataDirectory: path + "/tor")
        try network.writeTorrc(basedOn: projectTorrc, to: path + "/torrc")
        let unit = URL(filePath: projectTorrc).deletingLastPathComponent()
            .appending(path: "Deploy/system/onionbell-tor.service")
        let line = try #require(
            try String(contentsOf: unit, encoding: .utf8).replacing("\\\n", with: " ")
                .split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let words = line.dropFirst("ExecStart=".count)
            .replacing("/usr/local/share/onionbell/torrc", with: path + "/torrc")
            .replacing("/etc/onionbell-tor/torrc", with: path + "/none")
            .replacing("/var/lib/onionbell-tor", with: path + "/tor")
            .replacing("/run/onionbell-tor", with: path + "/shared")
        // What is between quotation marks is one word.
        for (number, part) in words.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            arguments += number % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
        arguments[0] = "tor"
    }

    func start() throws {
        exit = nil
        child = try ChildProcess(
            arguments, environment: ["PATH=/usr/bin:/usr/sbin"], onLine: { _ in },
            onExit: { [weak self] exit in
                self?.exit = exit
                self?.exitWaiter?.resume()
                self?.exitWaiter = nil
            })
    }

    func signal(_ number: Int32) { child.signal(number) }

    func end(by number: Int32) async {
        guard exit == nil else { return }
        child.signal(number)
        await withUnsafeContinuation { exitWaiter = $0 }
    }
}
