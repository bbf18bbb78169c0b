import Foundation
import JSONCoding
import Lab
import Processes
import Reactor
import Testing
import Vectors

/// The built program started with a clock that is years off, and set right later.
@EventLoop
@Suite struct SetClockTests {
    private static let years = 6 * 365 * 86_400

    /// Seconds for which Google is to keep a push.
    private func life(of push: AcceptedPush) throws -> Int {
        let text = String(decoding: push.body, as: UTF8.self)
        let rest = try #require(text.range(of: #""ttl":""#)).upperBound
        return try #require(Int(text[rest...].prefix { $0 != "s" }))
    }

    /// Google gives no token for what is signed years off, so nothing goes out before.
    @Test(arguments: [ShiftedClocks.Shift.behind, .ahead], [false, true])
    func whatAWrongClockTookHasItsWholeLife(shift: ShiftedClocks.Shift, restarts: Bool) async throws {
        let stage = try LoopbackStage()
        let clocks = try ShiftedClocks(in: stage.world.directory.path)
        try clocks.set(shift, seconds: Self.years)
        try await stage.start(environment: clocks.environment)
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1, platform: .android)).status == .stored)
        #expect(stage.world.google.book.isEmpty)
        if restarts {
            try stage.signal(SIGKILL)
            await stage.node.wait { $0.exit != nil }
            try clocks.rightAll()
            try await stage.start(environment: clocks.environment)
        } else {
            try clocks.rightAll()
        }
        // Longer than a pause of the token's, and than a housekeeping takes to come.
        stage.world.google.clockOffset = .seconds(120)
        try clocks.set(.held, seconds: 120)
        await stage.logged("node.clock_set")
        try await until { !stage.world.google.book.isEmpty }
        #expect(stage.world.google.book.count == 1)
        let life = try life(of: stage.world.google.book[0])
        #expect(life <= 28 * 86_400 && life > 28 * 86_400 - 3600, "\(life)")
        await stage.close()
    }

    /// A start with a clock that is years off, and one after it was set right: who has entered stays, and nobody for years.
    @Test(arguments: [ShiftedClocks.Shift.behind, .ahead])
    func whoHasEnteredStaysAndNobodyForYears(shift: ShiftedClocks.Shift) async throws {
        let port = try freePort()
        let stage = try LoopbackStage(consoleAt: port)
        let clocks = try ShiftedClocks(in: stage.world.directory.path)
        try await stage.start(environment: clocks.environment)
        let first = ConsoleBrowser(port)
        #expect(try await first.enter("link", stage.linkInFile()) == 204)
        let set = #"{"passphrase":"correct horse"}"#
        #expect(try await first.send("PUT", "/api/v1/passphrase", set).status == 204)
        func isIn(_ browser: ConsoleBrowser) async throws -> Bool {
            try await browser.send("GET", "/api/v1/sessions").status == 200
        }
        func restart() async throws {
            try stage.signal(SIGTERM)
            await stage.node.wait { $0.exit != nil }
            try await stage.start(environment: clocks.environment)
        }
        try clocks.set(shift, seconds: Self.years)
        #expect(try await isIn(first), "set while it runs")
        try await restart()
        #expect(try await isIn(first), "wrong at the start")
        let second = ConsoleBrowser(port)
        #expect(try await second.enter("passphrase", "correct horse") == 204)
        #expect(try await isIn(first))
        #expect(try await isIn(second))
        try clocks.rightAll()
        #expect(try await isIn(first), "set right while it runs")
        #expect(try await isIn(second))
        try await restart()
        let third = ConsoleBrowser(port)
        #expect(try await third.enter("passphrase", "correct horse") == 204)
        // A clock behind that nobody ever confirmed has dated the second one: that browser enters once more.
        for browser in shift == .ahead ? [first, second, third] : [first, third] {
            #expect(try await isIn(browser), "right at the start")
        }
        let text = try String(contentsOfFile: stage.world.state + "/console-owner", encoding: .utf8)
        let now = Int64(Date().timeIntervalSince1970)
        for session in try JSON(Array(text.utf8))["sessions"]?.array ?? [] {
            let life = try #require(session["ends"]?.integer) - now
            #expect((29 * 86_400...31 * 86_400).contains(life), "\(life)")
        }
        await stage.close()
    }

    /// It said that what has come just now had waited for years, and was over.
    @Test(arguments: [ShiftedClocks.Shift.behind, .ahead])
    func theListOfWhatWaitsHasTrueAgesAfterTheClockWasSet(shift: ShiftedClocks.Shift) async throws {
        let stage = try LoopbackStage()
        stage.world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let clocks = try ShiftedClocks(in: stage.world.directory.path)
        try clocks.set(shift, seconds: Self.years)
        try await stage.start(environment: clocks.environment)
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1)).status == .stored)
        try clocks.rightAll()
        let list = try run([program, "outbox", "list", "--json", "--config", stage.configuration]).output
        let row = try #require(try JSON(Array(list.utf8)).array?.first)
        let (age, rest) = (row["age_ms"]?.integer ?? .max, row["expires_in_ms"]?.integer ?? 0)
        #expect(age < 3_600_000, "\(age)")
        #expect(rest > 86_400_000 && rest <= 28 * 86_400_000, "\(rest)")
        await stage.close()
    }
}
