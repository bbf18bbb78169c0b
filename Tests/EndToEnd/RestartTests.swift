import Client
import Foundation
import JSONCoding
import Lab
import LabParts
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// A restart in place of the built program, in which nobody finds the node away.
@EventLoop
@Suite(.serialized) struct RestartTests {
    private func restart(_ configuration: String) async throws -> CommandResult {
        try await Task.detached { try run([program, "restart", "--config", configuration]) }.value
    }

    private func children(of process: Int32) throws -> [Int32] {
        try run(["pgrep", "-P", "\(process)"]).output.split(separator: "\n").compactMap { Int32($0) }
    }

    /// Sends one notification after the other, each over a connection of its own and none twice, as Bisq 1 does.
    @EventLoop
    private final class Senders {
        var taken = 0
        private(set) var waits: [Duration] = []
        var failures: [String] = []
        var isStopped = false

        func run(_ dial: @escaping @EventLoop () async throws -> BisqPeer) -> Task<Void, Never> {
            Task {
                var number = 0
                while !isStopped {
                    number += 1
                    let began = ContinuousClock.now
                    defer { waits.append(ContinuousClock.now - began) }
                    do {
                        let peer = try await dial()
                        let response = try await peer.send(request(number))
                        peer.close()
                        if [.stored, .delivered].contains(response.status) {
                            taken += 1
                        } else {
                            failures.append("\(number): \(response)")
                        }
                    } catch {
                        failures.append("\(number): \(error)")
                    }
                }
            }
        }
    }

    /// Restarts of each test.
    private static let count = isLong ? 50 : 3

    private func tell(_ senders: Senders) {
        let waits = senders.waits.sorted()
        print(
            "of \(waits.count) sends over \(RestartTests.count) restarts in place the longest took \(waits.suffix(3))"
        )
    }

    @Test func whoSendsMeanwhileFindsNoGap() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let process = try #require(stage.node.processID)
        let tor = try children(of: process)
        #expect(tor.count == 1)
        let senders = Senders()
        let sending = senders.run { try await stage.dial() }
        for count in 1...RestartTests.count {
            let before = senders.taken
            try await until { senders.taken > before + 3 || !senders.failures.isEmpty }
            let result = try await restart(stage.configuration)
            #expect(result.status == 0 && result.output.hasPrefix("restarted in place in "), "\(result)")
            await stage.logged("node.started", count: count + 1)
        }
        let before = senders.taken
        try await until { senders.taken > before + 3 || !senders.failures.isEmpty }
        senders.isStopped = true
        await sending.value
        tell(senders)
        #expect(senders.failures.isEmpty, "\(stage.node.lines.suffix(40))")
        #expect(stage.node.exit == nil && stage.node.processID == process)
        #expect(try children(of: process) == tor, "the node's tor is another one")
        await stage.close()
    }

    @Test func torKeepsTheServiceAndItsDescriptor() async throws {
        let stage = try await NodeTests.Stage()
        _ = try await stage.dial().ping()
        let process = try #require(stage.node.processID)
        let tor = try children(of: process)
        let senders = Senders()
        let sending = senders.run { try await stage.dial() }
        for count in 1...RestartTests.count {
            let before = senders.taken
            try await until { senders.taken > before || !senders.failures.isEmpty }
            let result = try await restart(stage.configuration)
            #expect(result.status == 0, "\(result)")
            await stage.node.wait { node in
                node.exit != nil || node.lines.count { $0.contains("node.started") } == count + 1
            }
        }
        let before = senders.taken
        try await until { senders.taken > before || !senders.failures.isEmpty }
        senders.isStopped = true
        await sending.value
        tell(senders)
        #expect(senders.failures.isEmpty, "\(stage.node.lines.suffix(40))")
        #expect(try children(of: process) == tor, "the node's tor is another one")
        #expect(!stage.node.lines.contains { $0.contains("onion.publishing") && $0.contains("again") })
        await stage.close()
    }

    /// Over Tor a client's first bytes may come seconds after its connection. Its circuit is said before them, and only once.
    @Test(arguments: [false, true])
    func whoIsConnectedAndHasSaidNothingIsServedByTheSuccessor(saysCircuits: Bool) async throws {
        let stage = try LoopbackStage {
            saysCircuits ? $0.replacing("guarded: false", with: "guarded: true") : $0
        }
        try await stage.start()
        @EventLoop func dial(_ circuit: String) async throws -> BisqPeer {
            let stream = try await Reactor.Stream.connect(to: stage.peers, deadline: theRun)
            if saysCircuits {
                stream.write(
                    Array(
                        "PROXY TCP6 fc00:dead:beef:4dad::0:\(circuit) ::1 \(Int(circuit, radix: 16)!) 9999\r\n"
                            .utf8))
            }
            return BisqPeer(stream, unread: [], network: .mainnet)
        }
        let silent = try await dial("2a")
        // They are taken in their order.
        let other = try await dial("2b")
        _ = try await other.ping()
        let result = try await restart(stage.configuration)
        #expect(result.status == 0, "\(result)")
        #expect(try await silent.send(request(1)).status == .stored)
        #expect(!stage.node.lines.contains { $0.contains("descriptors_unused") }, "\(stage.node.lines)")
        await stage.close()
    }

    @Test func withSettingsThatCannotBeReadItGoesOn() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        try (text + "\nno_such_key: 1\n").write(
            toFile: stage.configuration, atomically: true, encoding: .utf8)
        let result = try await restart(stage.configuration)
        #expect(result.status == 78 && result.errors.contains("no_such_key"), "\(result)")
        #expect(stage.node.exit == nil && !stage.node.lines.contains { $0.contains("node.restarting") })
        await stage.close()
    }

    @Test func aPortInUseIsFoundBeforeTheNodeStops() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let other = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
        let good = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        let bad = good + "doors:\n  web_push: {listen: [\"\(other.endpoint)\"]}\n"
        try bad.write(toFile: stage.configuration, atomically: true, encoding: .utf8)
        let result = try await restart(stage.configuration)
        #expect(
            result.status == 1
                && result.errors.contains("doors.web_push.listen: listen on \(other.endpoint)"),
            "\(result)")
        #expect(stage.node.exit == nil && !stage.node.lines.contains { $0.contains("node.restarting") })

        // Its own places are no fault, and one that is free is taken.
        other.close()
        let second = try await restart(stage.configuration)
        #expect(second.status == 0, "\(second)")
        let third = try await restart(stage.configuration)
        #expect(third.status == 0, "\(third)")
        await stage.close()
    }

    /// Whoever starts the node may hand it anything, less than he says, and say any number.
    @Test(arguments: [
        ("tor-control:onion:state-lock:settings", "4"), ("tor-log::listener:tor-control", "4"), ("a", "4"),
        ("", "4"), ("tor-control:tor-control:onion:onion", "4"), ("tor-control:onion", "2"),
        ("a:b:c:d:tor-control:onion:settings:state-lock", "8"), ("tor-control:onion", "1000000"),
        ("tor-control", "-1"),
    ])
    func descriptorsOfAnotherKindDoNoHarm(names: String, count: String) async throws {
        let stage = try LoopbackStage()
        let script = """
            LISTEN_PID=$$ LISTEN_FDS='\(count)' LISTEN_FDNAMES='\(names)' exec '\(nodeProgram)' --config '\(stage.configuration)' \
                3</dev/null 4</etc/passwd 5<'\(stage.configuration)' 6<&0
            """
        let node = try LabProgram(["sh", "-c", script])
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("node.started") } }
        #expect(node.exit == nil, "\(node.lines)")
        #expect(try await stage.dial().send(request(1)).status == .stored)
        let result = try await restart(stage.configuration)
        #expect(result.status == 0, "\(result)")
        await node.stop()
        await stage.close()
    }
}
