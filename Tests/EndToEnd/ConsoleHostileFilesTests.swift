import Crypto
import Encodings
import Foundation
import HTTP1
import JSONCoding
import Lab
import Node
import Processes
import Reactor
import Testing
import Vectors

/// Files from outside, at a built node: a backup that somebody has made by hand, and settings that name what is no file.
@EventLoop
@Suite(.serialized) struct ConsoleHostileFilesTests {
    private let passphrase = "correct horse battery"

    private func copy(_ owner: ConsoleBrowser) async throws -> JSON.Object {
        let answer = try await owner.send(
            "POST", "/api/v1/backup", JSON.object(["passphrase": .string(passphrase)]).text)
        #expect(answer.status == 200)
        let (text, _) = try PassphraseSeal.open(answer.body, passphrase: Secret(Array(passphrase.utf8)))
        return try #require(JSON(text, maximumDepth: 3).object)
    }

    private func restore(
        _ copy: JSON.Object, look: Bool, by owner: ConsoleBrowser
    ) async throws -> (status: Int, answer: JSON?) {
        let sealed = try PassphraseSeal(passphrase: Secret(Array(passphrase.utf8))).seal(
            Array(JSON.object(copy).text.utf8))
        return try await owner.json(
            "POST", "/api/v1/restore",
            JSON.object([
                "passphrase": .string(passphrase), "file": .string(Base64.encode(sealed)),
                "look": .bool(look),
                "old_node_stopped": .bool(true),
            ]).text)
    }

    private func changed(_ copy: JSON.Object, _ member: String, _ name: String, to text: String)
        -> JSON.Object
    {
        var (copy, files) = (copy, copy[member]?.object ?? [:])
        files[name] = .string(Base64.encode(Array(text.utf8)))
        copy[member] = .object(files)
        return copy
    }

    @Test func aCopyMadeByHandIsRefusedAndChangesNothing() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let copy = try await copy(owner)
        let settings = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        let state = URL(fileURLWithPath: stage.world.state).lastPathComponent
        for (member, name) in [
            ("credentials", "onionbell.yaml"), ("credentials", "torrc"),
            ("credentials", "\(state)/console-owner"), ("credentials", "\(state)/gateway-keys/other"),
            ("credentials", "credentials/other"), ("keys", "digest-key"), ("keys", "status-key"),
            ("keys", "vapid-key"), ("peers", "zoe.auth"),
        ] {
            for isLook in [true, false] {
                let answer = try await restore(
                    changed(copy, member, name, to: "junk"), look: isLook, by: owner)
                #expect(answer.status == 422 && answer.answer?["code"]?.string == "unfit_backup", "\(name)")
            }
        }
        // A credential that no gateway can read, and a program: shown, and not taken.
        var junk = copy
        junk["credentials"] = .object(["AuthKey.p8": .string(Base64.encode(Array("junk".utf8)))])
        let looked = try await restore(junk, look: true, by: owner)
        #expect(looked.answer?["faults"]?.array?.isEmpty == false, "\(looked.answer?.text ?? "")")
        #expect(try await restore(junk, look: false, by: owner).status == 422)
        var program = copy
        program["settings"] = .string(settings.replacing("mode: own", with: "mode: own\n  binary: /bin/sh"))
        let shown = try await restore(program, look: true, by: owner)
        #expect(shown.answer?["difference"]?.array?.contains { $0.text.contains("/bin/sh") } != true)
        #expect(!FileManager.default.fileExists(atPath: stage.world.state + "/moving-in"))
        #expect(try String(contentsOfFile: stage.configuration, encoding: .utf8) == settings)
        await stage.close()
    }

    /// The settings of the copy name a place that another program has here: the start of the moved node fails.
    @Test func aMoveWhoseStartFailsIsUndone() async throws {
        let ports = try freePorts(2)
        let stage = try LoopbackStage(consoleAt: ports[0])
        try await stage.start()
        let owner = try await stage.owner(at: ports[0])
        var copy = try await copy(owner)
        let before = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        copy["settings"] = .string(before.replacing(":\(ports[0])", with: ":\(ports[1])"))
        #expect(try await restore(copy, look: false, by: owner).status == 200)
        await stage.node.stop()
        let taken = try Listener(on: .host("127.0.0.1", port: ports[1])) { _ in }
        try await stage.start()
        #expect(stage.node.lines.contains { $0.contains("restore.finished") })
        #expect(stage.node.lines.contains { $0.contains("restore.undone") }, "\(stage.node.lines)")
        #expect(try String(contentsOfFile: stage.configuration, encoding: .utf8) == before)
        #expect(try await owner.send("GET", "/api/v1/settings").status == 200)
        let kept = try await owner.json("GET", "/api/v1/backup").1
        #expect(kept?["undone"]?["reason"]?.string?.contains(":\(ports[1])") == true, "\(kept?.text ?? "")")
        #expect(!FileManager.default.fileExists(atPath: stage.world.state + "/moving-back"))
        taken.close()
        await stage.close()
    }

    /// A pipe or a device would keep whoever opens it waiting: the check of settings says what it is, and the node goes on.
    @Test func aCheckWaitsForNoPipeAndNoDevice() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let pipe = stage.world.directory.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        for path in [pipe, "/dev/ptmx", "/dev/zero", stage.world.directory.path] {
            let torrc = text.replacing(
                "torrc: \(stage.world.directory.path)/torrc", with: "torrc: \(path)")
            let secret = text + "doors: {gorush: {secret_file: \(path)}}\n"
            let key = text.replacing("AuthKey.p8", with: path)
            for changed in [torrc, secret, key] {
                let (status, answer) = try await owner.json(
                    "POST", "/api/v1/settings/check", JSON.object(["text": .string(changed)]).text)
                #expect(status == 200 && answer?["faults"]?.array?.isEmpty == false, "\(path)")
            }
        }
        await stage.close()
    }
}
