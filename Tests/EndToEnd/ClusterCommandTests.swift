import Crypto
import Foundation
import Lab
import Reactor
import Testing

/// `onionbell cluster`, with the built program.
@EventLoop
@Suite struct ClusterCommandTests {
    private static let passphrase = "three bells in the fog"
    private static let names = ["digest-key", "status-key", "vapid-key"]

    /// A node that has not run, with its state directory.
    @EventLoop
    private final class Node {
        let world: LabWorld
        let configuration: String
        var file: String { world.directory.path + "/cluster-keys" }

        init() throws {
            world = try LabWorld()
            configuration = try world.configure(tor: ["mode: own"])
            _ = try world.directory.make("state")
        }

        func cluster(_ words: String..., input: String = ClusterCommandTests.passphrase) throws
            -> CommandResult
        {
            try run(
                [program, "cluster"] + words + ["--passphrase-file", "-", "--config", configuration],
                input: input + "\n")
        }

        func key(_ name: String) -> String? {
            try? String(contentsOfFile: world.state + "/" + name, encoding: .utf8)
        }

        var keys: [String?] { ClusterCommandTests.names.map(key) }
    }

    private func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func theKeysGoToAnotherNodeAndNothingOfThemIsShown() async throws {
        let first = try Node()
        let second = try Node()
        let exported = try first.cluster("export", first.file)
        #expect(exported.status == 0, "\(exported)")
        #expect(try mode(of: first.file) == 0o600)
        #expect(first.keys.allSatisfy { $0 != nil })
        // An existing file is not replaced, and the keys that are there are not made anew.
        let keys = first.keys
        #expect(try first.cluster("export", first.file).status == 73)
        #expect(first.keys == keys)

        let imported = try second.cluster("import", first.file)
        #expect(imported.status == 0, "\(imported)")
        #expect(second.keys == keys)
        for name in Self.names { #expect(try mode(of: second.world.state + "/" + name) == 0o600) }
        #expect(!FileManager.default.fileExists(atPath: second.world.state + "/onion-key"))
        let again = try second.cluster("import", first.file)
        #expect(again.status == 0 && again.output.contains("digest-key: the same already"))

        let sealed = try LabDirectory.read(first.file)
        for key in keys.compactMap(\.self) {
            let secret = key.split(separator: "\n").max { $0.count < $1.count } ?? ""
            #expect(!String(decoding: sealed, as: UTF8.self).contains(secret))
            for said in [exported, imported, again] {
                #expect(!said.output.contains(secret) && !said.errors.contains(secret))
            }
        }
        await first.world.close()
        await second.world.close()
    }

    @Test func anotherKeyIsReplacedOnlyWhenAskedForAndThenKept() async throws {
        let first = try Node()
        let second = try Node()
        #expect(try first.cluster("export", first.file).status == 0)
        #expect(try second.cluster("export", second.file).status == 0)
        // Only one of the three is another.
        for name in ["status-key", "vapid-key"] {
            try FileManager.default.removeItem(atPath: second.world.state + "/" + name)
        }
        let before = second.keys
        let refused = try second.cluster("import", first.file)
        #expect(refused.status == 69 && refused.errors.contains("digest-key is another key"), "\(refused)")
        #expect(second.keys == before, "a key was written all the same")
        let forced = try second.cluster("import", first.file, "--force")
        #expect(forced.status == 0, "\(forced)")
        #expect(second.keys == first.keys)
        let aside = try FileManager.default.contentsOfDirectory(atPath: second.world.state).filter {
            $0.hasPrefix("digest-key-")
        }
        #expect(aside.count == 1 && second.key(aside.first ?? "") == before[0])
        await first.world.close()
        await second.world.close()
    }

    @Test func whatIsNoSuchFileIsRefusedAndChangesNothing() async throws {
        let first = try Node()
        let second = try Node()
        #expect(try first.cluster("export", first.file).status == 0)
        let good = try LabDirectory.read(first.file)
        let bad = second.world.directory.path + "/bad"
        func refusal(_ bytes: [UInt8], input: String = Self.passphrase) throws -> CommandResult {
            try LabDirectory.write(bytes, to: bad)
            return try second.cluster("import", bad, input: input)
        }
        var changed = good
        changed[good.count / 2] ^= 1
        for said in [
            try refusal(good, input: "another passphrase"), try refusal(changed),
            try refusal(Array(good.dropLast())), try refusal(Array(good.prefix(70))),
        ] {
            #expect(
                said.status == 65 && said.errors.contains("the passphrase is wrong, or the file"), "\(said)")
        }
        let passphrase = Secret(Array(Self.passphrase.utf8))
        func sealed(_ text: String) throws -> [UInt8] {
            try PassphraseSeal(passphrase: passphrase).seal(Array(text.utf8))
        }
        for bytes in [
            [], Array("hello".utf8), Array(good.prefix(20)), try sealed("{}"), try sealed("no JSON"),
            try sealed(#"{"onionbell_cluster":1,"keys":{},"credentials":{}}"#),
            try sealed(String(repeating: "[", count: 100_000)),
        ] {
            let said = try refusal(bytes)
            #expect(said.status == 65 && said.errors.contains("is no file of onionbell cluster"), "\(said)")
        }
        for bytes in [
            Array("OnionbellSealed2".utf8) + good.dropFirst(16),
            try sealed(#"{"onionbell_cluster":2,"locks":{}}"#),
        ] {
            let said = try refusal(bytes)
            #expect(said.status == 65 && said.errors.contains("newer version"), "\(said)")
        }
        #expect(try refusal([UInt8](repeating: 0, count: 5 << 20)).status == 66)
        #expect(try second.cluster("import", bad + "-nowhere").status == 66)
        #expect(second.keys == [nil, nil, nil])
        await first.world.close()
        await second.world.close()
    }

    @Test func aShortPassphraseIsNoneForAllKeys() async throws {
        let node = try Node()
        let said = try node.cluster("export", node.file, input: "short")
        #expect(said.status == 65 && said.errors.contains("12 characters"))
        #expect(try node.cluster("export", node.file, input: "").status == 65)
        #expect(!FileManager.default.fileExists(atPath: node.file))
        await node.world.close()
    }

    /// What a person types at a terminal, which is asked twice for a new one.
    @Test func whoeverSitsAtATerminalIsAsked() async throws {
        let first = try Node()
        let second = try Node()
        let typist = """
            import os, pty, sys
            words = sys.argv[1].split("|")
            process, terminal = pty.fork()
            if process == 0:
                os.execvp(sys.argv[2], sys.argv[2:])
            seen = b""
            while True:
                try:
                    part = os.read(terminal, 4096)
                except OSError:
                    break
                if not part:
                    break
                seen += part
                if words and seen.endswith(b" (not shown): "):
                    os.write(terminal, words.pop(0).encode() + b"\\n")
                    seen = b""
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
            """
        func type(_ words: String, _ command: String, at node: Node) throws -> Int32 {
            try run([
                "/usr/bin/python3", "-c", typist, words, program, "cluster", command, first.file, "--config",
                node.configuration,
            ]).status
        }
        #expect(try type("\(Self.passphrase)|\(Self.passphrase) ", "export", at: first) == 65)
        #expect(!FileManager.default.fileExists(atPath: first.file))
        #expect(try type("\(Self.passphrase)|\(Self.passphrase)", "export", at: first) == 0)
        #expect(try type("another passphrase", "import", at: second) == 65)
        #expect(try type(Self.passphrase, "import", at: second) == 0)
        #expect(second.keys == first.keys)
        await first.world.close()
        await second.world.close()
    }

    @Test func credentialsGoAlongOnlyWhenAskedForAndNowhereElse() async throws {
        let first = try Node()
        let second = try Node()
        let exported = try first.cluster("export", first.file, "--credentials")
        #expect(exported.status == 0, "\(exported)")
        let silent = try second.cluster("import", first.file)
        #expect(silent.output.contains("3 credentials are in the file"), "\(silent)")
        let directory = second.world.directory.path + "/handed-over"
        #expect(try second.cluster("import", first.file, "--credentials", directory).status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        #expect(
            names == [
                "bisq-connect-ios_AuthKey.p8", "bisq-remote-android_service-account.json",
                "bisq-remote-ios_AuthKey.p8",
            ])
        for (name, source) in zip(names, ["AuthKey.p8", "service-account.json", "AuthKey.p8"]) {
            #expect(try mode(of: "\(directory)/\(name)") == 0o600)
            #expect(
                try LabDirectory.read("\(directory)/\(name)")
                    == LabDirectory.read("\(first.world.directory.path)/\(source)"))
        }
        // One that is there and is another stays, and a name that leads elsewhere is none.
        try LabDirectory.write(Array("mine".utf8), to: "\(directory)/\(names[0])")
        #expect(try second.cluster("import", first.file, "--credentials", directory).status == 73)
        #expect(try LabDirectory.read("\(directory)/\(names[0])") == Array("mine".utf8))

        let plain = try Node()
        #expect(try plain.cluster("export", plain.file).status == 0)
        let passphrase = Secret(Array(Self.passphrase.utf8))
        let (text, seal) = try PassphraseSeal.open(try LabDirectory.read(plain.file), passphrase: passphrase)
        let hostile = String(decoding: text, as: UTF8.self).replacing(
            #""credentials":{}"#, with: #""credentials":{"../../up":"aGVsbG8="}"#)
        try LabDirectory.write(try seal.seal(Array(hostile.utf8)), to: plain.file + "-hostile")
        let said = try plain.cluster("import", plain.file + "-hostile", "--credentials", directory)
        #expect(said.status == 65, "\(said)")
        // Nor does it become a file of the node's own, whatever is asked for.
        for (name, folder) in [
            ("console-owner", second.world.state), ("onionbell.yaml", second.world.directory.path),
        ] {
            let own = String(decoding: text, as: UTF8.self).replacing(
                #""credentials":{}"#, with: #""credentials":{"\#(name)":"aGVsbG8="}"#)
            try LabDirectory.write(try seal.seal(Array(own.utf8)), to: plain.file + "-own")
            let before = try? LabDirectory.read("\(folder)/\(name)")
            let told = try second.cluster("import", plain.file + "-own", "--credentials", folder, "--force")
            #expect(told.status == 73, "\(told)")
            #expect((try? LabDirectory.read("\(folder)/\(name)")) == before)
        }
        for node in [first, second, plain] { await node.world.close() }
    }

    @Test func aNodeThatRunsGivesItsKeysAndTakesNone() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let file = stage.world.directory.path + "/cluster-keys"
        func cluster(_ word: String) throws -> CommandResult {
            try run(
                [program, "cluster", word, file, "--passphrase-file", "-", "--config", stage.configuration],
                input: Self.passphrase)
        }
        #expect(try cluster("export").status == 0)
        let refused = try cluster("import")
        #expect(refused.status == 69 && refused.errors.contains("stop it first"), "\(refused)")
        await stage.node.stop()
        #expect(try cluster("import").output.contains("digest-key: the same already"))
        await stage.close()
    }
}
