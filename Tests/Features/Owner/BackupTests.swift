import Foundation
import MailboxEndpoint
import Persistence
import Reactor
import Relay
import Testing
import Tor

@testable import Bitwarden
@testable import Node
@testable import Owner

/// A backup is made after each kind of change, and opened elsewhere.
@Suite struct BackupTests {
    enum Change: CaseIterable {
        case nothing, setting, keyContents
        /// The settings name another key, which the running node has taken over; the old file is gone.
        case keyFile
        case phone, alias, mailbox, readers, publisher, installation, invitation, lastRevocation
        /// Nothing of a backup.
        case consoleOwner
    }

    /// The machine that a backup is opened on.
    enum Target: CaseIterable {
        /// A fresh node.
        case empty
        /// The node itself with other rows, which have the numbers of those in the backup.
        case others
        /// The node itself, which has lost its store and has got some rows since.
        case lostStore
    }

    func make(_ change: Change, on machine: BackedUpMachine) throws {
        let credentials = machine.directory + "/credentials"
        let invitations = Invitations(path: StateDirectory.peers(in: machine.state))
        switch change {
        case .nothing: break
        case .setting: try machine.edit("level: info", "level: debug")
        case .keyContents:
            try PrivateFile.write("key one, made anew", to: credentials + "/one.p8", replacing: true)
        case .keyFile:
            try PrivateFile.write("key two", to: credentials + "/two.p8", replacing: false)
            try machine.edit("one.p8", "two.p8")
            unlink(credentials + "/one.p8")
        case .phone:
            // The numbers have a gap.
            for name in ["gone", "alice", "bert"] { try machine.addPhone(name, token: "token of \(name)") }
            _ = try machine.store().removePhones(of: "gone")
        case .alias:
            try machine.addPhone("alice", token: "token of alice")
            let alias = PhoneBook.alias(String(repeating: "a", count: 96))
            _ = try machine.store().giveAlias(alias, to: "alice", replacing: false)
        case .mailbox: try machine.addMailbox("anna", readers: ["tablet"], number: 1)
        case .readers:
            try machine.addMailbox("anna", readers: ["tablet"], number: 1)
            try machine.addMailbox("bert", readers: ["phone", "desktop"], number: 2)
        case .publisher:
            try machine.addMailbox("anna", readers: ["tablet"], number: 1)
            let publisher = Mailbox.Publisher(name: "cron", token: Digest(high: 1, low: 50))
            _ = try machine.store().add(publisher, to: "anna", addedAt: 7)
        case .installation:
            try machine.store().put(Installation(id: "one", keyDigest: Digest(high: 3, low: 3), addedAt: 7))
        case .invitation: _ = try invitations.invite("carol")
        case .lastRevocation:
            _ = try invitations.invite("carol")
            try invitations.revoke("carol")
        case .consoleOwner:
            try PrivateFile.write("somebody", to: machine.state + "/console-owner", replacing: true)
        }
    }

    func target(_ target: Target, for machine: BackedUpMachine) async throws -> BackedUpMachine {
        guard target != .empty else { return try await BackedUpMachine() }
        let other = try await machine.twin()
        try other.addMailbox("carl", readers: ["laptop"], number: 9)
        try other.addPhone("dora", token: "token of dora")
        guard target == .others else { return other }
        try other.addMailbox("emil", readers: ["laptop"], number: 8)
        try other.store().put(Installation(id: "two", keyDigest: Digest(high: 4, low: 4), addedAt: 7))
        _ = try Invitations(path: StateDirectory.peers(in: other.state)).invite("zoe")
        return other
    }

    @Test(arguments: Change.allCases, Target.allCases)
    func whatABackupHasIsThereAfterwards(change: Change, target: Target) async throws {
        let machine = try await BackedUpMachine()
        try make(change, on: machine)
        let wanted = try machine.content()
        let other = try await self.target(target, for: machine)
        let before = try other.content()
        let owner = try? PrivateFile.read(other.state + "/console-owner", limit: 99)
        try other.open(try machine.backup())
        let after = try other.content()
        #expect(wanted.subtracting(after) == [], "is missing")
        // What the other one had beside it stays: its own rows, and nothing else.
        let rows = ["phone: ", "alias: ", "mailbox: ", "reader: ", "publisher: ", "installation: "]
        let own = before.filter { row in rows.contains { row.hasPrefix($0) } }
        #expect(own.subtracting(after) == [], "is gone")
        let files = ["one.p8: ", "two.p8: "]
        let strange = after.subtracting(wanted).subtracting(own).filter { row in
            !files.contains { row.hasPrefix($0) }
        }
        #expect(strange == [], "came from nowhere")
        #expect((try? PrivateFile.read(other.state + "/console-owner", limit: 99)) == owner)
        #expect(access(other.state + "/moving-in", F_OK) != 0)
    }

    /// Once more, it changes nothing.
    @Test func aBackupOpenedTwiceIsOpenedOnce() async throws {
        let machine = try await BackedUpMachine()
        for change in [Change.alias, .readers, .installation, .invitation] { try make(change, on: machine) }
        let backup = try machine.backup()
        let before = try machine.content()
        for _ in 0..<2 { try machine.open(backup) }
        #expect(try machine.content() == before)
        #expect(try machine.store().mailboxes().map(\.number) == [1, 2])
    }

    /// The settings' text names a file, so the backup has it or there is none.
    @Test func aBackupThatLacksAFileOfItsSettingsIsNotMade() async throws {
        let machine = try await BackedUpMachine()
        try machine.edit("one.p8", "nowhere.p8")
        #expect(throws: CallRefusal.self) { try machine.backup() }
    }

    @Test func whatSettingsNameBesideCredentialsComesToo() async throws {
        let machine = try await BackedUpMachine()
        try machine.edit("key_id:", "ca_file: ca.pem, key_id:")
        try PrivateFile.write("authorities", to: machine.directory + "/ca.pem", replacing: false)
        let other = try await BackedUpMachine()
        try other.open(try machine.backup())
        #expect(try PrivateFile.read(other.directory + "/ca.pem", limit: 99) == Array("authorities".utf8))
    }
}
