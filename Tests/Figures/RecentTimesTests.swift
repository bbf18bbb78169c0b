import Clocks
import Figures
import Testing
import Vectors

@Suite struct RecentTimesTests {

    @Test func theLastHalfMinuteIsRemembered() throws {
        var recent = RecentTimes()
        #expect(recent.figures(at: .second(1)) == nil)
        for _ in 0..<9 { recent.add(900_000, at: .second(3000)) }
        recent.add(70_000_000, at: .second(3029))
        for moment in [3029, 3059] as [Int64] {
            let figures = try #require(recent.figures(at: .second(moment)))
            #expect((500_000...1_000_000).contains(figures.median) && figures.longest == 70_000_000)
        }
        recent.add(1_000_000, at: .second(3031))
        #expect(recent.figures(at: .second(3061))?.longest == 1_000_000)
        #expect(recent.figures(at: .second(3090)) == nil)
    }
}
