import Client
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Wire

/// Somebody deletes or replaces the outbox of a built node that runs.
@EventLoop
@Suite struct DeletedOutboxTests {
    private func stage() async throws -> LoopbackStage {
        let stage = try LoopbackStage { $0 + "storage: {write_behind: 0}\n" }
        stage.world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        try await stage.start()
        return stage
    }

    private func delete(_ stage: LoopbackStage) throws {
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.removeItem(atPath: stage.world.state + "/outbox.sqlite" + suffix)
        }
    }

    @Test func whatWasAcceptedBeforeAndAfterItWasDeletedIsDelivered() async throws {
        let stage = try await stage()
        let peer = try await stage.dial()
        for number in 1...2 { #expect(try await peer.send(request(number)).status == .stored) }
        try delete(stage)
        for number in 3...4 {
            // Whoever comes first is told to come again.
            while try await peer.send(request(number)).status != .stored {
                await stage.logged("outbox.recovered")
            }
        }
        #expect(
            stage.node.lines.contains { $0.contains("outbox.failed") && $0.contains("was deleted or moved") })
        await stage.node.kill()
        stage.world.apple.faults = FaultScript()
        try await stage.start()
        while stage.world.apple.book.count < 4 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(Set(stage.world.apple.book.map(\.deviceToken)).count == 4)
        await stage.close()
    }

    @Test func aNodeWhoseFileWasReplacedIsRedAndItsNextStartIsRefused() async throws {
        let stage = try await stage()
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1)).status == .stored)
        let path = stage.world.state + "/outbox.sqlite"
        try delete(stage)
        try Data("another file".utf8).write(to: URL(filePath: path))
        #expect(try await peer.send(request(2)).status == .busy)
        await stage.logged("outbox.failed")
        #expect(try !stage.isWell("outbox"))
        await stage.node.kill()
        let refused = try LabNode(nodeProgram, configuration: stage.configuration)
        await refused.wait { $0.exit != nil }
        #expect(refused.exit == .exited(69) && refused.lines.contains { $0.contains("outbox.sqlite.saved") })
        // What the node held is in what it saved.
        try FileManager.default.removeItem(atPath: path)
        stage.world.apple.faults = FaultScript()
        try await stage.start()
        while stage.world.apple.book.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        await stage.close()
    }

    /// As `cp` does it with a copy of the week before.
    @Test func aNodeWhoseFileWasWrittenOverIsRedAndItsNextStartMixesNothing() async throws {
        let stage = try await stage()
        await stage.node.stop()
        let path = stage.world.state + "/outbox.sqlite"
        let copy = try Data(contentsOf: URL(filePath: path))
        try await stage.start()
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1)).status == .stored)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: copy)
        try file.close()
        #expect(try await peer.send(request(2)).status == .busy)
        await stage.logged("outbox.failed")
        #expect(try !stage.isWell("outbox") && stage.node.lines.contains { $0.contains("was written over") })
        await stage.node.kill()
        let refused = try LabNode(nodeProgram, configuration: stage.configuration)
        await refused.wait { $0.exit != nil }
        #expect(
            refused.exit == .exited(69)
                && refused.lines.contains { $0.contains("then move \(path)-wal and \(path)-shm") })
        for suffix in ["-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + suffix) }
        #expect(try Data(contentsOf: URL(filePath: path)) == copy)
        try await stage.start()
        await stage.close()
    }

    /// A first start says nothing, and a second one with its file neither.
    @Test func aStartThatFindsNoFileWhereANodeWasSaysSo() async throws {
        let stage = try await stage()
        await stage.node.stop()
        try await stage.start()
        await stage.node.stop()
        #expect(!stage.node.lines.contains { $0.contains("outbox.made_anew") })
        try FileManager.default.removeItem(atPath: stage.world.state + "/outbox.sqlite")
        try await stage.start()
        await stage.logged("outbox.made_anew")
        #expect(stage.node.lines.contains { $0.contains("outbox.made_anew") })
        await stage.close()
    }

    @Test func aStartThatFindsAnEmptyFileSaysSo() async throws {
        let stage = try await stage()
        await stage.node.stop()
        let path = stage.world.state + "/outbox.sqlite"
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try Data().write(to: URL(filePath: path))
        try await stage.start()
        await stage.logged("outbox.made_anew")
        let check = try stage.health()["checks"]?["outbox"]
        #expect(check?["ok"]?.bool == true && check?["state"]?.string?.contains("gone or empty") == true)
        await stage.close()
    }
}
