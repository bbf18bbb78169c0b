import Client
import Foundation
import HTTP1
import Lab
import Processes
import QR
import Reactor
import Testing
import Tor
import Vectors
import Wire

/// What `onionbell mailbox add` prints, and what is left of it.
@EventLoop
@Suite(.serialized) struct MailboxAddTests {
    private let address = OnionKey.generate().address.description

    /// A node whose onion address is known, though it is on loopback.
    private func stage(_ port: UInt16) throws -> LoopbackStage {
        try LoopbackStage {
            $0.replacing("\napps:\n", with: "\napps:\n  - {name: mailboxes, gateway: mailbox}\n")
                .replacing("guarded: false}", with: "guarded: false, public_address: \(address)}")
                + "doors:\n  mailbox: {listen: [\"127.0.0.1:\(port)\"]}\n"
        }
    }

    private func onionbell(_ words: [String], _ configuration: String) async throws -> CommandResult {
        let arguments = [program] + words + ["--config", configuration]
        return try await Task.detached { try run(arguments) }.value
    }

    /// Until then senders would hear that the address is no device's, and give it up.
    @Test func aNodeThatDoesNotServeMailboxesYetIsToBeRestartedFirst() async throws {
        let port = try freePort()
        let stage = try LoopbackStage()
        try await stage.start()
        let text =
            try String(contentsOfFile: stage.configuration, encoding: .utf8)
            .replacing("\napps:\n", with: "\napps:\n  - {name: mailboxes, gateway: mailbox}\n")
            + "doors:\n  mailbox: {listen: [\"127.0.0.1:\(port)\"]}\n"
        try text.write(toFile: stage.configuration, atomically: true, encoding: .utf8)
        let early = try await onionbell(["mailbox", "add", "me"], stage.configuration)
        #expect(early.status == 75 && early.errors.contains("Restart it first"), "\(early.errors)")
        #expect(early.output == "")
        #expect(try await onionbell(["mailbox", "list"], stage.configuration).output == "mailbox: none\n")
        await stage.node?.stop()
        try await stage.start()
        let made = try await onionbell(["mailbox", "add", "me"], stage.configuration)
        #expect(made.status == 0, "\(made.errors)")
        await stage.close()
    }

    /// Each text with its QR code below it, and what Bisq needs: all of it is good, and nothing prints it again.
    @Test func itPrintsAllThatAPhoneNeedsAndOnlyOnce() async throws {
        let port = try freePort()
        let stage = try stage(port)
        try await stage.start()
        let made = try await onionbell(
            ["mailbox", "add", "me", "--reader", "phone", "--reader", "desk"], stage.configuration)
        #expect(made.status == 0, "\(made.errors)")
        let lines = made.output.split(separator: "\n").map(String.init)
        func text(after words: String) throws -> String {
            let index = try #require(lines.firstIndex { $0.contains(words) }, "\(words)")
            return lines[index + 1]
        }
        let pairing = try text(after: "The pairing token.")
        let url = try text(after: "The ntfy address")
        let tokens = try ["phone", "desk"].map { try text(after: "In the app: user \($0), password") }
        for shown in [pairing, url] + tokens {
            let code = try QRCode(shown).lines(coloured: false)
            let index = try #require(lines.firstIndex(of: shown))
            #expect(lines.dropFirst(index + 1).prefix(code.count).elementsEqual(code))
        }
        let token = try PairingToken(pairing)
        #expect(pairing.hasPrefix("android|Onionbell|") && token.deviceToken.hasPrefix("mb1:"))
        #expect(url.hasPrefix("http://127.0.0.1:\(port)/mb"))
        // What point says, word for word.
        for client in ["bisq1", "bisq2"] {
            let point = try await onionbell(["point", client], stage.configuration).output
            let advised = lines.filter { $0.hasPrefix("  Bisq \(client.last == "1" ? 1 : 2), ") }
                .compactMap { $0.split(separator: ": ", maxSplits: 1).last }
            #expect(!advised.isEmpty && advised.allSatisfy { point.contains($0) }, "\(advised) \(point)")
            #expect(advised.contains { $0.contains(address) }, "\(advised)")
        }

        // All of it is good: Bisq's message, by the one, is read by the others.
        await stage.logged("mailbox.changed")
        let peer = try await stage.dial()
        let request = try BisqSender(to: token).request(
            for: PhoneText(sentDate: 1, title: "one", message: "x", kind: .trade))
        #expect(try await peer.send(request, deadline: theRun).status == .stored)
        peer.close()
        for (reader, token) in zip(["phone", "desk"], tokens) {
            let read = [
                program, "receive", "--url", url, "--token", token, "--pairing-token", pairing, "--json",
                "--file", stage.world.directory.path + "/" + reader,
            ]
            let program = try LabProgram(read)
            await program.wait { $0.exit != nil || $0.lines.contains { $0.contains(#""title":"one""#) } }
            #expect(program.exit == nil, "\(program.lines)")
            await program.kill()
        }

        // Neither the commands nor the node's files have it again.
        let listed = try await onionbell(["mailbox", "list"], stage.configuration).output
        await stage.node.stop()
        let secrets = [token.deviceToken, token.key, String(url.split(separator: "/").last ?? "")] + tokens
        let files = FileManager.default.enumerator(atPath: stage.world.state)
        var read = 0
        while let file = files?.nextObject() as? String {
            guard let data = FileManager.default.contents(atPath: "\(stage.world.state)/\(file)") else {
                continue
            }
            read += 1
            for secret in secrets { #expect(data.range(of: Data(secret.utf8)) == nil, "\(file)") }
        }
        #expect(read > 2 && listed.contains("me"))
        for secret in secrets { #expect(!listed.contains(secret)) }
        await stage.close()
    }

    @Test func whatItCannotMakeItSays() async throws {
        let stage = try stage(try freePort())
        let add = ["mailbox", "add", "me"]
        #expect(try await onionbell(add, stage.configuration).status == 69, "the node has never run")
        try await stage.start()
        let made = try await onionbell(add + ["--text-only"], stage.configuration)
        #expect(made.status == 0 && !made.output.contains("█"), "\(made.errors)")
        #expect(try await onionbell(add, stage.configuration).status == 1)
        #expect(try await onionbell(["mailbox", "remove", "nobody"], stage.configuration).status == 1)
        await stage.close()
        let without = try LoopbackStage()
        #expect(try await onionbell(add, without.configuration).status == 78)
        let door = try LoopbackStage { $0 + "doors:\n  mailbox: {listen: [\"127.0.0.1:1\"]}\n" }
        let checked = try await onionbell(["check-config"], door.configuration)
        #expect(checked.status == 78 && checked.errors.contains("gateway: mailbox"), "\(checked.errors)")
    }
}
