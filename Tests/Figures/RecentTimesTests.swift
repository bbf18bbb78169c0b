import Figures
import Testing

@Suite struct RecentTimesTests {
    private let second: Int64 = 1_000_000_000

    @Test func theLastHalfMinuteIsRemembered() throws {
        var recent = RecentTimes()
        #expect(recent.figures(at: second) == nil)
        for _ in 0..<9 { recent.add(900_000, at: 3000 * second) }
        recent.add(70_000_000, at: 3029 * second)
        for moment in [3029, 3059] as [Int64] {
            let figures = try #require(recent.figures(at: moment * second))
            #expect((500_000...1_000_000).contains(figures.median) && figures.longest == 70_000_000)
        }
        recent.add(1_000_000, at: 3031 * second)
        #expect(recent.figures(at: 3061 * second)?.longest == 1_000_000)
        #expect(recent.figures(at: 3090 * second) == nil)
    }
}
