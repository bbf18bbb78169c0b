import Clocks
import Figures
import Testing
import Vectors

@Suite struct LastMinuteTests {

    @Test func aMinuteIsRemembered() {
        var recent = LastMinute()
        recent.add(7, at: .second(1000))
        recent.add(3, at: .second(1005))
        #expect(recent.maximum(at: .second(1059)) == 7)
        #expect(recent.sum(at: .second(1059)) == 10)
        #expect(recent.maximum(at: .second(1069)) == 7)
        #expect(recent.maximum(at: .second(1080)) == 0)
    }

    @Test func afterALongPauseNothingIsLeft() {
        var recent = LastMinute()
        recent.add(7, at: .second(1))
        recent.add(5, at: .second(100_000))
        #expect(recent.maximum(at: .second(100_000)) == 5)
    }
}
