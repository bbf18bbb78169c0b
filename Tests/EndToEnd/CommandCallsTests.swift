import Client
import Foundation
import JSONCoding
import LabParts
import Persistence
import Reactor
import Relay
import Testing
import Vectors
import Wire

/// Commands, which are calls: of the node that runs, or carried out by its store and files where none does.
@EventLoop
@Suite(.serialized) struct CommandCallsTests {
    private func onionbell(
        _ words: [String], _ configuration: String, input: String = ""
    ) async throws -> CommandResult {
        let arguments = [program] + words + ["--config", configuration]
        return try await Task.detached { try run(arguments, input: input) }.value
    }

    @Test func withoutARunningNodeTheSameIsSaidAndDone() async throws {
        let stage = try LoopbackStage {
            $0.replacing("apps:\n", with: "apps:\n  - {name: box, gateway: mailbox}\n")
                + "doors: {mailbox: {listen: [\"onion:80\"]}}\n"
        }
        func said(_ words: String...) async throws -> CommandResult {
            try await onionbell(words, stage.configuration)
        }
        for early in [["phones", "list"], ["peers"], ["registrations", "list"], ["mailbox", "add", "me"]] {
            #expect(try await onionbell(early, stage.configuration).status == 69, "\(early)")
        }
        try await stage.start()
        let (first, second) = (try Phone.new(.ios, descriptor: "X"), try Phone.new(.android, descriptor: "Y"))
        #expect(
            try await said("phones", "add", "alice", "--pairing-token", first.pairingToken.text).status == 0)
        #expect(try await said("mailbox", "add", "me").status == 0)
        #expect(try await said("mailbox", "publishers", "add", "me", "cron").status == 0)
        #expect(try await said("invite", "carol").status == 0)
        let looks = [
            ["phones", "list"], ["phones", "show", "alice"], ["phones", "show", "bob"], ["peers", "--json"],
            ["registrations", "list"], ["registrations", "list", "--json"],
            ["registrations", "list", "nothing"],
            ["registrations", "show", "phone", "1"], ["registrations", "show", "phone", "9"],
            ["registrations", "list", "installation"], ["mailbox", "list"],
            ["mailbox", "publishers", "list", "me"], ["point", "bisq2"], ["key", "show", "--json"],
            ["key", "show", "--vapid"], ["outbox", "list"], ["outbox", "list", "--json"],
            ["outbox", "list", "--app", "nobody"],
        ]
        var told: [CommandResult] = []
        for look in looks { told.append(try await onionbell(look, stage.configuration)) }
        #expect(told[0].output == "name\tphones\talias\nalice\t1\tno\n")
        #expect(told[7].output.hasPrefix("id: 1\nname: alice\n"))
        #expect(told.map(\.status) == [0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 69, 0, 0, 0])
        await stage.node.stop()
        for (look, told) in zip(looks, told) {
            let again = try await onionbell(look, stage.configuration)
            #expect(
                again.status == told.status && again.output == told.output && again.errors == told.errors,
                "\(look): \(again.output)\(again.errors) and \(told.output)\(told.errors)")
        }

        // What is done while none runs, the node knows when it starts.
        let ring = try await said("phones", "test", "alice")
        #expect(ring.status == 69 && ring.errors.contains("no node"), "\(ring.errors)")
        #expect(
            try await said("phones", "add", "bob", "--pairing-token", second.pairingToken.text).status == 0)
        #expect(try await said("phones", "remove", "alice", "--phone", "2").status == 1)
        #expect(try await said("phones", "remove", "alice", "--phone", "1").output == "removed 1 phone\n")
        #expect(try await said("mailbox", "publishers", "remove", "me", "cron").status == 0)
        #expect(try await said("registrations", "remove", "mailbox", "me").output == "removed\n")
        #expect(try await said("revoke", "carol").output.hasPrefix("carol's invitation is revoked"))
        #expect(try await said("revoke", "carol").status == 1)
        #expect(try await said("peers", "--let-everybody-in").status == 0)
        try await stage.start()
        let waiter = stage.world.nextPush(to: second)
        #expect(try await said("phones", "test", "bob").status == 0)
        #expect(await waiter.wait(for: theRun) != nil)
        #expect(try await said("mailbox", "list").output == "mailbox: none\n")
        await stage.close()
    }

    /// A command may have been told another file: what counts is what the node runs by, as long as it runs.
    @Test func aRunningNodeJudgesByItsOwnSettings() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        let other = stage.world.directory.path + "/other.yaml"
        try text.replacing("bisq-remote-ios", with: "another").write(
            toFile: other, atomically: true, encoding: .utf8)
        func add(_ name: String) async throws -> CommandResult {
            let token = try Phone.new(.ios, descriptor: "").pairingToken.text
            return try await onionbell(
                ["phones", "add", name, "--app", "bisq-remote-ios", "--pairing-token", "-"], other,
                input: token)
        }
        let added = try await add("alice")
        #expect(added.status == 0, "\(added.errors)")
        await stage.node.stop()
        let refused = try await add("bob")
        #expect(refused.status == 65 && refused.errors.contains("known are: another"), "\(refused.errors)")
        await stage.close()
    }

    /// Its store, too: the command's own file names one that nobody reaches.
    @Test func installationsAndKeysOfBrowsersAreTheRunningNodesOwn() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        let other = stage.world.directory.path + "/other.yaml"
        try (text + "storage: {url: \"postgresql://nobody@127.0.0.1:1/none?sslmode=disable\"}\n").write(
            toFile: other, atomically: true, encoding: .utf8)
        let own = "8b1d3ff0-2f52-4cb0-a3b3-2f3d9d4a4f11"
        func said(_ words: String..., by file: String? = nil) async throws -> CommandResult {
            try await onionbell(words, file ?? other)
        }
        let added = try await said("installation", "add", "--id", own.uppercased(), "--json")
        #expect(added.status == 0, "\(added.errors)")
        let made = try JSON(Array(added.output.utf8))
        #expect(made["id"]?.string == own && made["key"]?.string?.utf8.count == 24)
        #expect(try await said("installation", "disable", own.uppercased()).output == "disabled\n")
        #expect(try await said("installation", "list").output.contains("\(own)\tno"))
        #expect(try await said("installation", "enable", own).output == "enabled\n")
        #expect(try await said("installation", "enable", "../phones").status == 1)
        #expect(try await said("installation", "add", "--id", "x").status == 64)
        let token = try Phone.new(.android, descriptor: "Web").pairingToken.text
        let trusted = try SimulatedTrustedNode()
        let registered = try await said(
            "register", "--name", "me", "--pairing-token", token, "--pairing-code", trusted.code())
        #expect(registered.status == 0, "\(registered.errors)")
        #expect(trusted.devices.first?.value.deviceToken.hasPrefix("al1:") == true)
        trusted.close()
        let invited = try await said("console", "invite", "laptop")
        #expect(invited.status == 0 && invited.output.contains(":descriptor:x25519:"), "\(invited.errors)")
        #expect(try await said("console", "invite", "laptop").status == 1)
        #expect(try await said("console", "invite", "lap/top").status == 65)
        await stage.node.stop()
        // Where none runs, its store and its files say the same.
        let file = stage.configuration
        #expect(try await said("console", "invite", "phone", by: file).status == 0)
        #expect(try await said("console", "revoke", "laptop", by: file).output.hasSuffix("; 1 left.\n"))
        #expect(try await said("console", "revoke", "laptop", by: file).status == 1)
        #expect(try await said("console", "revoke", "--let-everybody-in", by: file).status == 0)
        #expect(try await said("installation", "disable", own, by: file).output == "disabled\n")
        #expect(try await said("installation", "list", by: file).output.contains("\(own)\tno"))
        #expect(try await said("installation", "disable", "none", by: file).status == 1)
        await stage.close()
    }

    /// More than one answer has room for.
    @Test func aFullPhoneBookIsListed() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let most = PhoneBook.mostPhones
        let store = try RegistrationFile(path: stage.world.state + "/outbox.sqlite", isReadOnly: false)
        for number in 0..<most {
            let token = String(repeating: "0", count: 60) + String(1000 + number)
            let added = try store.add(
                PhoneEntry(
                    PhoneBook.Phone(
                        number: 0, name: "name-\(number / 10)", platform: .ios, app: "",
                        deviceToken: DeviceToken(token)), model: "iPhone", addedAt: 1))
            guard case .success = added else {
                Issue.record("\(added)")
                return
            }
        }
        let list = try await onionbell(["phones", "list"], stage.configuration)
        #expect(list.output.split(separator: "\n").count == 1 + most / 10, "\(list.errors)")
        let shown = try await onionbell(["phones", "show", "name-99"], stage.configuration)
        #expect(shown.output.split(separator: "\n").count == 1 + 10 + 1)
        let rows = try await onionbell(["registrations", "list", "phone"], stage.configuration)
        let lines = rows.output.split(separator: "\n")
        #expect(lines.count == 1 + most && lines[10].hasPrefix("10\t") && lines[most].hasPrefix("\(most)\t"))
        await stage.close()
    }
}
