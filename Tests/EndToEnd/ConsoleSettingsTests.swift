import Client
import Foundation
import HTTP1
import JSONCoding
import Lab
import Processes
import Reactor
import Testing
import Wire

/// The settings and what waits, in the console of the built node.
@EventLoop
@Suite(.serialized) struct ConsoleSettingsTests {
    private func body(_ members: JSON.Object) -> String { JSON.object(members).text }

    private func check(_ owner: ConsoleBrowser, _ changes: JSON.Object) async throws -> JSON {
        let (status, checked) = try await owner.json(
            "POST", "/api/v1/settings/check", body(["changes": .object(changes)]))
        #expect(status == 200, "\(checked?.text ?? "")")
        return try #require(checked)
    }

    @Test func aChangeIsShownThenTakenAndSaysWhatNeedsARestart() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let settings = try #require(try await owner.json("GET", "/api/v1/settings").1)
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        #expect(settings["text"]?.string == text && settings["writable"]?.bool == true)
        let version = try #require(settings["version"])
        #expect(settings["fields"]?.array?.count ?? 0 >= 12)
        #expect(settings["targets"]?.array?.allSatisfy { $0["mine"]?.bool == false } == true)

        // What the node takes over as it runs.
        let live = try await check(owner, ["log.level": "debug"])
        #expect(live["needs_restart"]?.array == [] && live["fault_count"]?.integer == 0, "\(live.text)")
        // As the command says it of the same file.
        let words = [program, "check-config", "--config", stage.configuration]
        let said = try await Task.detached { try run(words).output }.value.split(separator: "\n").dropFirst()
        #expect(live["remarks"]?.array?.compactMap(\.string) == said.map { String($0.dropFirst(2)) })
        let lines = live["difference"]?.array?.filter { $0["kind"]?.string == "added" } ?? []
        #expect(lines.contains { $0["text"]?.string?.contains("level: debug") == true })
        #expect(try String(contentsOfFile: stage.configuration, encoding: .utf8) == text)
        let put = try await owner.json(
            "PUT", "/api/v1/settings",
            body(["version": version, "text": live["text"] ?? .null]))
        #expect(put.0 == 200 && put.1?["needs_restart"]?.array == [], "\(put.1?.text ?? "")")
        await stage.logged("settings.reread")
        #expect(
            try String(contentsOfFile: stage.configuration, encoding: .utf8) == live["text"]?.string)

        // Another who has read it before: nothing of the first one's is lost.
        let late = try await owner.json(
            "PUT", "/api/v1/settings", body(["version": version, "text": .string(text)]))
        #expect(late.0 == 409 && late.1?["code"]?.string == "changed_meanwhile")

        let app = try #require(settings["targets"]?.array?.first?["app"]?.string)
        let mine = try await check(owner, JSON.Object([("apps[\(app)].targets", JSON.string("phone_book"))]))
        #expect(mine["needs_restart"]?.array?.compactMap(\.string) == ["apps[0].targets"], "\(mine.text)")
        let second = try await owner.json(
            "PUT", "/api/v1/settings",
            body(["version": mine["version"] ?? .null, "text": mine["text"] ?? .null]))
        #expect(second.0 == 200)
        await stage.node.stop()
        try await stage.start()
        let again = try await owner.json("GET", "/api/v1/settings").1
        #expect(again?["targets"]?.array?.first?["mine"]?.bool == true)
        await stage.close()
    }

    /// A thousand errors are counted, and the first hundred told with their lines. Nothing of it is written.
    @Test func aTextOfAThousandErrorsIsToldWithItsLines() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let settings = try #require(try await owner.json("GET", "/api/v1/settings").1)
        let text = (settings["text"]?.string ?? "") + (1...1000).map { "wrong\($0): 1\n" }.joined()
        let (status, checked) = try await owner.json(
            "POST", "/api/v1/settings/check", body(["text": .string(text)]))
        #expect(status == 200 && checked?["fault_count"]?.integer == 1000)
        #expect(checked?["faults"]?.array?.count == 100)
        let first = checked?["faults"]?.array?.first
        #expect(first?["key"]?.string == "wrong1")
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(first?["line"]?.integer.map { lines[Int($0) - 1] } == "wrong1: 1")
        let put = try await owner.json(
            "PUT", "/api/v1/settings",
            body(["version": settings["version"] ?? .null, "text": .string(text)]))
        #expect(put.0 == 422 && put.1?["code"]?.string == "bad_settings")
        #expect(put.1?["message"]?.string?.hasPrefix("1000 errors, the first: ") == true)
        for (body, expected) in [
            (#"{"text":5}"#, 400), (#"{"changes":[]}"#, 400), (#"{"changes":{"a":1}}"#, 400),
            (#"{"more":1}"#, 400), (#"{"changes":{"no such":"1"}}"#, 422),
        ] {
            #expect(
                try await owner.send("POST", "/api/v1/settings/check", body).status == expected, "\(body)")
        }
        let huge = body(["text": .string(String(repeating: "a", count: 257 << 10))])
        #expect(try await owner.send("POST", "/api/v1/settings/check", huge).status == 400)
        #expect(
            try String(contentsOfFile: stage.configuration, encoding: .utf8) == settings["text"]?.string)
        await stage.close()
    }

    @Test func whatWaitsIsTriedOrDroppedAndEventsAreTold() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let events = try await owner.json("GET", "/api/v1/history").1?["events"]?.array
        #expect(events?.last?["name"]?.string == "start", "\(events ?? [])")
        stage.world.google.faults = FaultScript([FaultRule(.text(status: 503, ""))])
        let peer = try await stage.dial()
        for number in 0..<3 {
            #expect(try await peer.send(request(number, platform: .android)).status == .stored)
        }
        func waiting() async throws -> Int64? {
            try await owner.json("GET", "/api/v1/state").1?["outbox"]?["waiting"]?.integer
        }
        try await until { try await waiting() == 3 }
        let none = try await owner.json("POST", "/api/v1/waiting/retry", #"{"app":"no such"}"#)
        #expect(none.0 == 200 && none.1?["count"]?.integer == 0)
        // What the gateway has just now is neither made due nor dropped.
        func count(of command: String) async throws -> Int64? {
            let answer = try await owner.json("POST", "/api/v1/waiting/" + command, "{}")
            #expect(answer.0 == 200, "\(answer.1?.text ?? "")")
            return answer.1?["count"]?.integer
        }
        try await until { try await count(of: "retry") == 3 }
        var dropped: Int64 = 0
        try await until {
            dropped += try await count(of: "drop") ?? 0
            return try await waiting() == 0
        }
        #expect(dropped == 3)
        // There is no network to be called through.
        let reach = try await owner.json("POST", "/api/v1/reach")
        #expect(reach.0 == 200 || reach.1?["code"]?.string == "no_way_out", "\(reach.1?.text ?? "")")
        await stage.close()
    }
}
