import Foundation
import Testing

/// The section of `Speed.md` about the number of users says what its own figures give.
@Suite struct DayOfArrivalsTests {
    private struct Row {
        let tors: Int
        /// Milliseconds.
        let cost: Double
        let perSecond: Double
        let users: Int
        /// Seconds.
        let longestWait: Double
    }

    private static func number(_ cell: some StringProtocol) throws -> Double {
        let digits = String(cell).filter { $0 != "," }.split(separator: " ").first
        return try #require(digits.flatMap { Double(String($0)) }, "\(cell)")
    }

    private static func page() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        return try String(contentsOf: root.appending(path: "Speed.md"), encoding: .utf8)
    }

    private static func rows() throws -> [Row] {
        let page = try page()
        let start = try #require(page.range(of: "**What follows**")).upperBound
        let lines = page[start...].split(separator: "\n").drop { !$0.hasPrefix("| ---") }.dropFirst()
        return try lines.prefix { $0.hasPrefix("|") }.map { line in
            let cells = try line.split(separator: "|").dropFirst().map { try number($0) }
            try #require(cells.count == 5, "\(line)")
            return Row(
                tors: Int(cells[0]), cost: cells[1], perSecond: cells[2], users: Int(cells[3]),
                longestWait: cells[4])
        }
    }

    /// Half of a core for tor, three times the mean in the busiest hour, ten a day.
    @Test func itsTableFollowsFromItsFigures() throws {
        let rows = try Self.rows()
        #expect(rows.count == 4)
        for row in rows {
            let perSecond = 500 / row.cost * Double(row.tors)
            #expect(abs(row.perSecond / perSecond - 1) < 0.02, "\(row)")
            let busiest = try #require(DayOfArrivals.hours.max())
            let users = perSecond * 86_400 / Double(DayOfArrivals.perUser) / busiest
            #expect(abs(Double(row.users) / users - 1) < 0.03, "\(row)")
        }
        // A fifth of the core that was measured, which takes tor between two and four milliseconds.
        #expect(rows[0].cost == 5 * rows[1].cost)
        #expect(try Self.page().contains("Each takes 3 ms of tor's time."))
    }

    @Test func itsWaitsAreThoseOfASimulatedDay() throws {
        for row in try Self.rows() {
            let day = DayOfArrivals(users: row.users, tors: row.tors, cost: Int(row.cost * 1000)).run()
            #expect(abs(day.longestWait - row.longestWait) <= 0.6, "\(row)")
            #expect(abs(day.busiestHour / row.perSecond - 1) < 0.06, "\(row)")
            #expect((0.015..<0.025).contains(day.waitOverASecond), "\(row)")
        }
    }

    @Test func aDayHasItsMeanAndTheSameSeedTheSameDay() {
        #expect(abs(DayOfArrivals.hours.reduce(0, +) - 24) < 1e-9)
        let day = DayOfArrivals(users: 1_000_000, tors: 3, cost: 3000)
        let figures = day.run()
        let usual = Double(1_000_000 * DayOfArrivals.perUser)
        let bursts = Double(DayOfArrivals.bursts.count) * DayOfArrivals.burst
        #expect(abs(Double(figures.arrived) / usual - 1 - bursts) < 0.02)
        #expect(day.run().arrived == figures.arrived)
        #expect(day.run(seed: 2).arrived != figures.arrived)
    }

    /// What one tor can't take waits; two take it.
    @Test func moreTorsMakeWaitsShorter() {
        let one = DayOfArrivals(users: 960_000, tors: 1, cost: 3000).run()
        let two = DayOfArrivals(users: 960_000, tors: 2, cost: 3000).run()
        #expect(one.longestWait > 3 * two.longestWait)
    }
}
