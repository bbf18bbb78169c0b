import Client
import Foundation
import Glibc
import Lab
import LabParts
import Reactor
import Testing
import Vectors
import Wire

/// The built program under a real systemd, whose store keeps what must not break over a true restart and a crash.
@EventLoop
@Suite(
    .serialized,
    .enabled(if: ServiceManagerStage.obstacle == nil, "\(ServiceManagerStage.obstacle ?? "")"))
struct StoreTests {
    /// Crashes and restarts of each test.
    private static let count = isLong ? 20 : 2

    /// Sends one notification after the other, each over a connection of its own and none twice, as Bisq 1 does.
    @EventLoop
    private final class Sender {
        private(set) var taken = 0
        private(set) var failures: [String] = []
        private(set) var waits: [Duration] = []
        private var isStopped = false
        private var sending: Task<Void, Never>?

        init(_ dial: @escaping @EventLoop () async throws -> BisqPeer) {
            sending = Task { [self] in
                while !isStopped {
                    let began = ContinuousClock.now
                    do {
                        let peer = try await dial()
                        let response = try await peer.send(request(taken + failures.count + 1))
                        peer.close()
                        if [.stored, .delivered].contains(response.status) {
                            taken += 1
                        } else {
                            failures.append("\(response)")
                        }
                    } catch {
                        failures.append("\(error)")
                    }
                    waits.append(ContinuousClock.now - began)
                }
            }
        }

        /// Returns once further ones have come through, or one has failed.
        func goesOn(by count: Int) async throws {
            let before = taken
            try await until { self.taken > before + count || !self.failures.isEmpty }
        }

        func stop() async {
            isStopped = true
            await sending?.value
        }
    }

    /// Kills the node again and again, and sends while none is there; then has systemd restart it while a sender goes on.
    private func endAndStart(
        _ systemd: ServiceManagerStage, by count: Int,
        _ dial: @escaping @EventLoop () async throws -> BisqPeer
    ) async throws {
        var starts = 1
        var longest: Duration = .zero
        for number in 1...StoreTests.count {
            _ = try await systemd.systemctl("kill", "--signal=KILL", "--kill-whom=main")
            let began = ContinuousClock.now
            #expect(try await dial().send(request(1000 + number)).status == .stored)
            longest = max(longest, ContinuousClock.now - began)
            // The doors are open before the start is over: one that is killed in between never says that it has started.
            starts += 1
            await systemd.logged("node.started", count: starts)
        }
        let sender = Sender(dial)
        for _ in 1...StoreTests.count {
            try await sender.goesOn(by: count)
            _ = try await systemd.systemctl("restart")
            starts += 1
            await systemd.logged("node.started", count: starts)
        }
        try await sender.goesOn(by: count)
        await sender.stop()
        #expect(sender.failures.isEmpty, "\(systemd.lines.suffix(60))")
        print("over \(StoreTests.count) crashes the longest send took \(longest)")
        print(
            "of \(sender.waits.count) sends over restarts the longest took \(sender.waits.sorted().suffix(3))"
        )
    }

    @Test func whoSendsDuringACrashOrARestartWaits() async throws {
        let stage = try LoopbackStage()
        let systemd = try await ServiceManagerStage(stage.world.directory, configuration: stage.configuration)
        _ = try await systemd.systemctl("start")
        let kept = try await systemd.stored()
        #expect(kept > 1)
        try await endAndStart(systemd, by: 3) { try await stage.dial() }
        #expect(try await systemd.stored() == kept)
        #expect(!systemd.lines.contains { $0.contains("descriptors_unused") }, "\(systemd.lines)")

        // When the unit is stopped, nobody waits for nothing.
        _ = try await systemd.systemctl("stop")
        #expect(try await systemd.stored() == 0)
        await #expect(throws: ConnectError.self) {
            try await Reactor.Stream.connect(to: stage.peers, deadline: theRun).close()
        }
        _ = try await systemd.systemctl("start")
        #expect(try await stage.dial().send(request(2000)).status == .stored)
        await systemd.close()
        await stage.close()
    }

    @Test func torKeepsTheServiceOverACrashAndARestart() async throws {
        let socks = try #require(try await SharedTorNetwork.client().socks)
        let world = try LabWorld()
        let path = world.directory.path
        let tor = try InstanceTor(world.directory, try await SharedTorNetwork.network())
        try tor.start()
        let configuration = try world.configure(
            tor: ["mode: instance", "control: \"unix:\(path)/shared/control\""],
            more: ["onion: {socket_directory: \(path)/sockets}"])
        let systemd = try await ServiceManagerStage(world.directory, configuration: configuration)
        _ = try await systemd.systemctl("start")
        await systemd.logged("onion.published", count: 1)
        try await until { access(world.state + "/onion-address", F_OK) == 0 }
        let address = try String(contentsOfFile: world.state + "/onion-address", encoding: .utf8)
            .trimmingCharacters(in: .newlines)
        let dial: @EventLoop () async throws -> BisqPeer = {
            try await BisqPeer.dial(.tor(socks: socks, onion: address, port: 9999), deadline: theRun)
        }
        _ = try await dial().ping()
        let kept = try await systemd.stored()
        let process = tor.processID
        let bootstraps = systemd.lines.count { $0.contains("tor.bootstrapped") }
        try await endAndStart(systemd, by: 1, dial)
        #expect(try await systemd.stored() == kept)
        #expect(tor.exit == nil && tor.processID == process)
        #expect(!systemd.lines.contains { $0.contains("onion.republishing") || $0.contains("tor.waiting") })
        // Who gives tor a service asks how far it has come into the network; who takes one over has its note.
        #expect(systemd.lines.count { $0.contains("tor.bootstrapped") } == bootstraps, "\(systemd.lines)")

        // When the unit is stopped, tor takes the address back: its service manager starts it without one.
        _ = try await systemd.systemctl("stop")
        try await until { tor.exit != nil }
        await systemd.close()
        await world.close()
    }

    /// It would go on to serve the address, and half of all senders would come to its closed port.
    @Test func aTorThatTheNodeDoesNotUseAnyMoreEnds() async throws {
        let world = try LabWorld()
        let path = world.directory.path
        let tor = try InstanceTor(world.directory, try await SharedTorNetwork.network())
        try tor.start()
        let configuration = try world.configure(
            tor: ["mode: instance", "control: \"unix:\(path)/shared/control\""],
            more: ["onion: {socket_directory: \(path)/sockets}"])
        let systemd = try await ServiceManagerStage(world.directory, configuration: configuration)
        _ = try await systemd.systemctl("start")
        await systemd.logged("onion.published", count: 1)
        let torrc = Array("\nDisableNetwork 1\n".utf8)
        try LabDirectory.write(try LabDirectory.read(projectTorrc) + torrc, to: path + "/own-torrc")
        _ = try world.configure(tor: ["mode: own", "torrc: \(path)/own-torrc"])
        _ = try await systemd.systemctl("restart")
        try await until { tor.exit != nil }
        await systemd.close()
        await world.close()
    }

    @Test func aListenerThatTheSettingsNameNoMoreIsClosed() async throws {
        let stage = try LoopbackStage()
        let (path, good) = (
            stage.world.directory.path + "/other",
            try String(contentsOfFile: stage.configuration, encoding: .utf8)
        )
        try (good + "doors: {web_push: {listen: [\"unix:\(path)\"]}}\n").write(
            toFile: stage.configuration, atomically: true, encoding: .utf8)
        let systemd = try await ServiceManagerStage(stage.world.directory, configuration: stage.configuration)
        _ = try await systemd.systemctl("start")
        let kept = try await systemd.stored()
        try good.write(toFile: stage.configuration, atomically: true, encoding: .utf8)
        _ = try await systemd.systemctl("restart")
        // The log is read by a program of its own.
        await systemd.logged("restart.descriptors_unused", count: 1)
        #expect(
            systemd.lines.contains { $0.contains("restart.descriptors_unused count=1") }, "\(systemd.lines)")
        try await until { try await systemd.stored() == kept - 1 }
        await #expect(throws: ConnectError.self) {
            try await Reactor.Stream.connect(to: .unix(path: path), deadline: theRun).close()
        }
        await systemd.close()
        await stage.close()
    }
}
