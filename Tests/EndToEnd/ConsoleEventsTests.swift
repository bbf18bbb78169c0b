import Client
import Foundation
import HTTP1
import JSONCoding
import Lab
import Processes
import Reactor
import Testing
import Wire

/// What the console tells by itself, and what widgets read, at the built node.
@EventLoop
@Suite(.serialized) struct ConsoleEventsTests {
    /// Reads the stream, one line after the other, until it ends.
    private func listen(_ browser: ConsoleBrowser, _ more: String...) throws -> LabProgram {
        let words = [
            "curl", "-sN", "-w", "\n%{http_code}\n", "-H", "Cookie: \(browser.cookie ?? "none=1")",
            "http://127.0.0.1:\(browser.port)/api/v1/events",
        ]
        return try LabProgram(words + more)
    }

    private func has(_ count: Int, _ event: String, _ stream: LabProgram) async {
        await stream.wait { $0.exit != nil || $0.lines.count { $0 == "event: \(event)" } >= count }
        #expect(stream.exit == nil, "\(stream.lines)")
    }

    @Test func aPageHearsWhatChangesAndNothingOfTheNodeIsInIt() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let stream = try listen(owner)
        // Whatever has changed since its page asked.
        for kind in ["state", "phones", "mailboxes", "peers"] { await has(1, kind, stream) }
        let phone = try Phone.new(.ios, descriptor: "iPhone X")
        let token = JSON.string(phone.pairingToken.text).text
        #expect(
            try await owner.send("POST", "/api/v1/phones", #"{"name":"alice","pairing_token":\#(token)}"#)
                .status == 201)
        await has(2, "phones", stream)
        #expect(try await owner.send("POST", "/api/v1/peers", #"{"name":"carol"}"#).status == 201)
        await has(2, "peers", stream)
        // A command beside the node.
        let words = [
            program, "phones", "rename", "alice", "bob", "--config", stage.configuration,
        ]
        let renamed = try await Task.detached { try run(words) }.value
        #expect(renamed.status == 0, "\(renamed)")
        await has(3, "phones", stream)
        // The first request of a Bisq.
        let before = stream.lines.count { $0 == "event: state" }
        let peer = try await stage.dial()
        var request = try BisqSender(to: phone.pairingToken).request(
            for: PhoneText(sentDate: 1, title: "t", message: "", kind: .trade))
        request.awaitsOutcome = true
        #expect(try await peer.outcome(of: request).status == .delivered)
        await has(before + 1, "state", stream)
        #expect(
            stream.lines.allSatisfy { $0.isEmpty || $0.hasPrefix("event: ") || $0 == "data: {}" },
            "\(stream.lines)")
        // With its session it ends.
        #expect(try await owner.send("DELETE", "/api/v1/session").status == 204)
        let other = ConsoleBrowser(owner.port)
        let link = [program, "console", "link", "--config", stage.configuration]
        let text = try await Task.detached { try run(link).output }.value
        #expect(
            try await other.enter(
                "link", text.trimmingCharacters(in: .newlines).components(separatedBy: "#enter=")[1]) == 204)
        #expect(try await other.send("DELETE", "/api/v1/peers/carol").status == 204)
        await stream.wait { $0.exit != nil }
        #expect(!stream.lines.suffix(4).contains("event: peers"))
        peer.close()
        await stage.close()
    }

    @Test func streamsOfASessionAreBoundedAndStrangersHaveNone() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let stranger = try listen(ConsoleBrowser(owner.port))
        await stranger.wait { $0.exit != nil }
        #expect(stranger.lines.last == "401")
        let rebound = try listen(owner, "-H", "Host: evil.example:\(owner.port)")
        await rebound.wait { $0.exit != nil }
        #expect(rebound.lines.last == "403")
        let foreign = try listen(owner, "-H", "Sec-Fetch-Site: cross-site")
        await foreign.wait { $0.exit != nil }
        #expect(foreign.lines.last == "403")
        #expect(try await owner.send("POST", "/api/v1/events", "{}").status == 405)
        var streams: [LabProgram] = []
        for _ in 0..<5 {
            let stream = try listen(owner)
            await has(1, "state", stream)
            streams.append(stream)
        }
        // One more than four ends the oldest.
        await streams[0].wait { $0.exit != nil }
        for stream in streams[1...] { #expect(stream.exit == nil) }
        // The node stops in order while they listen.
        await stage.close()
        for stream in streams[1...] { await stream.wait { $0.exit != nil } }
    }

    @Test func aWidgetReadsFourFiguresByATokenOfItsOwnAndNothingElse() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let (status, made) = try await owner.json("POST", "/api/v1/widget-tokens", #"{"name":"umbrel"}"#)
        let token = try #require(made?["token"]?.string)
        #expect(status == 201 && token.utf8.count == 27)
        let program = ConsoleBrowser(owner.port)
        func ask(_ path: String, _ fields: [String: String] = [:], host: String? = nil) async throws
            -> HTTPResponse
        {
            try await program.send(
                "GET", path, nil, host: host, ["sec-fetch-site": ""].merging(fields) { $1 })
        }
        let bearer = ["authorization": "Bearer \(token)"]
        // Under whatever name the platform knows the node.
        let answer = try await ask("/api/v1/widget", bearer, host: "onionbell_node_1:9480")
        #expect(answer.status == 200)
        let figures = try JSON(answer.body)
        #expect(figures["waiting"]?.integer == 0 && figures["delivered_today"]?.integer == 0)
        #expect(["ok", "warning", "failing"].contains(figures["state"]?.string ?? ""))
        #expect(figures["last_ring"] == .null)
        let umbrel = try JSON(try await ask("/api/v1/widget/umbrel?token=\(token)").body)
        #expect(umbrel["type"]?.string == "four-stats" && umbrel["items"]?.array?.count == 4)
        // It opens nothing else, and no other one opens it.
        for path in [
            "/api/v1/state", "/api/v1/phones", "/api/v1/widget-tokens", "/api/v1/widget/x", "/status.txt",
        ] {
            #expect(try await ask(path, bearer).status == 401, "\(path)")
        }
        for fields in [
            [:], ["authorization": "Bearer x"], ["authorization": "Bearer "],
            ["authorization": "Basic \(token)"],
            ["cookie": "onionbell-\(owner.port)=\(token)"],
        ] {
            #expect(try await ask("/api/v1/widget", fields).status == 401, "\(fields)")
        }
        #expect(try await ask("/api/v1/widget?token=x").status == 401)
        let posted = try await program.send("POST", "/api/v1/widget", "{}", bearer)
        #expect(posted.status == 401)

        let ring = try Phone.new(.ios, descriptor: "iPhone X").pairingToken
        let peer = try await stage.dial()
        var request = try BisqSender(to: ring).request(
            for: PhoneText(sentDate: 1, title: "t", message: "", kind: .trade))
        request.awaitsOutcome = true
        #expect(try await peer.outcome(of: request).status == .delivered)
        try await until {
            try JSON(try await ask("/api/v1/widget", bearer).body)["delivered_today"]?.integer == 1
        }
        #expect(try JSON(try await ask("/api/v1/widget", bearer).body)["last_ring"]?.integer != nil)
        peer.close()

        // Kept over a restart, without its text; revoked for good.
        let file = stage.world.state + "/console-widgets"
        #expect(try !String(contentsOfFile: file, encoding: .utf8).contains(token))
        await stage.node.stop()
        try await stage.start()
        #expect(try await ask("/api/v1/widget", bearer).status == 200)
        #expect(try await owner.send("POST", "/api/v1/widget-tokens", #"{"name":"umbrel"}"#).status == 409)
        #expect(try await owner.send("POST", "/api/v1/widget-tokens", #"{"name":"a b"}"#).status == 422)
        #expect(
            try await owner.json("GET", "/api/v1/widget-tokens").1?["names"]?.array?.compactMap(\.string) == [
                "umbrel"
            ])
        let words = [onionbell, "console", "widget", "--revoke", "umbrel", "--config", stage.configuration]
        let revoked = try await Task.detached { try run(words) }.value
        #expect(revoked.status == 0, "\(revoked)")
        #expect(try await ask("/api/v1/widget", bearer).status == 401)
        #expect(try await owner.send("DELETE", "/api/v1/widget-tokens/umbrel").status == 404)
        let again = [onionbell, "console", "widget", "desk", "--config", stage.configuration]
        let printed = try await Task.detached { try run(again).output }.value
        let line = try #require(printed.split(separator: "\n").first.map(String.init))
        #expect(try await ask("/api/v1/widget", ["authorization": "Bearer \(line)"]).status == 200)
        await stage.close()
    }

    private var onionbell: String { program }
}
