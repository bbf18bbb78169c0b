import Testing

@testable import Tor

@Suite struct ClockViewTests {
    @Test(arguments: [
        ("1970-01-01 00:00:00", 0), ("2000-02-29 12:34:56", 951_827_696),
        ("2026-11-21 22:00:00", 1_795_298_400), ("2100-03-01 00:00:00", 4_107_542_400),
    ])
    func torsTimesAreSecondsSince1970(text: String, seconds: Int64) {
        #expect(ClockView.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-13-01 00:00:00", "2026-11-00 00:00:00", "9223372036854775807-11-21 22:00:00",
        "2026-11-21 22:00:9223372036854775807", "-026-11-21 22:00:00", "2026-11-21 24:00:00",
        "1969-12-31 23:59:59",
        "２026-11-21 22:00", "2026-11-21T22:00:00",
    ])
    func whatIsNoTimeIsNone(text: String) { #expect(ClockView.seconds(text) == nil) }

    @Test func theLargestObjectionCounts() {
        var view = ClockView()
        for skew in [40, -3600, 20] { view.note(skew: skew) }
        #expect(view.skew == -3600)
        view.note(skew: .min)
        view.note(skew: .max)
        #expect(view.skew == .min)
    }
}
