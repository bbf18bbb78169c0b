import Client
import Encodings
import HTTP1
import JSONCoding
import Lab
import Node
import Owner
import Reactor
import Testing
import Vectors
import Wire

/// What of the console concerns the network, at nodes in a private one: two starts and a third make it long.
@EventLoop
@Suite(.serialized) struct ConsoleOverTorTests {
    private func call(
        _ stage: NodeTests.Stage, _ path: String, _ body: JSON? = nil
    ) async throws -> HTTPResponse {
        let text = body.map { Array($0.text.utf8) } ?? []
        return try await HTTPExchange.answer(
            to: HTTPRequest(method: "POST", path: "/api/v1/" + path, body: text, isKeptAlive: false),
            host: "localhost", by: .direct(.unix(path: stage.world.state + "/status")), deadline: theRun,
            longest: NodeBackup.longestFile)
    }

    /// The old node is found as long as the network knows it; the new one has its address, and rings its phones.
    @Test func aNodeMovesWithItsAddressAndNotWhileTheOldOneIsKnown() async throws {
        let old = try await NodeTests.Stage()
        let fresh = try await NodeTests.Stage()
        let reached = try JSON(await call(old, "reach").body)
        #expect(reached["outcome"]?.string == "reached", "\(reached.text)")
        let phone = try Phone.new(.ios, descriptor: "iPhone X")
        let added = try await call(
            old, "phones",
            ["name": "alice", "pairing_token": .string(phone.pairingToken.text)])
        #expect(added.status == 201)
        let passphrase: JSON = "correct horse battery"
        let copy = try await call(old, "backup", ["passphrase": passphrase])
        #expect(copy.status == 200)
        func restore(stopped: Bool) async throws -> (Int, JSON) {
            let answer = try await call(
                fresh, "restore",
                [
                    "passphrase": passphrase, "file": .string(Base64.encode(copy.body)),
                    "old_node_stopped": .bool(stopped), "keep_settings": .bool(true),
                ])
            return (answer.status, try JSON(answer.body))
        }
        let living = try await restore(stopped: false)
        #expect(living.0 == 409 && living.1["code"]?.string == "old_node_published", "\(living.1.text)")
        await old.node.stop()
        let staged = try await restore(stopped: true)
        #expect(staged.0 == 200 && staged.1["settings"]?.string == "kept", "\(staged.1.text)")
        await fresh.node.stop()
        try await fresh.startAgain()
        #expect(fresh.address == old.address)

        let waiter = fresh.world.nextPush(to: phone)
        var request = try BisqSender(to: phone.pairingToken).request(
            for: PhoneText(
                sentDate: 1_790_000_000_000, transactionID: "", title: "moved", message: "", kind: .trade,
                actionRequired: "", version: 1))
        request.awaitsOutcome = true
        let outcome = try await fresh.dial().outcome(of: request)
        #expect(outcome.status == .delivered)
        #expect(await waiter.wait(for: theRun) != nil)
        await fresh.close()
        await old.close()
    }
}
