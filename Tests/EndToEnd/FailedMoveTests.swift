import Client
import Crypto
import Encodings
import Foundation
import JSONCoding
import Lab
import MailboxEndpoint
import Persistence
import Reactor
import Testing
import Vectors
import Wire

/// A disk refuses one call after the other of a backup, and of moving in from one.
@EventLoop
@Suite(.serialized) struct FailedMoveTests {
    nonisolated private static let passphrase = "three bells in the fog"

    private func command(
        _ stage: LoopbackStage, _ words: String..., environment: [String: String] = [:]
    ) async throws -> CommandResult {
        let words = [program] + words + ["--config", stage.configuration]
        return try await Task.detached {
            try run(words, input: Self.passphrase + "\n", environment: environment)
        }.value
    }

    private func backUp(_ stage: LoopbackStage, to file: String) async throws {
        let made = try await command(stage, "backup", file, "--passphrase-file", "-")
        #expect(made.status == 0, "\(made.errors)")
    }

    @Test(arguments: FailingDisk.Way.allCases)
    func aBackupIsWholeOrNotThere(way: FailingDisk.Way) async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let folder = try stage.world.directory.make("copies")
        let disk = try FailingDisk(way, of: folder, in: stage.world.directory.path)
        var number = 0
        repeat {
            number += 1
            try disk.refuse(call: number)
            let made = try? await command(
                stage, "backup", folder + "/copy", "--passphrase-file", "-", environment: disk.environment)
            let file = try? LabDirectory.read(folder + "/copy")
            if made?.status == 0 { #expect(file != nil, "call \(number)") }
            if way != .killed, made?.status != 0 { #expect(file == nil, "call \(number)") }
            if let file {
                let passphrase = Secret(Array(Self.passphrase.utf8))
                #expect(throws: Never.self) { try PassphraseSeal.open(file, passphrase: passphrase) }
                try FileManager.default.removeItem(atPath: folder + "/copy")
            }
        } while disk.hasRefused
        #expect(number > 4)
        await stage.close()
    }

    /// The node takes a backup in for its next start.
    @Test func whatIsStagedIsWholeOrNotThere() async throws {
        let stage = try LoopbackStage()
        let (folder, file) = (stage.world.state + "/moving-in", stage.world.directory.path + "/copy")
        let disk = try FailingDisk(.once, of: folder, in: stage.world.directory.path)
        let environment = ProcessInfo.processInfo.environment.merging(disk.environment) { $1 }
        try await stage.start(environment: environment.map { "\($0)=\($1)" })
        try await backUp(stage, to: file)
        var number = 0
        repeat {
            number += 1
            try disk.refuse(call: number)
            let isTaken = try await self.stage(file, at: stage)
            let staged = try? JSON(try LabDirectory.read(folder), maximumDepth: 3)
            #expect(access(folder, F_OK) != 0 || staged != nil, "call \(number)")
            if isTaken { #expect(staged != nil) }
            unlink(folder)
        } while disk.hasRefused
        #expect(number > 4)
        await stage.close()
    }

    /// Takes a backup in as the command does, but for the restart.
    private func stage(_ file: String, at stage: LoopbackStage) async throws -> Bool {
        let body: JSON = [
            "passphrase": .string(Self.passphrase),
            "file": .string(Base64.encode(try LabDirectory.read(file))), "look": .bool(false),
            "old_node_stopped": .bool(true), "keep_settings": .bool(false),
        ]
        let request = stage.world.directory.path + "/request"
        try LabDirectory.write(Array(body.text.utf8), to: request)
        defer { unlink(request) }
        let arguments = [
            "curl", "-s", "-f", "-o", "/dev/null", "--unix-socket", stage.world.state + "/status", "-d",
            "@" + request,
            "http://localhost/api/v1/restore",
        ]
        return try await Task.detached { try run(arguments) }.value.status == 0
    }

    // MARK: The start that moves in

    /// All that a move changes: files by their names, and rows.
    private func content(of stage: LoopbackStage) throws -> [String: [UInt8]] {
        let (directory, state) = (stage.world.directory.path, stage.world.state)
        var content: [String: [UInt8]] = [:]
        for name in ["onionbell.yaml", "AuthKey.p8", "ca.pem", "service-account.json"] {
            content[name] = try? LabDirectory.read("\(directory)/\(name)")
        }
        for name in ["onion-key", "digest-key", "status-key", "vapid-key"] {
            content[name] = try? LabDirectory.read("\(state)/\(name)")
        }
        let peers = (try? FileManager.default.contentsOfDirectory(atPath: state + "/peers")) ?? []
        for name in peers where name.hasSuffix(".auth") {
            content[name] = try LabDirectory.read("\(state)/peers/\(name)")
        }
        let store = try RegistrationFile(path: state + "/outbox.sqlite", isReadOnly: true)
        let phones = try store.phoneBook().entries.map(\.phone.name).joined(separator: " ")
        let mailboxes = try store.mailboxes().map { "\($0.name) \($0.readers.map(\.name))" }.joined()
        content["rows"] = Array("\(phones) \(mailboxes)".utf8)
        return content
    }

    /// Starts the node until it has started or ended. What goes wrong behind a move may undo it.
    ///
    /// - Returns: Whether it has undone the move.
    @discardableResult
    private func startOnce(_ stage: LoopbackStage, environment: [String: String]) async throws -> Bool {
        let environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let node = try LabNode(
            nodeProgram, configuration: stage.configuration, environment: environment.map { "\($0)=\($1)" })
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("node.started") } }
        await node.stop()
        return node.lines.contains { $0.contains("restore.undone") }
    }

    @Test(arguments: FailingDisk.Way.allCases)
    func aNodeMovesInWholeOrStaysAsItWas(way: FailingDisk.Way) async throws {
        let old = try LoopbackStage { text in
            text.replacing("apps:\n", with: "apps:\n  - {name: box, gateway: mailbox}\n")
                + "doors: {mailbox: {listen: [\"onion:80\"]}}\n"
        }
        try await old.start()
        for words in [
            [
                "phones", "add", "alice", "--pairing-token",
                try Phone.new(.ios, descriptor: "x").pairingToken.text,
            ],
            ["mailbox", "add", "me"], ["invite", "carol"],
        ] {
            let result = try await Task.detached {
                try run([program] + words + ["--config", old.configuration])
            }.value
            #expect(result.status == 0, "\(words): \(result.errors)")
        }
        let file = old.world.directory.path + "/copy"
        try await backUp(old, to: file)
        await old.node.stop()

        let stage = try LoopbackStage()
        try await stage.start()
        #expect(try await self.stage(file, at: stage))
        await stage.node.stop()

        let folder = stage.world.directory.path
        let copy = folder + "-before"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try FileManager.default.copyItem(atPath: folder, toPath: copy)
        let before = try content(of: stage)
        try await startOnce(stage, environment: [:])
        let done = try content(of: stage)
        #expect(done != before && access(stage.world.state + "/moving-in", F_OK) != 0)
        let disk = try FailingDisk(way, of: folder, in: old.world.directory.path)
        // Behind the move the start has calls of its own. In short, each seventh is tried.
        var (number, gone) = (1, 0)
        repeat {
            try FileManager.default.removeItem(atPath: folder)
            try FileManager.default.copyItem(atPath: copy, toPath: folder)
            try disk.refuse(call: number)
            let isUndone = try await startOnce(stage, environment: disk.environment)
            let isStaged = access(stage.world.state + "/moving-in", F_OK) == 0
            gone = isStaged ? 0 : gone + 1
            let after = try content(of: stage)
            if way == .killed {
                try await startOnce(stage, environment: [:])
                #expect(try content(of: stage) == done, "call \(number)")
            } else {
                #expect(after == done || (isStaged || isUndone) && after == before, "call \(number)")
            }
            number += isLong ? 1 : 7
        } while disk.hasRefused && gone < (isLong ? 20 : 3)
        #expect(number > 30)
        await stage.close()
        await old.close()
    }
}
