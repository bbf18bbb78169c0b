import Client
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// `onionbell phones` beside the built node that runs.
@EventLoop
@Suite(.serialized) struct PhoneBookTests {
    /// The simulated gateways live on this thread's loop: the command must not block it.
    private func phones(
        _ stage: LoopbackStage, _ words: String..., input: String = ""
    ) async throws -> CommandResult {
        let arguments =
            [program, "phones", words[0], "--config", stage.configuration] + words.dropFirst()
        return try await Task.detached { try run(arguments, input: input) }.value
    }

    private func encrypted(_ push: AcceptedPush) throws -> String {
        let body = try JSON(push.body)
        return try #require((body["message"]?["data"]?["encrypted"] ?? body["encrypted"])?.string)
    }

    /// Bisq sends for a phone; the node's last answer.
    private func send(
        _ stage: LoopbackStage, to token: PairingToken, title: String
    ) async throws -> MobileNotificationResponse {
        let peer = try await stage.dial()
        defer { peer.close() }
        var request = try BisqSender(to: token).request(
            for: PhoneText(sentDate: 1, title: title, message: "", kind: .trade))
        request.awaitsOutcome = true
        let first = try await peer.send(request, deadline: theRun)
        guard first.status == .stored else { return first }
        return try await peer.nextResponse(to: request.uid, deadline: theRun)
    }

    @Test func oneAddressRingsAllPhonesOfAName() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        // Two phones under one pairing: one key, two device tokens.
        let first = try Phone.new(.android, descriptor: "Pixel 8")
        let second = Phone(
            try PairingToken(
                platform: .android, descriptor: "Fairphone", key: first.pairingToken.key,
                deviceToken: Phone.new(.android, descriptor: "").pairingToken.deviceToken))
        for phone in [first, second] {
            let added = try await phones(
                stage, "add", "alice", "--pairing-token", "-", input: phone.pairingToken.text + "\n")
            #expect(added.status == 0, "\(added.errors)")
            #expect(!added.output.contains(first.pairingToken.key))
            #expect(!added.output.contains(phone.pairingToken.deviceToken))
        }
        await stage.logged("phones.changed")
        let listed = try await phones(stage, "list")
        #expect(listed.output == "name\tphones\talias\nalice\t2\tno\n")
        #expect(
            try await phones(stage, "list", "--json").output
                == #"[{"alias":false,"name":"alice","phones":2}]"# + "\n")
        let shown = try JSON(Array(try await phones(stage, "show", "alice", "--json").output.utf8))
        #expect(shown["alias"]?.bool == false)
        #expect(shown["phones"]?.array?.last?["model"]?.string == "Fairphone")
        #expect(try await phones(stage, "show", "alice").output.contains("android\tdefault\tFairphone\t"))

        let alias = try await phones(
            stage, "alias", "alice", "--pairing-token", "-", input: first.pairingToken.text + "\n")
        #expect(alias.status == 0, "\(alias.errors)")
        let shared = try PairingToken(alias.output.trimmingCharacters(in: .newlines))
        #expect(shared.deviceToken.hasPrefix("al1:"))
        #expect(shared.key == first.pairingToken.key)
        // Without a restart.
        try await until { try await send(stage, to: shared, title: "too soon").status == .delivered }
        let waiters = [stage.world.nextPush(to: first), stage.world.nextPush(to: second)]
        #expect(try await send(stage, to: shared, title: "to both").status == .delivered)
        for (waiter, phone) in zip(waiters, [first, second]) {
            let push = try #require(await waiter.wait(for: theRun))
            #expect(try phone.open(try encrypted(push.push)).title == "to both")
        }
        await stage.close()
    }

    /// Bisq 2 takes 300 characters. A browser's address is longer: what stands for it is made and told at once.
    @Test func aLongAddressGetsOneThatBisq2Takes() async throws {
        let stage = try LoopbackStage(withWebPush: true)
        try await stage.start()
        func token(_ length: Int) throws -> PairingToken {
            let path = "/wpush/v2/"
            var browser = try Browser(at: "https://\(stage.world.webPushHosts[0])", path: path)
            let missing = length - browser.token.utf8.count
            browser = try Browser(
                at: "https://\(stage.world.webPushHosts[0])",
                path: path + String(repeating: "a", count: missing))
            #expect(browser.token.utf8.count == length)
            return try Phone.new(.android, descriptor: "Web", deviceToken: browser.token).pairingToken
        }
        let short = try await phones(
            stage, "add", "bob", "--pairing-token", "-", input: try token(300).text + "\n")
        #expect(short.status == 0 && !short.output.contains("al1:"), "\(short.output)\(short.errors)")
        for (number, length) in [301, 1040].enumerated() {
            let pairing = try token(length)
            let long = try await phones(
                stage, "add", "alice\(number)", "--pairing-token", "-", input: pairing.text + "\n")
            #expect(long.status == 0, "\(long.errors)")
            #expect(
                long.output.contains("Its address has \(length) characters, more than Bisq 2 takes. This one")
            )
            let alias = try await phones(stage, "alias", "alice\(number)")
            #expect(long.output.contains(alias.output.trimmingCharacters(in: .newlines)))
            #expect((100...300).contains(alias.output.utf8.count - 1))
        }
        await stage.close()
    }

    @Test func aPhoneIsRungAndItsAnswerTold() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let phone = try Phone.new(.ios, descriptor: "iPhone X")
        let token = phone.pairingToken.text
        #expect(try await phones(stage, "test", "alice").status == 1)
        #expect(try await phones(stage, "add", "alice", "--pairing-token", token).status == 0)
        await stage.logged("phones.changed")
        let waiter = stage.world.nextPush(to: phone)
        let rung = try await phones(stage, "test", "alice", "--pairing-token", token)
        #expect(rung.status == 0, "\(rung.errors)")
        #expect(rung.output == "phone 1 (iOS, iPhone X): delivered: its push service has taken it\n")
        let push = try #require(await waiter.wait(for: theRun))
        #expect(try phone.open(try encrypted(push.push)).title == "Onionbell")
        // Another phone's key would ring it with a text that it can't open.
        let stranger = try Phone.new(.ios, descriptor: "iPhone X").pairingToken.text
        let refused = try await phones(stage, "test", "alice", "--pairing-token", stranger)
        #expect(refused.status == 65 && refused.errors.contains("another phone's"), "\(refused.errors)")
        #expect(refused.output == "")
        // Without the key the push service takes it as well, and the phone can't open it.
        let blind = stage.world.nextPush(to: phone)
        #expect(try await phones(stage, "test", "alice").status == 0)
        let other = try #require(await blind.wait(for: theRun))
        #expect(throws: PhoneError.self) { try phone.open(try encrypted(other.push)) }

        #expect(try await phones(stage, "rename", "alice", "bob").output == "renamed\n")
        #expect(try await phones(stage, "remove", "bob").output == "removed 1 phone\n")
        #expect(try await phones(stage, "remove", "bob").status == 1)
        for wrong in [["add", "a b"], ["add", "alice"], ["alias", "alice", "--new", "--remove"]] {
            #expect(
                try run([program, "phones"] + wrong + ["--config", stage.configuration]).status == 64)
        }
        let misfit = try await phones(
            stage, "add", "alice", "--device-token", "short", "--platform", "android")
        #expect(misfit.status == 65)
        #expect(!misfit.errors.contains("short"))
        let nested = "al1:" + String(repeating: "a", count: 96)
        #expect(
            try await phones(stage, "add", "alice", "--device-token", nested, "--platform", "android").status
                == 65)
        await stage.close()
    }

    @Test func anAppForThePhoneBookRingsOnlyItsPhones() async throws {
        let stage = try LoopbackStage {
            $0.replacing("gateway: fcm", with: "gateway: fcm\n    targets: phone_book")
        }
        try await stage.start()
        let (owner, stranger) = (
            try Phone.new(.android, descriptor: "mine"), try Phone.new(.android, descriptor: "not mine")
        )
        let added = try await phones(stage, "add", "me", "--pairing-token", owner.pairingToken.text)
        #expect(added.status == 0, "\(added.errors)")
        await stage.logged("phones.changed")
        #expect(try await send(stage, to: owner.pairingToken, title: "mine").status == .delivered)
        let refused = try await send(stage, to: stranger.pairingToken, title: "not mine")
        #expect(refused.status == .refused)
        #expect(refused.reason == "NotInPhoneBook")
        // Phones of other apps are nobody's business here.
        let other = try Phone.new(.ios, descriptor: "")
        #expect(try await send(stage, to: other.pairingToken, title: "other").status == .delivered)
        #expect(try await phones(stage, "remove", "me").status == 0)
        await stage.logged("phones.changed", count: 2)
        #expect(try await send(stage, to: owner.pairingToken, title: "gone").reason == "NotInPhoneBook")
        await stage.close()
    }
}
