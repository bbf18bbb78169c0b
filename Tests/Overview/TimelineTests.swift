import Figures
import Testing

@testable import Overview

@Suite struct TimelineTests {
    private let start: Int64 = 1_795_300_500_000

    private func failing(_ kind: CheckKind) -> Check {
        Check(kind, level: .failing, state: "broken", advice: "mend it")
    }

    @Test func changesAreEventsAndNothingElseIs() {
        var timeline = Timeline()
        for (seconds, check) in [
            (0, Check.ok(.disk, "")), (10, .ok(.disk, "")), (20, failing(.disk)), (30, failing(.disk)),
            (70, .ok(.disk, "")),
        ] {
            timeline.note([check], at: start + Int64(seconds) * 1000)
        }
        #expect(timeline.events.map(\.words) == ["the node started", "broken", "well again after 50 s"])
        #expect(timeline.since(.disk) == start + 70_000)
        #expect(timeline.strip(at: start + 70_000).last?.level == .failing)
        #expect(timeline.strip(at: start + 70_000).count { $0.level != nil } == 1)
        // A day later nothing is left of it, but the event.
        timeline.note([.ok(.disk, "")], at: start + 86_400_000 + 900_000)
        #expect(timeline.strip(at: start + 86_400_000 + 900_000).count { $0.level == .failing } == 0)
        #expect(timeline.events.count == 3)
    }

    /// The first moments of a start, and the last one of them.
    @Test(arguments: [(119_999, false), (120_000, true)] as [(Int64, Bool)])
    func aStartIsNoOutage(passed: Int64, isTold: Bool) {
        var timeline = Timeline()
        timeline.note([failing(.onion)], at: start)
        timeline.note([failing(.onion)], at: start + passed)
        #expect(timeline.events.contains { $0.kind == .onion } == isTold)
    }

    /// From the first change for the worse, whatever came between.
    @Test func anOutageIsToldWithItsLength() {
        var timeline = Timeline()
        let levels: [(Int64, Check.Level)] = [
            (0, .ok), (60, .failing), (90, .ok), (200, .warning), (260, .failing), (500, .warning),
            (560, .ok),
        ]
        for (seconds, level) in levels {
            let trouble = Check.Trouble.allCases.first { $0.level == level }
            let check = trouble.map { Check(.disk, level: $0, state: "low", advice: "mend it") }
            timeline.note([check ?? .ok(.disk, "low")], at: start + seconds * 1000)
        }
        #expect(
            timeline.events.filter { $0.level == .ok }.map(\.words) == [
                "the node started", "well again after 30 s", "well again after 6 min",
            ])
    }

    @Test func eventsAreBounded() {
        var timeline = Timeline()
        for second in 0..<1000 as Range<Int64> {
            timeline.note([second % 2 == 0 ? failing(.disk) : .ok(.disk, "")], at: start + second * 1000)
        }
        #expect(timeline.events.count == Timeline.mostEvents)
    }

    @Test func aRestartCarriesAllOfIt() {
        let history = Sample.history
        let timeline = Sample.good.timeline
        let text = PastText.text(history, timeline, at: Sample.now)
        #expect(text.count < PastText.limit / 4)
        // Three minutes later, on another monotonic clock.
        let (read, events) = PastText.read(text, at: Sample.now + 180_000, minute: 17)
        #expect(read.sum(ofLast: 63) == history.sum(ofLast: 60))
        #expect(read.mostWaiting(of: 1, count: 63).prefix(60) == history.mostWaiting(of: 1, count: 60)[...])
        #expect(read.covered == 1440)
        #expect(events.events == timeline.events)
        #expect(events.worst == timeline.worst)
        // It goes on.
        var next = read
        var totals = History.Totals()
        totals.delivered = 5
        next.read(totals, at: 17)
        #expect(next.sum(ofLast: 1).delivered == 5)
    }

    /// A file that was cut, or is another's, does no harm.
    @Test func whateverIsInTheFileIsBounded() {
        let text = PastText.text(Sample.history, Sample.good.timeline, at: Sample.now)
        for end in stride(from: 0, to: text.count, by: 997) {
            let (read, events) = PastText.read(Array(text[..<end]), at: Sample.now, minute: 0)
            #expect(read.covered <= 1440 && events.events.count <= Timeline.mostEvents)
        }
        for words in [
            "", "m 1 2 3", "onionbell history 1\nm x y z\n", "onionbell history 1\nm 29921666 -1 1 1 1 1 1\n",
            "onionbell history 1\ne 1 failing\ncovered 99999999999 5\nm 99999999999999 1 1 1 1 1 1\n",
            "onionbell history 1\nm \(Sample.now / 60_000) 99999999999999999 1 1 1 1 1\n",
        ] {
            let (read, events) = PastText.read(Array(words.utf8), at: Sample.now, minute: 0)
            #expect(read.sum(ofLast: 1440) == History.Totals() && events.events.isEmpty)
        }
    }
}
