import Foundation
import Testing

@testable import onionbell_bench

/// How the benchmark judges what it has measured.
@Suite struct BenchmarkTests {
    private let goals: Goals

    init() throws { goals = try Goals(["a time": [100, 200], "its ratio": [2], "memory": [100]]) }

    private func round(_ unit: String, _ values: [String: Double]) -> Results {
        var results = Results(isQuick: true)
        for (name, value) in values { results.add(name, unit, value) }
        return results
    }

    private func verdicts(of results: Results) -> [String: Goals.Verdict] {
        results.figures.reduce(into: [:]) { $0[$1.name] = goals.verdict(of: $1) }
    }

    @Test(arguments: [(100, Goals.Verdict.met), (101, .least), (200, .least), (201, .notMet)])
    func aFigureIsJudgedByItsGoal(value: Double, verdict: Goals.Verdict) {
        var results = Results(isQuick: true)
        results.take(round("ms", ["a time": value]), isStarved: false)
        #expect(verdicts(of: results) == ["a time": verdict])
        results = Results(isQuick: true)
        results.take(round("ms", ["a time": value]), isStarved: true)
        #expect(verdicts(of: results) == ["a time": .starved])
    }

    @Test func onlyTimesStarve() {
        var results = Results(isQuick: true)
        results.take(round("KiB", ["memory": 100]), isStarved: true)
        results.take(round("ms", ["a time": 50]), isStarved: true)
        #expect(verdicts(of: results) == ["memory": .met, "a time": .starved])
        #expect(
            results.verdicts(goals, isWhole: false)
                == "Goals: 1 met, 0 at least, 0 not met, 1 starved, 1 not measured")
        #expect(results.table(goals, comparedWith: nil).contains(/a time .* starved/))
    }

    @Test func aQuietRoundTakesThePlaceOfThoseThatStarved() {
        var results = Results(isQuick: true)
        for (value, isStarved) in [(900.0, true), (800, true), (150, false), (700, true), (160, false)] {
            results.take(round("ms", ["a time": value]), isStarved: isStarved)
        }
        #expect(results.figures.map(\.values) == [[150, 160]])
        #expect(verdicts(of: results) == ["a time": .least])
    }

    @Test func aRatioStarvesWithEitherPart() {
        for starved in [nil, "above", "below"] {
            var results = Results(isQuick: true)
            for name in ["above", "below"] {
                results.take(round("ms", [name: 10]), isStarved: name == starved)
            }
            results.addRatio("its ratio", of: "above", to: "below")
            #expect(verdicts(of: results) == ["its ratio": starved == nil ? .met : .starved])
        }
    }

    @Test func aLimitIsKeptByTheLeast() {
        var results = Results(isQuick: true)
        results.take(round("ms", ["a time": 11]), isStarved: true)
        #expect(results.faults(over: ["a time": 11]) == [])
        #expect(
            results.faults(over: ["a time": 10, "another": 1]) == [
                "a time: 11.0 ms; the limit is 10.0, but other work had the cores: run it again",
                "another: not measured",
            ])
    }

    @Test func resultsFromBeforeCanBeCompared() throws {
        let figures = #"[{"name": "a time", "unit": "ms", "values": [50]}]"#
        let text = #"{"date": "", "machine": "", "isQuick": true, "figures": \#(figures)}"#
        let earlier = try JSONDecoder().decode(Results.self, from: Data(text.utf8))
        #expect(verdicts(of: earlier) == ["a time": .met])
    }

    /// Of three cores the first two are the benchmark's.
    @Test func otherWorkIsWhatTheBenchmarkHasNotDone() {
        let text = """
            cpu  1100 220 330 4400 550 66 77 88 0 0
            cpu0 100 20 30 400 50 6 7 8 9 9
            cpu1 200 40 60 800 50 12 14 16 9 9
            cpu2 800 160 240 3200 450 48 56 64 9 9
            intr 1 2 3 4 5 6 7 8 9
            """
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        #expect(CoreTime.idleSeconds(in: text) == 450 / ticks + 850 / ticks)
        let before = CoreTime(idle: 50, own: 10, at: 1000)
        #expect(CoreTime(idle: 54, own: 25, at: 1010).others(since: before) == 0.05)
        #expect(CoreTime(idle: 60, own: 20.2, at: 1010).others(since: before) == 0)
    }
}
