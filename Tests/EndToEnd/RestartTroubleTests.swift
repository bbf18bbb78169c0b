import Client
import Foundation
import HTTP1
import JSONCoding
import Lab
import LabParts
import Reactor
import Testing
import Vectors
import Wire

/// Restarts in place of the built program in bad moments.
@EventLoop
@Suite(.serialized) struct RestartTroubleTests {
    private func restart(_ configuration: String) -> Task<CommandResult, any Error> {
        Task.detached { try run([program, "restart", "--config", configuration]) }
    }

    /// Asks for a restart, and returns when the node has said that it is about to.
    private func askForRestart(_ stage: LoopbackStage) async throws -> Int {
        var call = HTTPRequest(method: "POST", path: "/api/v1/restart", body: Array("{}".utf8))
        call.fields.append("content-type", "application/json")
        return try await HTTPExchange.answer(
            to: call, host: "localhost", by: .direct(.unix(path: stage.world.state + "/status")),
            deadline: theRun
        ).status
    }

    private func count(_ wanted: MobileNotificationRequest, at stage: LoopbackStage) -> Int {
        stage.world.apple.book.count { $0.deviceToken == wanted.deviceToken }
    }

    /// What is at a gateway is waited for while the doors are open.
    @Test func nobodyWaitsForAGatewayThatHangs() async throws {
        let stage = try LoopbackStage()
        stage.world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        try await stage.start()
        #expect(try await stage.dial().send(request(1)).status == .stored)
        try await until { stage.world.apple.figures.requests > 0 }
        #expect(try await askForRestart(stage) == 202)
        #expect(try await stage.dial().send(request(2)).status == .stored)
        #expect(!stage.node.lines.contains { $0.contains("node.restarting") })

        stage.world.apple.faults = FaultScript()
        stage.world.apple.breakConnections()
        await stage.logged("node.started", count: 2)
        try await until { count(request(1), at: stage) > 0 && count(request(2), at: stage) > 0 }
        #expect(stage.world.apple.book.count == 2)
        await stage.close()
    }

    /// Senders come as fast as they can, and a backlog is on its way out.
    @Test func inAFloodNothingIsLostOrShownTwice() async throws {
        let stage = try LoopbackStage()
        stage.world.apple.faults = FaultScript([FaultRule(.delay(.milliseconds(50)), when: .every(3))])
        try await stage.start()
        var (taken, isOver): (Set<String>, Bool) = ([], false)
        let senders = (1...8).map { sender in
            Task {
                var number = sender * 1_000_000
                while !isOver {
                    let peer = try await stage.dial()
                    defer { peer.close() }
                    while !isOver {
                        number += 1
                        let wanted = request(number)
                        guard let response = try? await peer.send(wanted) else { break }
                        if [.stored, .delivered].contains(response.status) {
                            taken.insert(wanted.deviceToken)
                        }
                    }
                }
            }
        }
        for _ in 1...2 {
            let before = taken.count
            try await until { taken.count > before + 100 }
            let result = try await restart(stage.configuration).value
            #expect(result.status == 0, "\(result)")
        }
        isOver = true
        for sender in senders { try await sender.value }
        try await until { taken.isSubset(of: stage.world.apple.book.map(\.deviceToken)) }
        let shown = stage.world.apple.book.map(\.deviceToken)
        #expect(Set(shown).count == shown.count)
        await stage.close()
    }

    /// What is at a gateway that hangs is waited for ten seconds at most. It goes out after the restart, with what waits.
    @Test func aBacklogGoesOutAfterTheRestart() async throws {
        let stage = try LoopbackStage()
        stage.world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        try await stage.start()
        let wanted = (1...600).map { request($0) }
        let peer = try await stage.dial()
        for one in wanted { #expect(try await peer.send(one).status == .stored) }
        peer.close()
        try await until { stage.world.apple.figures.requests > 0 }
        let restarting = restart(stage.configuration)
        await stage.logged("node.restarting")
        #expect(stage.world.apple.book.isEmpty)
        stage.world.apple.faults = FaultScript()
        let result = try await restarting.value
        #expect(result.status == 0, "\(result)")
        try await until { stage.world.apple.book.count >= wanted.count }
        let shown = stage.world.apple.book.map(\.deviceToken)
        #expect(Set(shown) == Set(wanted.map(\.deviceToken)) && shown.count == wanted.count)
        await stage.close()
    }

    // MARK: The disk

    @Test func aCommitThatHangsIsWaitedFor() async throws {
        let stage = try LoopbackStage { $0 + "storage: {write_behind: 0}\n" }
        let disk = try TroubledDisk(stage.world.state + "/outbox", in: stage.world.directory.path)
        try await stage.start(environment: disk.environment)
        let peer = try await stage.dial()
        try disk.hang()
        let sending = Task { try await peer.send(request(1)).status }
        try await until { disk.isMet }
        let restarting = restart(stage.configuration)
        await stage.logged("node.restarting")
        try disk.mend()
        #expect(try await sending.value == .stored)
        let result = try await restarting.value
        #expect(result.status == 0, "\(result)")
        try await until { count(request(1), at: stage) > 0 }
        #expect(stage.world.apple.book.count == 1)
        await stage.close()
    }

    @Test func onAFullDiskTheNodeGoesOn() async throws {
        let stage = try LoopbackStage { $0 + "storage: {write_behind: 0}\n" }
        let disk = try TroubledDisk(stage.world.state, in: stage.world.directory.path)
        try await stage.start(environment: disk.environment)
        try disk.fill()
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1)).status == .busy)
        let result = try await restart(stage.configuration).value
        #expect(result.status == 1 && result.errors.contains("No space left on device"), "\(result)")
        #expect(stage.node.exit == nil && !stage.node.lines.contains { $0.contains("node.restarting") })
        try disk.mend()
        try await until { try await peer.send(request(1)).status != .busy }
        let second = try await restart(stage.configuration).value
        #expect(second.status == 0, "\(second)")
        try await until { count(request(1), at: stage) == 1 }
        await stage.close()
    }

    // MARK: What is handed over

    /// A control connection that tor has closed, with half a line in it, and one of another kind.
    @Test(arguments: ["closed", "half", "listening"])
    func aControlConnectionThatIsOfNoUseIsReplaced(kind: String) async throws {
        let stage = try LoopbackStage()
        let script = """
            import os, socket, sys
            near, far = socket.socketpair()
            if sys.argv[1] == 'half': far.send(b'650 HS_DESC UPLO')
            far.close()
            if sys.argv[1] == 'listening':
                near = socket.socket(socket.AF_UNIX)
                near.bind('')
                near.listen()
            note = os.open(sys.argv[2], os.O_CREAT | os.O_RDWR)
            os.write(note, b'source 00\\nservice 00\\nuploads 1\\nneighbours 1\\nprocess 1')
            for number, wanted in ((near.fileno(), 63), (note, 64)): os.dup2(number, wanted)
            os.dup2(63, 3); os.dup2(64, 4); os.dup2(64, 5)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='3', LISTEN_FDNAMES='tor-control:onion:tor-log')
            os.execv(sys.argv[3], sys.argv[3:])
            """
        let node = try LabProgram([
            "/usr/bin/python3", "-c", script, kind, stage.world.directory.path + "/note", nodeProgram,
            "--config",
            stage.configuration,
        ])
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("node.started") } }
        #expect(node.exit == nil, "\(node.lines)")
        #expect(try await stage.dial().send(request(1)).status == .stored)
        try await until { count(request(1), at: stage) == 1 }
        await node.stop()
        await stage.close()
    }
}
