import Client
import Foundation
import JSONCoding
import Lab
import Processes
import Reactor
import Testing
import Tor
import Vectors
import Wire

/// `onionbell rings` beside the built node that runs.
@EventLoop
@Suite(.serialized) struct RingsTests {
    private let address = OnionKey.generate().address.description

    private func onionbell(
        _ stage: LoopbackStage, _ words: String..., input: String = ""
    ) async throws -> CommandResult {
        let arguments = [program] + words + ["--config", stage.configuration]
        return try await Task.detached { try run(arguments, input: input) }.value
    }

    private func rings(_ stage: LoopbackStage) async throws -> JSON {
        try JSON(Array(try await onionbell(stage, "rings", "--json").output.utf8))
    }

    private func send(
        _ stage: LoopbackStage, to token: PairingToken, _ number: Int, awaitsOutcome: Bool = true
    ) async throws -> MobileNotificationResponse {
        let peer = try await stage.dial()
        defer { peer.close() }
        var request = try BisqSender(to: token).request(
            for: PhoneText(sentDate: 1, title: "ring \(number)", message: "", kind: .trade))
        request.awaitsOutcome = awaitsOutcome
        let first = try await peer.send(request, deadline: theRun)
        guard awaitsOutcome, first.status == .stored else { return first }
        return try await peer.nextResponse(to: request.uid, deadline: theRun)
    }

    @Test func eachRingIsThereWithWhatBecameOfIt() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        #expect(try await onionbell(stage, "rings").output == "no phone was rung since the start\n")
        let (mine, other) = (
            try Phone.new(.android, descriptor: "Pixel 8").pairingToken,
            try Phone.new(.android, descriptor: "Fairphone").pairingToken
        )
        let added = try await onionbell(
            stage, "phones", "add", "anna", "--pairing-token", "-", input: mine.text + "\n")
        #expect(added.status == 0, "\(added.errors)")
        await stage.logged("phones.changed")
        #expect(try await send(stage, to: mine, 1).status == .delivered)
        #expect(try await send(stage, to: other, 2).status == .delivered)
        let foreign = try PairingToken(
            platform: .android, descriptor: "", key: mine.key,
            deviceToken: "nt1:" + String(repeating: "a", count: 40))
        #expect(try await send(stage, to: foreign, 3).status == .refused)

        let answer = try await rings(stage)
        let list = try #require(answer["rings"]?.array)
        #expect(list.map { $0["name"]?.string } == [nil, "anna"])
        #expect(list.allSatisfy { $0["outcome"]?.string == "delivered" && $0["endpoint"]?.string == "peer" })
        #expect(list.first?["device"]?.string?.count == 8)
        #expect(answer["last"]?.array?.count == 1)
        #expect(answer["last"]?.array?.first?["ring"] == list.last)
        #expect(answer["refused"]?.array?.first?["reason"]?.string == "UnknownApp")
        #expect(answer["refused"]?.array?.first?["count"]?.integer == 1)

        let shown = try await onionbell(stage, "rings").output
        #expect(shown.contains("anna (1), "), "\(shown)")
        #expect(shown.contains("delivered after "))
        #expect(shown.contains("not taken: 1 × UnknownApp at peer"))
        #expect(shown.contains("apps and defaults"))
        for secret in [mine.deviceToken, other.deviceToken, mine.key] { #expect(!shown.contains(secret)) }

        // A restart in place is not noticed in the list.
        #expect(try await onionbell(stage, "restart").status == 0)
        #expect(try await rings(stage) == answer)
        #expect(try await send(stage, to: mine, 4).status == .delivered)
        #expect(try await rings(stage)["rings"]?.array?.map { $0["name"]?.string } == ["anna", nil, "anna"])

        // A list in memory says nothing of the process before.
        try stage.signal(SIGKILL)
        await stage.node.wait { $0.exit != nil }
        let none = try await onionbell(stage, "rings")
        #expect(none.status == 69 && none.errors.contains("no node"), "\(none.errors)")
        try await stage.start()
        #expect(try await rings(stage)["rings"]?.array?.isEmpty == true)
        await stage.close()
    }

    @Test func withASettingTheyAreOnDiskAndWithoutItTheyAreGone() async throws {
        let port = try freePort()
        let stage = try LoopbackStage {
            $0.replacing("\napps:\n", with: "\napps:\n  - {name: mailboxes, gateway: mailbox}\n")
                .replacing("guarded: false}", with: "guarded: false, public_address: \(address)}")
                + "doors:\n  mailbox: {listen: [\"127.0.0.1:\(port)\"]}\n"
        }
        let settings = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        let kept = settings.replacing("\nmanagement:\n", with: "\nmanagement:\n  keep_rings: 86400\n")
        #expect(kept != settings)
        try kept.write(toFile: stage.configuration, atomically: true, encoding: .utf8)
        let file = stage.world.directory.path + "/state/rings"
        try await stage.start()
        #expect(try await onionbell(stage, "rings").output == "no phone was rung in the time that is kept\n")
        let made = try JSON(
            Array(
                try await onionbell(
                    stage, "mailbox", "add", "desk", "--reader", "phone", "--json", "--show", "sealed"
                )
                .output.utf8))
        let box = try PairingToken(try #require(made["pairingToken"]?.string))
        await stage.logged("mailbox.changed")
        #expect(try await send(stage, to: box, 1, awaitsOutcome: false).status == .stored)
        let mine = try Phone.new(.android, descriptor: "Pixel 8").pairingToken
        #expect(try await send(stage, to: mine, 2).status == .delivered)
        let shown = try await onionbell(stage, "rings").output
        #expect(shown.contains("mailbox desk, ") && shown.contains("kept after"), "\(shown)")
        let before = try await rings(stage)
        #expect(before["count"]?.integer == 2 && before["kept_seconds"]?.integer == 86400)
        #expect(before["last"]?.array?.map { $0["mailbox"]?.string } == ["desk"])

        // Over a restart in place, and over an end.
        #expect(try await onionbell(stage, "restart").status == 0)
        #expect(try await rings(stage) == before)
        await stage.node?.stop()
        // Sealed as the rest: nobody reads who was rung, and nobody puts another list there.
        let sealed = try Data(contentsOf: URL(filePath: file))
        let plain = [mine.deviceToken, box.deviceToken, "ring 1", "ring 2", "desk", "sequence", "mailboxes"]
        for text in plain { #expect(sealed.range(of: Data(text.utf8)) == nil, "\(text)") }
        try await stage.start()
        #expect(try await rings(stage)["rings"] == before["rings"])
        #expect(try await onionbell(stage, "rings", "--all").output == shown)
        await stage.node?.stop()
        var changed = sealed
        changed[sealed.count / 2] ^= 1
        try changed.write(to: URL(filePath: file))
        try await stage.start()
        #expect(try await rings(stage)["rings"]?.array?.isEmpty == true)

        try settings.write(toFile: stage.configuration, atomically: true, encoding: .utf8)
        #expect(try await onionbell(stage, "restart").status == 0)
        #expect(try await rings(stage)["rings"]?.array?.isEmpty == true)
        #expect(!FileManager.default.fileExists(atPath: file))
        await stage.close()
    }
}
