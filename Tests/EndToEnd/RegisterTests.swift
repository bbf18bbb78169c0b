import Client
import Encodings
import Foundation
import Lab
import LabParts
import Reactor
import Testing
import Vectors
import Wire

/// `onionbell register` against a simulated trusted node of Bisq 2, and what that sends afterwards.
@EventLoop
@Suite(.serialized) struct RegisterTests {
    private func register(
        _ configuration: String, _ words: String..., token: String, code: String
    ) async throws -> CommandResult {
        let arguments =
            [program, "register", "--config", configuration, "--pairing-token", "-", "--pairing-code", "-"]
            + words
        return try await Task.detached { try run(arguments, input: "\(token)\n\(code)\n") }.value
    }

    private func vapidKey(_ configuration: String) throws -> String {
        let shown = try run([program, "key", "show", "--vapid", "--config", configuration])
        return String(try #require(shown.output.split(separator: "\n").first))
    }

    /// Over tor, as Bisq Connect does: the browser then shows what the trusted node sends, sealed with the registered key.
    @Test func whatATrustedNodeSendsAfterwardsIsShownByABrowser() async throws {
        let stage = try await NodeTests.Stage(withWebPush: true)
        let trusted = try SimulatedTrustedNode()
        let tor = try await SharedTorNetwork.network().startTor()
        let onion = try await tor.publish([(80, trusted.endpoint)])
        let browser = try stage.world.web.subscribe(for: try vapidKey(stage.configuration))
        let phone = try Phone.new(.android, descriptor: "Web", deviceToken: browser.token)
        let registered = try await register(
            stage.configuration, "--socks", "\(stage.socks)", token: phone.pairingToken.text,
            code: trusted.code(url: "ws://\(onion):80"))
        #expect(registered.status == 0, "\(registered.errors)")
        #expect(registered.output.hasPrefix("registered"))
        #expect(trusted.clientNames == ["Onionbell"] && trusted.devices.count == 1)
        let device = try #require(trusted.devices.first)
        #expect(device.key.utf8.count == 64 && device.value.descriptor == "Web (Onionbell)")
        #expect(device.value.deviceToken == browser.token)

        // The trusted node's own way of sending (`MobileNotificationRelayClient.java`).
        let sender = try ConnectPhone(
            platform: .android, deviceToken: device.value.deviceToken, key: device.value.key)
        let sent = ConnectMessage(id: "1", title: "New message", message: "Grüße", category: .chatMessage)
        let waiter = stage.world.nextPush(to: browser)
        let answer = try await HTTPExchange.answer(
            to: sender.request(for: try sender.seal(sent)), host: "\(stage.address):8021",
            by: .tor(socks: stage.socks, onion: stage.address, port: 8021))
        #expect(answer.status == 200)
        let (push, _) = try #require(await waiter.wait(for: theRun))
        // The page opens Bisq 2's form with the same key.
        #expect(try sender.open(try browser.open(push)) == sent)

        let removed = try await register(
            stage.configuration, "--remove", "--socks", "\(stage.socks)", token: phone.pairingToken.text,
            code: trusted.code(url: "ws://\(onion):80"))
        #expect(removed.status == 0 && removed.output == "removed\n" && trusted.devices.isEmpty)
        trusted.close()
        await tor.kill()
        await stage.close()
    }

    @Test func aTokenThatIsTooLongGetsAnAlias() async throws {
        let stage = try LoopbackStage(withWebPush: true)
        try await stage.start()
        let trusted = try SimulatedTrustedNode()
        // As long as Mozilla's.
        let browser = try stage.world.web.subscribe(for: try vapidKey(stage.configuration))
        let long = String(repeating: "x", count: 310 - browser.token.utf8.count)
        let parts = browser.token.components(separatedBy: "::")
        let phone = try Phone.new(
            .android, descriptor: "Web", deviceToken: "\(parts[0])\(long)::\(parts[1])")
        let token = phone.pairingToken.text
        let refused = try await register(stage.configuration, token: token, code: trusted.code())
        #expect(refused.status == 65 && refused.errors.contains("has 310"), "\(refused.errors)")
        #expect(refused.errors.contains("--name"))
        let code = trusted.code()
        let registered = try await register(stage.configuration, "--name", "me", token: token, code: code)
        #expect(registered.status == 0, "\(registered.errors)")
        #expect(trusted.devices.first?.value.deviceToken.hasPrefix("al1:") == true)
        // A code can be used once; registering again replaces.
        let used = try await register(stage.configuration, "--name", "me", token: token, code: code)
        #expect(used.status == 1 && used.errors.contains("used already"))
        let again = try await register(
            stage.configuration, "--name", "me", token: token, code: trusted.code())
        #expect(again.status == 0 && trusted.devices.count == 1)
        let listed = try run([program, "phones", "list", "--config", stage.configuration])
        #expect(listed.output.contains("me\t1\tyes"))
        trusted.close()
        await stage.close()
    }

    @Test func trustedNodesThatAnswerNonsenseAreTold() async throws {
        let stage = try LoopbackStage(withWebPush: true)
        let trusted = try SimulatedTrustedNode()
        let phone = try Phone.new(.android, descriptor: "Web")
        let token = phone.pairingToken.text
        for (text, status) in [
            ("not json", 69 as Int32), (#"{"type":"x"}"#, 69), ("[]", 69),
        ] {
            trusted.answersWith = text
            let result = try await register(
                stage.configuration, "--timeout", "1s", token: token, code: trusted.code())
            #expect(result.status == status, "\(text): \(result.errors)")
            #expect(!result.errors.contains("not json"))
        }
        trusted.answersWith = nil
        trusted.isSilent = true
        let silent = try await register(
            stage.configuration, "--timeout", "1s", token: token, code: trusted.code())
        #expect(silent.status == 69 && silent.errors.contains("no answer"), "\(silent.errors)")
        trusted.isSilent = false
        for (code, words) in [
            ("nonsense", "no pairing code"), (trusted.code(permissions: 0...9), "does not allow"),
            (trusted.code(url: "wss://192.0.2.1:80", flags: 1), "TLS"),
            (trusted.code(url: "ws://example.org"), "no onion address"),
        ] {
            let result = try await register(stage.configuration, token: token, code: code)
            #expect(result.status == 65 && result.errors.contains(words), "\(result.errors)")
        }
        // Bisq 2 wants 64 hex digits of an iPhone, which no browser has.
        let iPhone = try Phone.new(.ios, descriptor: "").pairingToken.text
        #expect(try await register(stage.configuration, token: iPhone, code: trusted.code()).status == 65)
        trusted.close()
        await stage.close()
    }
}
