import Foundation
import Glibc
import Lab
import Reactor
import Testing

/// What the program does with the places that its settings name, before it does anything else.
@Suite struct StartTests {
    private let directory: String

    init() throws {
        directory = shortPath("start")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    private func configuration(_ text: String) throws -> String {
        let path = directory + "/onionbell.yaml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    /// It would take away others' access to it.
    @Test func aDirectoryThatOthersUseIsLeftAsItIs() throws {
        let shared = directory + "/shared"
        try FileManager.default.createDirectory(
            atPath: shared, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        try "a".write(toFile: shared + "/letter", atomically: true, encoding: .utf8)
        let result = try run([
            program, "run", "--config", configuration("{state_directory: \(shared)}"),
        ])
        #expect(result.status == 69)
        #expect(result.errors.contains("others can open \(shared)"))
        #expect(try mode(shared) == 0o755)
        let checked = try run([
            program, "check-config", "--config", configuration("{state_directory: \(shared)}"),
        ])
        #expect(checked.status == 78)
        #expect(checked.errors.contains("state_directory: others can open \(shared)"))
    }

    @Test func aFileIsLeftAsItIs() throws {
        let file = directory + "/file"
        try "a".write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let path = try configuration("{state_directory: \(file)}")
        let result = try run([program, "run", "--config", path])
        #expect(result.status == 69)
        #expect(result.errors.contains("\(file) is not a directory"))
        #expect(try mode(file) == 0o644)
        #expect(try run([program, "check-config", "--config", path]).status == 78)
    }

    /// Only the path of the sockets is bound: tor takes it with blanks and umlauts.
    @Test func aStateDirectoryWithABlankWorks() async throws {
        let parent = directory + "/My Büch, 1"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        let torrc = directory + "/torrc"
        try "DisableNetwork 1\n".write(toFile: torrc, atomically: true, encoding: .utf8)
        let text = """
            state_directory: "\(parent)/bell"
            tor: {mode: own, torrc: "\(torrc)"}
            management: {listen: "unix:\(directory)/management"}

            """
        let path = try configuration(text)
        let checked = try run([program, "check-config", "--config", path])
        #expect(checked.status == 0, "\(checked.errors)")
        try await started(path) { lines in #expect(lines.contains { $0.contains("node.started") }, "\(lines)")
        }
        // Of another form tor takes none.
        let plain = try configuration(text + "onion: {guarded: false}\n")
        let refused = try run([program, "check-config", "--config", plain])
        #expect(
            refused.status == 78 && refused.errors.contains("set onion.socket_directory"), "\(refused.errors)"
        )
        #expect(try run([program, "run", "--config", plain]).status == 78)
    }

    @EventLoop private func started(_ path: String, _ body: ([String]) -> Void) async throws {
        let node = try LabNode(nodeProgram, configuration: path)
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("node.started") } }
        body(node.lines)
        if node.exit == nil { await node.stop() }
    }

    /// SQLite takes its log away when the last connection is closed in order.
    private func expectClosedStore() {
        #expect(access(directory + "/state/outbox.sqlite", F_OK) == 0)
        #expect(access(directory + "/state/outbox.sqlite-wal", F_OK) != 0)
    }

    /// Tor is the last that a start needs.
    @Test func aStartThatFailsInItsLastStepClosesTheStore() throws {
        let tor = directory + "/tor"
        try "#!/bin/sh\nexit 1\n".write(toFile: tor, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tor)
        let path = try configuration(
            """
            state_directory: "\(directory)/state"
            tor: {mode: own, binary: "\(tor)"}
            management: {listen: "unix:\(directory)/management"}
            """)
        let result = try run([program, "run", "--config", path])
        #expect(result.status == 69, "\(result.errors)")
        expectClosedStore()
    }

    @Test @EventLoop func aStopInTheMiddleOfAStartClosesTheStore() async throws {
        let path = try configuration(
            """
            state_directory: "\(directory)/state"
            tor: {mode: instance, control: "unix:\(directory)/none"}
            management: {listen: "unix:\(directory)/management"}
            """)
        let node = try LabNode(nodeProgram, configuration: path)
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("tor.waiting") } }
        #expect(await node.stop() == .exited(0), "\(node.lines)")
        #expect(!node.lines.contains { $0.contains("node.started") })
        expectClosedStore()
    }

    @Test func checkConfigFindsAStateDirectoryThatIsTooLongForSockets() throws {
        for (length, isWell) in [(93, true), (94, false)] {
            let parent = directory + "/" + String(repeating: "a", count: length - directory.utf8.count - 3)
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            let path = try configuration(
                "{state_directory: \(parent)/b, management: {listen: \"unix:\(directory)/m\"}}")
            let result = try run([program, "check-config", "--config", path])
            #expect(result.errors.contains("onion.socket_directory") != isWell, "\(length): \(result.errors)")
            #expect((result.status == 0) == isWell, "\(length): \(result.errors)")
        }
    }

    @Test func checkConfigNamesWhatTorRefusesAndTheProgramOfABridge() throws {
        let torrc = directory + "/torrc"
        let path = try configuration("{state_directory: \(directory)/state, tor: {torrc: \(torrc)}}")
        try "SocksPort 0\nFooBar 1\n".write(toFile: torrc, atomically: true, encoding: .utf8)
        let option = try run([program, "check-config", "--config", path])
        #expect(option.status == 78 && option.errors.contains("tor.torrc: tor refuses"), "\(option.errors)")
        #expect(option.errors.contains("Unknown option 'FooBar'"), "\(option.errors)")
        try """
        UseBridges 1
        Bridge obfs4 127.0.0.1:1 0123456789012345678901234567890123456789 cert=a iat-mode=0
        ClientTransportPlugin obfs4 exec \(directory)/obfs4proxy

        """.write(toFile: torrc, atomically: true, encoding: .utf8)
        let bridge = try run([program, "check-config", "--config", path])
        #expect(
            bridge.status == 78 && bridge.errors.contains("\(directory)/obfs4proxy is not there"),
            "\(bridge.errors)")
    }

    /// Before anything takes long.
    @Test func aProgramWithoutItsFilesNamesWhereTheyShouldBe() throws {
        let bare = directory + "/bare"
        try FileManager.default.createDirectory(atPath: bare, withIntermediateDirectories: true)
        let built = URL(filePath: program).deletingLastPathComponent()
        for name in ["onionbell", "onionbell-lab"] {
            let file = built.appending(path: name).resolvingSymlinksInPath().path
            try FileManager.default.copyItem(atPath: file, toPath: "\(bare)/\(name)")
        }
        let lab = try run(["\(bare)/onionbell-lab", "lab", directory + "/lab", "--tor", "/nowhere/tor"])
        #expect(lab.status == 69)
        for words in ["\(bare)/torrc", "\(directory)/share/onionbell/torrc", "install the package"] {
            #expect(lab.errors.contains(words), "\(lab.errors)")
        }
        let initialized = try run([
            "\(bare)/onionbell", "init", "--bisq", "--config", directory + "/new.yaml",
        ])
        #expect(initialized.status == 73)
        #expect(initialized.errors.contains("\(bare)/onionbell.yaml"), "\(initialized.errors)")
    }

    @Test func checkConfigMissesWhatAStartWouldMiss() throws {
        let path = try configuration(
            "{state_directory: \(directory)/none/state, tor: {binary: \(directory)/torr}}")
        let result = try run([program, "check-config", "--config", path])
        #expect(result.status == 78)
        #expect(result.errors.contains("tor.binary"))
        #expect(result.errors.contains("state_directory"))
    }

    /// systemd(1) connects standard error to the journal and says so.
    @Test func theJournalGetsPriorities() throws {
        let path = try configuration("{state_directory: \(directory)/none/state}")
        let command = "JOURNAL_STREAM=$(stat -L -c %d:%i /dev/stderr) exec \(program) run --config \(path)"
        let lines = try run(["sh", "-c", command]).errors.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("<3>onionbell: state_directory") })
        #expect(lines.allSatisfy { $0.hasPrefix("<") })
        #expect(geteuid() != 0 || lines.contains("<4>warning node.runs_as_root"))
    }
}
