import Client
import Crypto
import Encodings
import Foundation
import HTTP1
import JSONCoding
import Lab
import Node
import Owner
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// The copy that an owner keeps, and moving in from it, at built nodes.
@EventLoop
@Suite(.serialized) struct ConsoleKeepTests {
    private let passphrase = "correct horse battery"

    private func body(_ members: JSON.Object) -> String { JSON.object(members).text }

    private func copy(_ owner: ConsoleBrowser) async throws -> [UInt8] {
        let answer = try await owner.send(
            "POST", "/api/v1/backup", body(["passphrase": .string(passphrase)]))
        #expect(answer.status == 200, "\(String(decoding: answer.body.prefix(300), as: UTF8.self))")
        return answer.body
    }

    private func wanted(
        _ file: [UInt8], look: Bool = false, stopped: Bool = false, _ passphrase: String? = nil
    ) -> String {
        body([
            "passphrase": .string(passphrase ?? self.passphrase), "file": .string(Base64.encode(file)),
            "look": .bool(look), "old_node_stopped": .bool(stopped),
        ])
    }

    private func add(_ phone: Phone, _ name: String, to owner: ConsoleBrowser) async throws -> Int64 {
        let (status, added) = try await owner.json(
            "POST", "/api/v1/phones",
            body(["name": .string(name), "pairing_token": .string(phone.pairingToken.text)]))
        #expect(status == 201)
        return try #require(added?["number"]?.integer)
    }

    private func address(_ owner: ConsoleBrowser) async throws -> String? {
        try await owner.json("GET", "/api/v1/point").1?["address"]?.string
    }

    /// The same address, the same phones, which ring; nobody is rung twice.
    @Test func aNodeMovesToAnotherStateDirectory() async throws {
        let ports = try freePorts(2)
        let old = try LoopbackStage { text in
            text.replacing("apps:\n", with: "apps:\n  - {name: box, gateway: mailbox}\n")
                + "console: {listen: [\"127.0.0.1:\(ports[0])\"]}\ndoors: {mailbox: {listen: [\"onion:80\"]}}\n"
        }
        try await old.start()
        let owner = try await old.owner(at: ports[0])
        let phone = try Phone.new(.ios, descriptor: "iPhone X")
        let number = try await add(phone, "alice", to: owner)
        #expect(try await owner.send("PUT", "/api/v1/names/alice/address", "{}").status == 200)
        #expect(try await owner.send("POST", "/api/v1/mailboxes", #"{"name":"me"}"#).status == 201)
        #expect(try await owner.send("POST", "/api/v1/peers", #"{"name":"carol"}"#).status == 201)
        #expect(try await owner.json("GET", "/api/v1/backup").1?["made"] == .null)
        let before = try await address(owner)
        let file = try await copy(owner)
        #expect(PassphraseSeal.isSealed(file))
        let made = try await owner.json("GET", "/api/v1/backup").1?["made"]?.integer
        #expect(made.map { abs($0 - EventLoop.unixMilliseconds / 1000) < 600 } == true)
        await old.node.stop()

        // A fresh node on another state directory, beside the same push services.
        let state = old.world.directory.path + "/second"
        let configuration = old.world.directory.path + "/second.yaml"
        let text = try String(contentsOfFile: old.configuration, encoding: .utf8)
        try text.replacing(old.world.state, with: state).replacing("\(ports[0])", with: "\(ports[1])")
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        func start(_ environment: [String]? = nil) async throws -> LabNode {
            let node = try LabNode(nodeProgram, configuration: configuration, environment: environment)
            await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("node.started") } }
            #expect(node.exit == nil, "\(node.lines)")
            return node
        }
        // systemd's, as far as the node can tell.
        let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        let fresh = try await start(environment + ["NOTIFY_SOCKET=@onionbell-test-\(ports[1])"])
        let mover = ConsoleBrowser(ports[1])
        let linkFile = state + "/console-link"
        try await until { FileManager.default.fileExists(atPath: linkFile) }
        let link = try String(contentsOfFile: linkFile, encoding: .utf8).components(separatedBy: "#enter=")[1]
        #expect(try await mover.enter("link", link.trimmingCharacters(in: .whitespacesAndNewlines)) == 204)
        #expect(try await address(mover) != before)

        let (status, plan) = try await mover.json("POST", "/api/v1/restore", wanted(file, look: true))
        #expect(status == 200 && plan?["address"]?.string == before, "\(plan?.text ?? "")")
        #expect(plan?["phones"]?.integer == 1 && plan?["mailboxes"]?.integer == 1)
        #expect(plan?["settings"]?.string == "taken" && plan?["staged"]?.bool == false)
        #expect(plan?["private"]?.bool == true)
        let lines = plan?["difference"]?.array?.filter { $0["kind"]?.string != "same" } ?? []
        #expect(lines.contains { $0["text"]?.string?.contains("\(ports[0])") == true }, "\(lines)")
        // Nobody can ask the network here, so the owner has to know.
        let unknown = try await mover.json("POST", "/api/v1/restore", wanted(file))
        #expect(unknown.0 == 409 && unknown.1?["code"]?.string == "old_node_unknown")
        let taken = try await mover.json("POST", "/api/v1/restore", wanted(file, stopped: true))
        #expect(taken.0 == 200 && taken.1?["staged"]?.bool == true, "\(taken.1?.text ?? "")")
        #expect(try await mover.send("POST", "/api/v1/restart").status == 202)
        await fresh.wait { node in
            node.exit != nil || node.lines.count { $0.contains("node.started") } == 2
        }
        let moved = fresh
        #expect(moved.exit == nil && moved.lines.contains { $0.contains("restore.finished") })
        #expect(!FileManager.default.fileExists(atPath: state + "/moving-in"))
        // The owner's session is this machine's; the settings are the old node's, and so is the port.
        let after = ConsoleBrowser(ports[0])
        after.cookie = mover.cookie?.replacing("\(ports[1])", with: "\(ports[0])")
        #expect(try await address(after) == before)
        let book = try await after.json("GET", "/api/v1/phones").1
        #expect(book?["phones"]?.array?.first?["number"]?.integer == number)
        #expect(book?["aliases"]?.array?.compactMap(\.string) == ["alice"])
        let boxes = try await after.json("GET", "/api/v1/mailboxes").1?["mailboxes"]?.array
        #expect(boxes?.compactMap { $0["name"]?.string } == ["me"])
        #expect(boxes?.first?["readers"]?.array?.compactMap(\.string) == ["phone"])
        let peers = try await after.json("GET", "/api/v1/peers").1
        #expect(peers?["clients"]?.array?.compactMap(\.string) == ["carol"])
        let waiter = old.world.nextPush(to: phone)
        let rung = try await after.json(
            "POST", "/api/v1/phones/\(number)/ring",
            body(["pairing_token": .string(phone.pairingToken.text)]))
        #expect(rung.0 == 200 && rung.1?["outcome"]?.string == "delivered", "\(rung.1?.text ?? "")")
        #expect(await waiter.wait(for: theRun) != nil)
        // It is the same node now: its own copy may be taken in, another's not.
        let own = try await after.json("POST", "/api/v1/restore", wanted(file, look: true))
        #expect(own.0 == 200, "\(own.1?.text ?? "")")
        await moved.stop()
        await old.close()
    }

    /// The settings of a running node name another key, which it has taken over; the old file is gone.
    @Test func aCopyHasTheKeyThatTheSettingsName() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let directory = stage.world.directory.path
        try FileManager.default.moveItem(
            atPath: directory + "/AuthKey.p8", toPath: directory + "/NewKey.p8")
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        try text.replacing("AuthKey.p8", with: "NewKey.p8").write(
            toFile: stage.configuration, atomically: true, encoding: .utf8)
        try stage.signal(SIGHUP)
        await stage.logged("settings.reread")
        let (opened, _) = try PassphraseSeal.open(
            try await copy(owner), passphrase: Secret(Array(passphrase.utf8)))
        let copy = try JSON(opened, maximumDepth: 3)
        #expect(copy["settings"]?.string?.contains("NewKey.p8") == true)
        let key = copy["credentials"]?["NewKey.p8"]?.string.flatMap { Base64.decode($0) }
        #expect(try key == LabDirectory.read(directory + "/NewKey.p8"))
        #expect(copy["credentials"]?["AuthKey.p8"] == nil)
        await stage.close()
    }

    private func stageWithMailboxes(_ port: UInt16) throws -> LoopbackStage {
        try LoopbackStage {
            $0.replacing("apps:\n", with: "apps:\n  - {name: box, gateway: mailbox}\n")
                + "console: {listen: [\"127.0.0.1:\(port)\"]}\ndoors: {mailbox: {listen: [\"onion:80\"]}}\n"
        }
    }

    private func add(mailbox name: String, reader: String, to owner: ConsoleBrowser) async throws {
        let made = try await owner.send(
            "POST", "/api/v1/mailboxes", body(["name": .string(name), "readers": .array([.string(reader)])]))
        #expect(made.status == 201)
    }

    /// A mailbox of the copy has the name of another one here: the owner hears of it, before and after.
    @Test func whatIsNotTakenIsNamed() async throws {
        let port = try freePort()
        let stage = try stageWithMailboxes(port)
        try await stage.start()
        let owner = try await stage.owner(at: port)
        for name in ["anna", "bert"] { try await add(mailbox: name, reader: "tablet", to: owner) }
        let file = try await copy(owner)
        #expect(try await owner.send("DELETE", "/api/v1/mailboxes/anna").status == 204)
        try await add(mailbox: "anna", reader: "laptop", to: owner)
        let conflict: JSON = [
            "kind": "mailbox", "name": "anna", "mailbox": .null, "reason": "taken",
        ]
        for isLook in [true, false] {
            let (status, plan) = try await owner.json(
                "POST", "/api/v1/restore", wanted(file, look: isLook, stopped: true))
            #expect(status == 200 && plan?["conflicts"]?.array == [conflict], "\(plan?.text ?? "")")
            #expect(plan?["database"]?.bool == false)
        }
        await stage.node.stop()
        try await stage.start()
        #expect(stage.node.lines.contains { $0.contains("restore.finished") && $0.contains("not_taken=1") })
        await stage.close()
    }

    /// The numbers of the copy's mailboxes are those of others by now.
    @Test func aLostStoreComesBackBesideWhatWasAddedSince() async throws {
        let port = try freePort()
        let stage = try stageWithMailboxes(port)
        try await stage.start()
        let owner = try await stage.owner(at: port)
        for (name, reader) in [("anna", "tablet"), ("bert", "phone")] {
            try await add(mailbox: name, reader: reader, to: owner)
        }
        _ = try await add(try Phone.new(.ios, descriptor: "iPhone X"), "alice", to: owner)
        let file = try await copy(owner)
        await stage.node.stop()
        for name in try FileManager.default.contentsOfDirectory(atPath: stage.world.state)
        where name.hasPrefix("outbox.sqlite") {
            try FileManager.default.removeItem(atPath: "\(stage.world.state)/\(name)")
        }
        try await stage.start()
        try await add(mailbox: "carl", reader: "laptop", to: owner)
        _ = try await add(try Phone.new(.ios, descriptor: "iPhone X"), "dora", to: owner)
        let (status, plan) = try await owner.json(
            "POST", "/api/v1/restore", wanted(file, stopped: true))
        #expect(status == 200, "\(plan?.text ?? "")")
        await stage.node.stop()
        try await stage.start()
        let mailboxes = try await owner.json("GET", "/api/v1/mailboxes").1?["mailboxes"]?.array ?? []
        let readers = mailboxes.map { mailbox in
            "\(mailbox["name"]?.string ?? ""): \(mailbox["readers"]?.array?.compactMap(\.string) ?? [])"
        }
        #expect(readers == [#"carl: ["laptop"]"#, #"anna: ["tablet"]"#, #"bert: ["phone"]"#])
        let phones = try await owner.json("GET", "/api/v1/phones").1?["phones"]?.array ?? []
        #expect(phones.compactMap { $0["name"]?.string } == ["dora", "alice"])
        #expect(plan?["conflicts"]?.array == [])
        await stage.close()
    }

    @Test func whatIsNoCopyOfThisKindIsRefusedAndChangesNothing() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let port = owner.port
        let file = try await copy(owner)
        func refusal(_ body: String) async throws -> (Int, String?) {
            let (status, answer) = try await owner.json("POST", "/api/v1/restore", body)
            return (status, answer?["code"]?.string)
        }
        var changed = file
        changed[changed.count / 2] ^= 1
        var newer = file
        newer[15] = UInt8(ascii: "2")
        let foreign = try PassphraseSeal(passphrase: Secret(Array(passphrase.utf8))).seal(
            Array(#"{"onionbell_cluster":1}"#.utf8))
        for (bytes, word) in [
            (changed, "wrong_passphrase"), (Array(file.dropLast()), "wrong_passphrase"),
            (newer, "newer_backup"),
            ([], "no_backup"), (Array(repeating: 7, count: 100), "no_backup"), (foreign, "no_backup"),
            ([UInt8](repeating: 0, count: NodeBackup.longestFile + 1), "too_long"),
        ] {
            let (status, code) = try await refusal(wanted(bytes, stopped: true))
            #expect(status == 422 && code == word, "\(word): \(status) \(code ?? "")")
        }
        let wrong = try await refusal(wanted(file, "another horse battery"))
        #expect(wrong == (422, "wrong_passphrase"))
        for body in [
            "[]", "{}", #"{"passphrase":"x","file":"?"}"#, #"{"passphrase":"x","file":"","more":1}"#,
        ] {
            #expect(try await refusal(body).0 == 400, "\(body)")
        }
        let short = try await owner.json("POST", "/api/v1/backup", #"{"passphrase":"short"}"#)
        #expect(short.0 == 422 && short.1?["code"]?.string == "backup_passphrase")
        // Longer than any copy: refused by its length. Who has not entered sends no long body at all.
        let huge = String(repeating: "A", count: 7 << 20)
        #expect(try await owner.send("POST", "/api/v1/restore", huge).status == 413)
        let stranger = ConsoleBrowser(port)
        let long = wanted([UInt8](repeating: 0, count: 100_000))
        #expect(try await stranger.send("POST", "/api/v1/restore", long).status == 413)
        #expect(try await owner.send("POST", "/api/v1/phones", long).status == 413)
        #expect(!FileManager.default.fileExists(atPath: stage.world.state + "/moving-in"))
        await stage.close()
    }

    /// The commands are the console's calls; a node with phones takes no other node's copy.
    @Test func theCommandsDoTheSame() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        _ = try await add(try Phone.new(.ios, descriptor: "iPhone X"), "alice", to: owner)
        let directory = stage.world.directory.path
        try LabDirectory.write(Array((passphrase + "\n").utf8), to: directory + "/passphrase")
        func command(_ words: String...) async throws -> CommandResult {
            let words =
                [program] + words + [
                    "--config", stage.configuration, "--passphrase-file", directory + "/passphrase",
                ]
            return try await Task.detached { try run(words) }.value
        }
        let made = try await command("backup", directory + "/copy")
        #expect(made.status == 0, "\(made.errors)")
        let mode = try FileManager.default.attributesOfItem(atPath: directory + "/copy")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(try await command("backup", directory + "/copy").status == 73)
        let looked = try await command("restore", directory + "/copy", "--look")
        #expect(looked.status == 0 && looked.output.contains("phones     1"), "\(looked.errors)")
        #expect(looked.output.contains("settings   the same"), "\(looked.output)")
        let nothing = try await command("restore", stage.configuration)
        #expect(nothing.status == 65, "\(nothing.errors)")

        let other = try freePort()
        let another = try LoopbackStage(consoleAt: other)
        try await another.start()
        let stranger = try await another.owner(at: other)
        let file = try await copy(stranger)
        let refused = try await owner.json("POST", "/api/v1/restore", wanted(file, stopped: true))
        #expect(refused.0 == 409 && refused.1?["code"]?.string == "another_node", "\(refused.1?.text ?? "")")
        // Nobody starts it again, and nobody has to.
        #expect(try await owner.send("POST", "/api/v1/restart").status == 202)
        await stage.logged("node.started", count: 2)
        #expect(stage.node.exit == nil)
        await another.close()
        await stage.close()
    }
}
