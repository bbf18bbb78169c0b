import Logging
import Testing

@testable import Node

@Suite struct LogFormatTests {
    private let facts = [("app", "one two"), ("count", "3")]

    @Test func aLineHasItsTimeAndItsFacts() {
        #expect(
            LogFormat(.text, isForJournal: false).line(.error, "gateway.blocked", facts, at: 0)
                == "1970-01-01T00:00:00Z error gateway.blocked app=\"one two\" count=3\n")
        #expect(
            LogFormat(.json, isForJournal: false).line(.info, "x", [], at: 1)
                == #"{"time":"1970-01-01T00:00:01Z","level":"info","event":"x"}"# + "\n")
    }

    /// sd-daemon(3): the numbers are syslog's.
    @Test(
        arguments: [
            (Logger.Level.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3),
            (.critical, 2),
        ])
    func theJournalGetsThePriority(level: Logger.Level, priority: Int) {
        #expect(
            LogFormat(.text, isForJournal: true).line(level, "x", facts, at: 0)
                == "<\(priority)>\(level.rawValue) x app=\"one two\" count=3\n")
        #expect(
            LogFormat(.json, isForJournal: true).line(level, "x", [], at: 0).utf8.starts(
                with: "<\(priority)>{\"time\":".utf8))
    }

    @Test func anotherStreamThanTheJournalsHasNoPriority() {
        #expect(!LogFormat.standardError(.text, environment: [:]).isForJournal)
        #expect(!LogFormat.standardError(.text, environment: ["JOURNAL_STREAM": "1:2"]).isForJournal)
    }
}
