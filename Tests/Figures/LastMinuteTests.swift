import Figures
import Testing

@Suite struct LastMinuteTests {
    private let second: Int64 = 1_000_000_000

    @Test func aMinuteIsRemembered() {
        var recent = LastMinute()
        recent.add(7, at: 1000 * second)
        recent.add(3, at: 1005 * second)
        #expect(recent.maximum(at: 1059 * second) == 7)
        #expect(recent.sum(at: 1059 * second) == 10)
        #expect(recent.maximum(at: 1069 * second) == 7)
        #expect(recent.maximum(at: 1080 * second) == 0)
    }

    @Test func afterALongPauseNothingIsLeft() {
        var recent = LastMinute()
        recent.add(7, at: second)
        recent.add(5, at: 100_000 * second)
        #expect(recent.maximum(at: 100_000 * second) == 5)
    }
}
