import Crypto
import Encodings
import FeatureList
import Foundation
import Persistence
import Reactor
import Testing
import Tor

@testable import Node
@testable import Owner

/// A backup that somebody has made by hand, who has its passphrase: all that it brings is data.
@Suite struct BackupHostileTests {
    private func makePlan(
        _ backup: NodeBackup, at machine: BackedUpMachine, keepsSettings: Bool = false
    ) throws(CallRefusal) -> MovePlan {
        try MovePlan(
            backup, settingsFile: machine.configuration, running: machine.running,
            keepsSettings: keepsSettings)
    }

    private func files(_ machine: BackedUpMachine) throws -> [String: Data] {
        var files: [String: Data] = [:]
        let all =
            FileManager.default.enumerator(atPath: machine.directory)?.compactMap { $0 as? String } ?? []
        for name in all where !name.contains("outbox.sqlite") {
            files[name] = FileManager.default.contents(atPath: "\(machine.directory)/\(name)")
        }
        return files
    }

    /// The settings, what the node makes itself, and files that the settings don't name, however they are spelled.
    @Test(
        arguments: [
            "onionbell.yaml", "./onionbell.yaml", "credentials//../onionbell.yaml", "state/console-owner",
            "state//console-owner", "state/./console-owner", "state/onion-key", "state/peers/zoe.auth",
            "link/console-owner", "state/tor/torrc", "torrc", "credentials/other.p8", "key.sh",
            "state/credentials/key.p8",
        ], [false, true])
    func aFileThatIsNoCredentialIsRefused(name: String, isNamed: Bool) async throws {
        let machine = try await BackedUpMachine()
        try PrivateFile.write("owner", to: machine.state + "/console-owner", replacing: false)
        try PrivateFile.write("Log notice stdout", to: machine.directory + "/torrc", replacing: false)
        try PrivateFile.write("#!/bin/sh", to: machine.directory + "/key.sh", replacing: false)
        symlink(machine.state, machine.directory + "/link")
        try machine.edit("log:", "tor: {torrc: torrc}\nlog:")
        let before = try files(machine)
        var backup = try machine.backup()
        backup.credentials[ByteText(name)] = Secret(Array("the maker's".utf8))
        if isNamed {
            backup.settings = backup.settings?.replacing(
                "key_file: credentials/one.p8", with: "key_file: \(name)")
            backup.credentials[ByteText("credentials/one.p8")] = nil
        }
        guard isNamed, name == "credentials/other.p8" else {
            // A path with a way up does not even come out of its file.
            guard let read = try? NodeBackup(text: backup.text, of: Features.built.tables) else { return }
            #expect(throws: CallRefusal.self) { try makePlan(read, at: machine) }
            return
        }
        // A credential that is named and not there comes.
        let plan = try makePlan(backup, at: machine)
        #expect(plan.json["files"]?.array?.first?["fate"]?.string == "new")
        #expect(try files(machine) == before)
    }

    /// Whoever keeps the settings takes no file that others name.
    @Test func whoKeepsTheSettingsKeepsTheirFiles() async throws {
        let machine = try await BackedUpMachine()
        var backup = try machine.backup()
        backup.settings = backup.settings?.replacing("level: info", with: "level: debug")
        backup.credentials = [ByteText("onionbell.yaml"): Secret(Array("x".utf8))]
        let plan = try makePlan(backup, at: machine, keepsSettings: true)
        #expect(plan.backup.credentials.isEmpty && plan.backup.settings == nil)
    }

    /// Also the file that lies staged is looked at again.
    @Test func aStagedFileOfTheNodesOwnIsPutAside() async throws {
        let machine = try await BackedUpMachine()
        var backup = try machine.backup()
        backup.credentials[ByteText("onionbell.yaml")] = Secret(Array("x".utf8))
        let before = try machine.content()
        try MovingIn.stage(backup, in: machine.state)
        guard case .refused = try MovingIn.finish(machine.running, settingsFile: machine.configuration) else {
            Issue.record("it was moved in")
            return
        }
        #expect(try machine.content() == before)
        #expect(access(machine.state + "/moving-in", F_OK) != 0)
        #expect(await UndoneMove.read(in: machine.state)?.reason.contains("onionbell.yaml") == true)
    }

    // MARK: Junk

    @Test(
        arguments: [
            ("digest-key", "ab"), ("digest-key", String(repeating: "z", count: 64)), ("status-key", ""),
            ("vapid-key", "no key"),
            ("digest-key", String(repeating: "a", count: 64) + String(repeating: "\n", count: 200)),
        ])
    func aKeyThatNoStartCanReadIsRefused(name: String, text: String) async throws {
        let machine = try await BackedUpMachine()
        var backup = try machine.backup()
        backup.keys[ByteText(name)] = Secret(Array(text.utf8))
        #expect(throws: NodeBackup.Fault.self) {
            try NodeBackup(text: backup.text, of: Features.built.tables)
        }
    }

    @Test(arguments: [
        "", "junk", "descriptor:x25519:AAAA", "descriptor:x25519:" + String(repeating: "!", count: 52),
    ])
    func anInvitationThatNoStartCanReadIsRefused(text: String) async throws {
        let machine = try await BackedUpMachine()
        var backup = try machine.backup()
        backup.peers = [ByteText("zoe.auth"): Array(text.utf8)]
        #expect(throws: NodeBackup.Fault.self) {
            try NodeBackup(text: backup.text, of: Features.built.tables)
        }
    }

    @Test func aCredentialThatNoGatewayCanReadIsAFaultOfThePlan() async throws {
        let machine = try await BackedUpMachine()
        let plan = try makePlan(machine.backup(), at: machine)
        let next = try #require(plan.next)
        let faults = await GatewayAssembly.faults(in: next.settings, reading: next.contents.read, ends: false)
        #expect(faults.map(\.key) == ["apps[0].key_file"])
    }

    // MARK: Programs

    /// Neither a torrc, which may name programs, nor the program for tor comes from a backup.
    @Test(arguments: ["binary: /tmp/program", "torrc: /tmp/torrc", "binary: sh, torrc: credentials/one.p8"])
    func aBackupNamesNoProgram(words: String) async throws {
        let machine = try await BackedUpMachine()
        var backup = try machine.backup()
        backup.settings = backup.settings?.replacing("log:", with: "tor: {\(words)}\nlog:")
        let plan = try makePlan(backup, at: machine)
        let settings = try #require(plan.next?.settings)
        #expect(settings.tor.binary == "tor" && settings.tor.torrc.isEmpty)
        // Written in a way that can't be edited: the settings stay.
        backup.settings = backup.settings?.replacing(
            "tor: {", with: "tor:\n  ? binary\n  : >-\n    /tmp/program\n#")
        let other = try makePlan(backup, at: machine)
        #expect(other.next?.settings.tor.binary == "tor")
    }

    @Test func theConsoleNamesNoProgram() throws {
        let present = try Settings(yaml: "tor: {torrc: /etc/torrc}", file: "x", features: .built)
        for text in ["tor: {binary: sh, torrc: /etc/torrc}", "tor: {torrc: /tmp/torrc}", "tor: {}"] {
            let wanted = try Settings(yaml: text, file: "x", features: .built)
            #expect(wanted.programFaults(beside: [present]).count == 1, "\(text)")
        }
        #expect(
            present.programFaults(beside: [try Settings(yaml: "", file: "x", features: .built), present])
                == [])
    }

    // MARK: Back

    /// All that a move has changed is as it was, when the start that follows comes to nothing.
    @Test(arguments: BackupTests.Change.allCases, BackupTests.Target.allCases)
    func aNodeGoesBackToWhatItWas(change: BackupTests.Change, target: BackupTests.Target) async throws {
        let tests = BackupTests()
        let machine = try await BackedUpMachine()
        try tests.make(change, on: machine)
        let other = try await tests.target(target, for: machine)
        let before = try other.content()
        try other.open(try machine.backup())
        #expect(try MovedOut.goBack(in: other.state, of: Features.built.tables, because: "no port"))
        #expect(try other.content() == before)
        #expect(await UndoneMove.read(in: other.state)?.reason == "no port")
        #expect(try !MovedOut.goBack(in: other.state, of: Features.built.tables, because: "no port"))
        // Once more it comes in whole.
        try other.open(try machine.backup())
        #expect(try machine.content().subtracting(other.content()) == [])
        #expect(await UndoneMove.read(in: other.state) == nil)
    }

    @Test func aNodeThatHasStartedDoesNotGoBack() async throws {
        let machine = try await BackedUpMachine()
        let other = try await BackedUpMachine()
        try other.open(try machine.backup())
        MovedOut.forget(in: other.state)
        #expect(try !MovedOut.goBack(in: other.state, of: Features.built.tables, because: "no port"))
        #expect(try machine.content().subtracting(other.content()) == [])
    }
}
