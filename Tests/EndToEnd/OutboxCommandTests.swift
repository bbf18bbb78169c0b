import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Wire

/// `onionbell outbox`, beside the built program and in its place.
@EventLoop
@Suite struct OutboxCommandTests {
    /// A node whose notifications are all put off for an hour.
    private func stage(_ count: Int) async throws -> LoopbackStage {
        let stage = try LoopbackStage()
        stage.world.apple.faults = FaultScript([
            FaultRule(.answer(status: 429, reason: "TooManyRequests", retryAfter: "3600"))
        ])
        try await stage.start()
        let peer = try await stage.dial()
        for number in 1...count { #expect(try await peer.send(request(number)).status == .stored) }
        try await until { stage.world.apple.figures.requests >= count }
        peer.close()
        // What came of the attempts is in one of the next commits.
        try await until { try list(stage).allSatisfy { $0["attempts"]?.integer == 1 } }
        return stage
    }

    private func outbox(_ arguments: [String], _ stage: LoopbackStage) throws -> CommandResult {
        try run([program, "outbox"] + arguments + ["--config", stage.configuration])
    }

    private func list(_ stage: LoopbackStage) throws -> [JSON] {
        let result = try outbox(["list", "--json"], stage)
        #expect(result.status == 0, "\(result.errors)")
        return try #require(try JSON(Array(result.output.utf8)).array)
    }

    @Test func checkAndListWorkBesideTheNodeAndShowNoTokenAndNoMessage() async throws {
        let stage = try await stage(3)
        let check = try outbox(["check"], stage)
        #expect(check.status == 0)
        #expect(check.output.hasPrefix("3 waiting, "))
        #expect(check.output.contains("  bisq-remote-ios: 3\n"))
        #expect(check.output.hasSuffix("sound (the node runs)\n"))
        let facts = try JSON(Array(try outbox(["check", "--json"], stage).output.utf8))
        #expect(facts["sound"]?.bool == true && facts["running"]?.bool == true)
        #expect(facts["waiting"]?.integer == 3 && facts["faults"]?.array?.isEmpty == true)
        #expect(facts["apps"]?.array?.first?["app"]?.string == "bisq-remote-ios")
        let table = try outbox(["list"], stage)
        #expect(table.status == 0)
        #expect(table.output.split(separator: "\n").count == 4)
        let rows = try list(stage)
        #expect(rows.map { $0["sequence"]?.integer } == [1, 2, 3])
        #expect(rows.allSatisfy { $0["app"]?.string == "bisq-remote-ios" && $0["attempts"]?.integer == 1 })
        #expect(rows.allSatisfy { (3_000_000...3_600_000).contains($0["next_attempt_in_ms"]?.integer ?? 0) })
        #expect(Set(rows.map { $0["device"]?.string }).count == 3)
        #expect(rows.allSatisfy { $0["device"]?.string?.count == 8 })
        let json = try outbox(["list", "--json"], stage)
        for number in 1...3 {
            for secret in [request(number).deviceToken, request(number).message, request(number).uid] {
                #expect(!(table.output + json.output + check.output).contains(secret))
            }
        }
        #expect(
            try outbox(["list", "--app", "nobody"], stage).output
                == "nothing waits for nobody, and no app has this name\n")
        await stage.close()
    }

    /// By their numbers, by app and host, and nothing that nobody asks for.
    @Test func theCallsBeneathTakeWhatTheirDescriptionSays() async throws {
        let stage = try await stage(3)
        let socket = stage.world.state + "/status"
        func ask(
            _ method: String, _ path: String, query: String = "", _ body: String = ""
        ) async throws -> (Int, JSON?) {
            let words = [
                "curl", "-s", "-X", method, "-w", "\n%{http_code}", "--unix-socket", socket, "-d", body,
                "http://localhost/api/v1/waiting\(path)?\(query)",
            ]
            let lines = try await Task.detached { try run(words).output }.value.split(separator: "\n")
            return (Int(lines.last ?? "") ?? 0, try? JSON(Array((lines.first ?? "").utf8)))
        }
        func rows(_ query: String) async throws -> [Int64?]? {
            try await ask("GET", "", query: query).1?["rows"]?.array?.map { $0["sequence"]?.integer }
        }
        #expect(try await rows("") == [1, 2, 3])
        #expect(try await rows("after=1&app=bisq-remote-ios") == [2, 3])
        #expect(try await rows("app=nobody") == [])
        for query in ["after=x", "after=-1", "after=99999999999999999999", "number=1", "app=%"] {
            #expect(try await ask("GET", "", query: query).0 == 400, "\(query)")
        }
        for body in [
            #"{"sequences":[]}"#, #"{"sequences":[0]}"#, #"{"sequences":["1"]}"#,
            #"{"sequences":[1],"app":"x"}"#, #"{"app":1}"#,
            #"{"sequences":[\#(Array(repeating: "1", count: 1001).joined(separator: ","))]}"#,
            #"{"all":true}"#,
        ] {
            #expect(try await ask("POST", "/retry", body).0 == 400)
            #expect(try await ask("POST", "/drop", body).0 == 400)
        }
        #expect(try await ask("POST", "/move", #"{"app":"x"}"#).0 == 400)
        #expect(try await ask("POST", "/move", #"{"app":"x","to":"x"}"#).0 == 400)
        let unknown = try await ask("POST", "/move", #"{"app":"x","to":"y"}"#)
        #expect(unknown.0 == 409 && unknown.1?["kind"]?.string == "unconfigured")
        #expect(
            try await ask("POST", "/drop", #"{"sequences":[2,9]}"#).1 == [
                "count": 1, "under_way": 0, "running": .bool(true),
            ])
        #expect(try await ask("POST", "/drop", #"{"app":"nobody"}"#).1?["count"]?.integer == 0)
        #expect(try await ask("GET", "/check").1?["sound"]?.bool == true)
        try await until { try await rows("") == [1, 3] }
        await stage.close()
    }

    /// Nothing of it was put off: the push service can't be asked.
    @Test func anOutageIsToldBesideTheList() async throws {
        let stage = try LoopbackStage()
        stage.world.apple.close()
        try await stage.start()
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1)).status == .stored)
        await stage.logged("gateway.connection_failed")
        let table = try outbox(["list"], stage)
        #expect(table.errors.contains("onionbell status says which does not"), "\(table)")
        #expect(table.output.split(separator: "\n").count == 2)
        #expect(try outbox(["list", "--json"], stage).errors.isEmpty)
        await stage.node.stop()
        #expect(try outbox(["list"], stage).errors.contains("due: goes when the node starts"))
        await stage.close()
    }

    @Test(arguments: [["--all"], ["1", "2"]])
    func aRunningNodeTriesWhatWasPutOff(which: [String]) async throws {
        let stage = try await stage(2)
        stage.world.apple.faults = FaultScript()
        let retried = try outbox(["retry"] + which, stage)
        #expect(retried.output == "2 made due; the node sends them now\n", "\(retried.errors)")
        try await until { stage.world.apple.book.count >= 2 }
        await stage.close()
    }

    @Test func aRunningNodeDropsSingleOnes() async throws {
        let stage = try await stage(3)
        #expect(try outbox(["drop", "2"], stage).output == "1 dropped\n")
        let again = try outbox(["drop", "2", "3"], stage)
        #expect(again.status == 1 && again.output == "1 dropped\n")
        #expect(again.errors.hasPrefix("onionbell: not found: 1 of 2 numbers."))
        try await until { try list(stage).map { $0["sequence"]?.integer } == [1] }
        await stage.close()
    }

    @Test func retryMakesWhatWasPutOffDueAtTheNextStart() async throws {
        let stage = try await stage(2)
        await stage.node.stop()
        #expect(try outbox(["retry", "--all"], stage).output.hasPrefix("2 made due"))
        #expect(try list(stage).allSatisfy { $0["next_attempt_in_ms"]?.integer == 0 })
        stage.world.apple.faults = FaultScript()
        try await stage.start()
        let peer = try await stage.dial()
        for number in 1...2 {
            var response = try await peer.send(request(number, awaitsOutcome: true))
            if response.status == .stored { response = try await peer.nextResponse(to: response.requestUid) }
            #expect(response.status == .delivered)
        }
        #expect(stage.world.apple.book.count == 2)
        await stage.close()
    }

    @Test func whatIsDroppedIsNeverDeliveredAndItsSenderIsTold() async throws {
        let stage = try await stage(3)
        await stage.node.stop()
        #expect(try outbox(["drop"], stage).status == 64)
        #expect(try outbox(["drop", "--all"], stage).status == 64)
        #expect(try outbox(["drop", "--app", "bisq-remote-ios"], stage).status == 64)
        #expect(try outbox(["drop", "--all", "--yes", "2"], stage).status == 64)
        #expect(try outbox(["drop", "2"], stage).output == "1 dropped\n")
        #expect(try outbox(["drop", "2"], stage).status == 1)
        #expect(try list(stage).map { $0["sequence"]?.integer } == [1, 3])
        #expect(try outbox(["check"], stage).output.hasSuffix("sound\n"))
        try await stage.start()
        let peer = try await stage.dial()
        let response = try await peer.send(request(2))
        #expect(response.status == .refused)
        #expect(response.reason == "Internal")
        await stage.node.stop()
        #expect(try outbox(["drop", "--app", "bisq-remote-ios", "--yes"], stage).output == "2 dropped\n")
        #expect(try list(stage).isEmpty)
        await stage.close()
    }

    /// The names of apps change with a restart; what waits for the old one is moved or given up then.
    @Test func whatWaitsForARenamedAppIsMovedOrGivenUpWhileTheNodeRuns() async throws {
        let stage = try await stage(3)
        await stage.node.stop()
        #expect(try outbox(["retry", "--sandbox"], stage).output.hasPrefix("nothing was put off"))
        #expect(try outbox(["retry", "--host", "production"], stage).output.hasPrefix("3 made due"))
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        try text.replacing("bisq-remote-ios", with: "phones").write(
            toFile: stage.configuration, atomically: true, encoding: .utf8)
        stage.world.apple.faults = FaultScript()
        try await stage.start()
        #expect(try outbox(["check"], stage).output.contains("bisq-remote-ios: 3 (not configured"))
        #expect(try outbox(["move", "--app", "phones", "--to", "bisq-remote-android"], stage).status == 1)
        #expect(try outbox(["move", "--app", "bisq-remote-ios", "--to", "nobody"], stage).status == 78)
        #expect(
            try outbox(["drop", "--app", "bisq-remote-ios", "--sandbox", "--yes"], stage).output
                == "0 dropped\n")
        let moved = try outbox(["move", "--app", "bisq-remote-ios", "--to", "phones"], stage)
        #expect(moved.output == "3 moved\n", "\(moved.errors)")
        try await until { stage.world.apple.book.count >= 3 }
        try await until { try list(stage).isEmpty }
        await stage.close()
    }

    @Test func aRunningNodeGivesUpWhatItIsToldTo() async throws {
        let stage = try await stage(2)
        #expect(
            try outbox(["drop", "--app", "bisq-remote-ios", "--host", "production", "--yes"], stage).output
                == "2 dropped\n")
        try await until { try list(stage).isEmpty }
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1)).reason == "Internal")
        await stage.close()
    }

    @Test func aDamagedFileIsNamedWithWhatToDoAndTheNodeRefusesToStart() async throws {
        let stage = try await stage(3)
        await stage.node.stop()
        let path = stage.world.state + "/outbox.sqlite"
        let file = try FileHandle(forUpdating: URL(filePath: path))
        // Into the pages of the tables, behind the first one.
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0x5a, count: 12_288))
        try file.close()
        let check = try outbox(["check"], stage)
        #expect(check.status == 1 || check.status == 69)
        // Of a copy: to open the file itself may change it.
        #expect((check.output + check.errors).contains("sqlite3 COPY .recover"))
        let facts = try outbox(["check", "--json"], stage)
        #expect(facts.status == check.status)
        if facts.status == 1 { #expect(try JSON(Array(facts.output.utf8))["sound"]?.bool == false) }
        let start = try run([program, "run", "--config", stage.configuration])
        #expect(start.status == 69)
        #expect(start.errors.contains("is damaged"))
        #expect(
            start.errors.contains("copy \(path), \(path)-wal and \(path)-shm together into another folder"))
        await stage.close()
    }

    @Test func aFileThatIsNoOutboxIsRefusedToo() async throws {
        let stage = try LoopbackStage()
        _ = try stage.world.directory.make("state")
        #expect(try outbox(["check"], stage).status == 69)
        try LabDirectory.write(
            Array(String(repeating: "no database ", count: 500).utf8),
            to: stage.world.state + "/outbox.sqlite")
        let check = try outbox(["check"], stage)
        #expect(check.status == 69)
        #expect(check.errors.contains("is damaged"))
        let start = try run([program, "run", "--config", stage.configuration])
        #expect(start.status == 69)
        #expect(start.errors.contains("is damaged"))
        await stage.close()
    }
}
