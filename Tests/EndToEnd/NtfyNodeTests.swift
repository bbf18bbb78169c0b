import Client
import Foundation
import Lab
import LabParts
import Reactor
import Testing
import Tor
import Vectors
import Wire

/// The built node and an ntfy server.
@EventLoop
@Suite(.serialized) struct NtfyNodeTests {
    private func onionbell(
        _ stage: LoopbackStage, _ words: String..., input: String = ""
    ) async throws -> CommandResult {
        let arguments = [program] + words + ["--config", stage.configuration]
        return try await Task.detached { try run(arguments, input: input) }.value
    }

    private func send(_ stage: LoopbackStage, to token: PairingToken) async throws
        -> MobileNotificationResponse.Status?
    {
        let peer = try await stage.dial()
        defer { peer.close() }
        var request = try BisqSender(to: token).request(
            for: PhoneText(sentDate: 1, title: "t", message: "", kind: .trade))
        request.awaitsOutcome = true
        let first = try await peer.send(request, deadline: theRun)
        guard first.status == .stored else { return first.status }
        return try await peer.nextResponse(to: request.uid, deadline: theRun).status
    }

    @Test func aTopicOfThePhoneBookIsRungAndNoOther() async throws {
        let server = try SimulatedNtfy()
        server.accessToken = "tk_0123456789"
        let stage = try LoopbackStage { text in
            text.replacing(
                "apps:\n",
                with:
                    "apps:\n  - {name: ntfy, gateway: ntfy, url: \"\(server.url)\", token_file: ntfy-token}\n"
            )
        }
        let file = URL(filePath: stage.configuration).deletingLastPathComponent().appending(
            path: "ntfy-token")
        try "tk_0123456789\n".write(to: file, atomically: true, encoding: .utf8)
        try await stage.start()
        let topic = "topic-" + String(repeating: "q", count: 30)
        let made = try await Task.detached {
            try run([program, "pair", "--device-token", "nt1:\(topic)", "--text-only"])
        }.value
        let token = try PairingToken(made.output.trimmingCharacters(in: .newlines))
        #expect(try await send(stage, to: token) == .refused)
        #expect(server.book == [])

        let added = try await onionbell(
            stage, "phones", "add", "me", "--pairing-token", "-", input: token.text + "\n")
        #expect(added.status == 0, "\(added.errors)")
        let tested = try await onionbell(stage, "phones", "test", "me")
        #expect(tested.status == 0, "\(tested.output)\(tested.errors)")
        #expect(try await send(stage, to: token) == .delivered)
        #expect(server.book.map(\.topic) == [topic, topic])
        #expect(server.book.last?.message == "Something happened in Bisq. Open it to see what.")
        #expect(!stage.node.lines.contains { $0.contains(topic) })
        await stage.close()
        server.close()
    }

    /// A household's own server beside another one, with an account that has a password, and a topic as short as people
    /// write them.
    @Test func aShortTopicAtTheSecondServerIsRung() async throws {
        let (first, second) = (try SimulatedNtfy(), try SimulatedNtfy())
        second.account = ("node", "secret")
        let stage = try LoopbackStage { text in
            text.replacing(
                "apps:\n",
                with: """
                    apps:
                      - {name: public, gateway: ntfy, url: "\(first.url)"}
                      - {name: home, gateway: ntfy, url: "\(second.url)", username: node, password_file: pass}

                    """)
        }
        let file = URL(filePath: stage.configuration).deletingLastPathComponent().appending(path: "pass")
        try "secret\n".write(to: file, atomically: true, encoding: .utf8)
        try await stage.start()
        let made = try await Task.detached {
            try run([program, "pair", "--device-token", "nt1:bisq", "--text-only"])
        }.value
        let token = try PairingToken(made.output.trimmingCharacters(in: .newlines))
        let added = try await onionbell(
            stage, "phones", "add", "me", "--platform", "android", "--device-token", "nt1:bisq", "--app",
            "home")
        #expect(added.status == 0, "\(added.errors)")
        let tested = try await onionbell(stage, "phones", "test", "me")
        #expect(tested.status == 0, "\(tested.output)\(tested.errors)")
        #expect(try await send(stage, to: token) == .delivered)
        #expect(second.book.map(\.topic) == ["bisq", "bisq"] && first.book == [])
        let wrong = try await Task.detached {
            try run([program, "pair", "--device-token", "nt1:my topic", "--text-only"])
        }.value
        #expect(wrong.status == 65 && wrong.errors.contains("\"my topic\" is no topic of ntfy: 1 to 64"))
        await stage.close()
        for server in [first, second] { server.close() }
    }

    /// By its onion address, in plain HTTP: only tor is between.
    @Test func aServerBehindAnOnionAddressIsReached() async throws {
        let server = try SimulatedNtfy()
        let tor = try await SharedTorNetwork.network().startTor()
        let key = OnionKey.generate()
        let service = try await OnionService.publish(
            key: key, ports: [try VirtualPort(80, to: server.endpoint)], on: tor.connection)
        let stage = try await RelayStage(
            apps: { _ in "  - {name: ntfy, gateway: ntfy, url: \"http://\(key.address)\", show: sealed}" })
        let topic = "topic-" + String(repeating: "q", count: 30)
        let phone = try Phone.new(.android, descriptor: "phone", deviceToken: "nt1:\(topic)")
        let add = [program, "phones", "add", "me", "--pairing-token", "-", "--config", stage.configuration]
        let added = try await Task.detached {
            try run(add, input: phone.pairingToken.text + "\n")
        }.value
        #expect(added.status == 0, "\(added.errors)")
        await stage.node.wait { $0.exit != nil || $0.lines.contains { $0.contains("phones.changed") } }
        let request = try BisqSender(to: phone.pairingToken).httpRequest(
            for: PhoneText(sentDate: 1, title: "one", message: "", kind: .trade))
        #expect(String(decoding: try await stage.send(request).body, as: UTF8.self) == "success")
        try await until { !server.book.isEmpty }
        #expect(server.book.map(\.topic) == [topic], "\(stage.node.lines.suffix(5))")
        #expect(try phone.open(server.book.first?.message ?? "").title == "one")
        withExtendedLifetime(service) {}
        await stage.close()
        await tor.kill()
        server.close()
    }
}
