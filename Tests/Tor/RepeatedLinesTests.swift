import Testing

@testable import Tor

/// What tor says again and again is told once, then counted.
@Suite struct RepeatedLinesTests {
    @Test func aLineThatRepeatsIsToldOnceAnHour() {
        var lines = RepeatedLines()
        var told: [Int?] = []
        for second in 0..<7202 as Range<Int64> {
            if let count = lines.pass("Proxy Client: unable to connect, attempt \(second)", at: second) {
                told.append(count)
            }
        }
        #expect(told == [0, 3599, 3599])
        #expect(lines.pass("Another line", at: 7300) == 0)
    }

    @Test func othersAreNotHeldBackAndFewAreRemembered() {
        var lines = RepeatedLines()
        let words = (0..<500).map { String(repeating: "a", count: 1 + $0 % 250) + ($0 < 250 ? "" : "b") }
        for word in words { #expect(lines.pass(word, at: 1) == 0) }
        // The oldest was forgotten, the newest is known.
        #expect(lines.pass(words[0], at: 2) == 0)
        #expect(lines.pass(words[499], at: 2) == nil)
    }
}
