import Client
import Encodings
import Foundation
import HTTP1
import JSONCoding
import Lab
import LabParts
import Reactor
import Relay
import Testing
import Tor
import Vectors
import Wire

/// What the built node has to say itself: about a Bisq that it watches through real tors, to a name of the phone book.
@EventLoop
@Suite(.serialized) struct WatchmanNodeTests {
    private func command(_ arguments: [String], input: String = "") async throws -> CommandResult {
        try await Task.detached { try run([program] + arguments, input: input) }.value
    }

    private func get(_ path: String, _ stage: RelayStage) async throws -> String {
        let socket = stage.directory.path + "/management"
        return try await Task.detached {
            try run(["curl", "-s", "--unix-socket", socket, "http://localhost\(path)"])
        }.value.output
    }

    /// Its interval is a minute at least: this takes three.
    @Test func itsOwnerHearsOfASilentBisqAndOfItsReturn() async throws {
        let network = try await SharedTorNetwork.network()
        let bisq = SimulatedBisq()
        bisq.isAsleep = true
        let endpoint = try bisq.open(on: .host("127.0.0.1", port: 0))
        let tor = try await network.startTor()
        let key = OnionKey.generate()
        let service = try await OnionService.publish(
            key: key, ports: [try VirtualPort(9999, to: endpoint)], on: tor.connection)
        let stage = try await RelayStage(
            apps: { _ in "  - {name: mailboxes, gateway: mailbox, targets: phone_book}" },
            more: [
                "doors:", "  mailbox: {listen: [\"onion:8030\"]}", "watchman:",
                "  - {name: home, address: \"\(key.address):9999\", interval: 60, misses: 1, ring: me}",
            ])
        let mailbox = try await StagedMailbox.add(readers: ["phone"], to: stage.configuration)
        let added = try await command(
            ["phones", "add", "me", "--pairing-token", "-", "--config", stage.configuration],
            input: mailbox.pairingToken.text + "\n")
        #expect(added.status == 0, "\(added.errors)")
        for change in ["mailbox.changed", "phones.changed"] {
            await stage.node.wait { $0.exit != nil || $0.lines.contains { $0.contains(change) } }
        }
        let reader = try LabReader(
            program, file: stage.directory.path + "/phone",
            arguments: ["--mailbox", mailbox.file, "--socks", "\(try #require(stage.client.socks))"])
        await reader.wait(forShown: 1)
        #expect(reader.titles == ["home is silent"], "\(reader.lines) \(stage.node.lines)")
        #expect(reader.shown.first?["kind"]?.string == "NODE")
        #expect(reader.shown.first?["message"]?.string == "It has not answered yet.")
        #expect(bisq.pings == 1 && bisq.others == 0, "one Ping, and nothing else")
        let status = try JSON(Array(try await get("/status.json", stage).utf8))
        #expect(status["watches"]?.array?.first?["silent"]?.bool == true)
        #expect(status["watches"]?.array?.first?["name"]?.string == "home")
        let metrics = try await get("/metrics", stage)
        #expect(metrics.contains("onionbell_watch_silent{watch=\"home\"} 1\n"))
        #expect(metrics.contains("onionbell_watch_rings_total{watch=\"home\"} 1\n"))

        bisq.isAsleep = false
        await reader.wait(forShown: 2)
        #expect(reader.titles == ["home is silent", "home is back"], "\(reader.lines) \(stage.node.lines)")
        let later = try await get("/metrics", stage)
        #expect(later.contains("onionbell_watch_silent{watch=\"home\"} 0\n"))
        #expect(await reader.stop() == .exited(0))
        withExtendedLifetime(service) {}
        bisq.close()
        await tor.kill()
        await stage.close()
    }

    /// Whoever has the pairing token could frighten the phone's owner with the node's own words.
    @Test func noEndpointTakesTheNodesWordsFromOutside() async throws {
        let stage = try await MailboxStage()
        let text = Notice.text(title: "home is silent", message: "x", at: 1)
        let token = stage.mailbox.pairingToken

        var get = try stage.mailbox.bisq1("one")
        let query = try #require(get.query).split(separator: "&").filter { !$0.hasPrefix("msg=") }
        get.query = (query + ["msg=\(Hex.encode(Array(text.utf8)))"]).joined(separator: "&")
        #expect(try await !stage.send(get))
        var post = try stage.mailbox.bisq2("two")
        let quoted = text.replacing("\"", with: "\\\"")
        post.body = Array(#"{"encrypted":"\#(quoted)","isUrgent":true,"isMutableContent":true}"#.utf8)
        #expect(try await !stage.send(post))
        let peer = try await stage.stage.dial()
        var request = try BisqSender(to: token).request(
            for: PhoneText(sentDate: 1, title: "three", message: "", kind: .trade))
        request.message = text
        let response = try await peer.send(request, deadline: theRun)
        #expect(response.status == .refused && response.reason == "BadMessage")
        peer.close()

        // Had one of them been taken, it would come before this.
        #expect(try await stage.send(try stage.mailbox.bisq1("good")))
        let reader = try stage.reader(stage.newFile(), "--mailbox", stage.mailbox.file)
        await reader.wait(forShown: 1)
        #expect(reader.titles == ["good"], "\(reader.lines)")
        #expect(await reader.stop() == .exited(0))
        await stage.close()
    }
}
