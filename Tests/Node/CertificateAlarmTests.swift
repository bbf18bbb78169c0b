import Overview
import Testing

@testable import Node

@Suite struct CertificateAlarmTests {
    private static let day: Int64 = 86_400
    private static let end: Int64 = 1_800_000_000

    @Test func theFirstWarningComesThirtyDaysBeforeTheEndAndThenOneADay() {
        var alarm = CertificateAlarm()
        let thirty = Self.end - 30 * Self.day
        let isDue = [thirty, thirty + 1, thirty + 3600, thirty + Self.day, thirty + Self.day + 1].map {
            alarm.takeWarning(end: Self.end, now: $0)
        }
        #expect(isDue == [false, true, false, false, true])
    }

    @Test func aNewCertificateEndsTheWarnings() {
        var alarm = CertificateAlarm()
        let next = Self.end + 365 * Self.day
        let isDue = [(Self.end, Self.end), (next, Self.end + 1), (next, next - Self.day)].map {
            alarm.takeWarning(end: $0, now: $1)
        }
        #expect(isDue == [true, false, true])
    }

    @Test func aClockThatWasSetBackKeepsNoWarningAway() {
        var alarm = CertificateAlarm()
        let isDue = [Self.end, Self.end - 5 * Self.day].map { alarm.takeWarning(end: Self.end, now: $0) }
        #expect(isDue == [true, true])
    }

    @Test(arguments: [(7 * day, true), (7 * day - 1, false), (0, false), (-day, false)])
    func healthFailsInTheLastSevenDays(left: Int64, isWell: Bool) {
        #expect(CertificateAlarm.isWell(end: Self.end, now: Self.end - left) == isWell)
    }

    /// A good certificate beside files that were refused, and one with which nobody has shaken hands for long.
    @Test func refusedFilesAndAnOldHandshakeAreNotWell() {
        func level(_ app: String, _ left: Int64, fault: String? = nil, shown: Duration = .zero) -> Check.Level
        {
            CertificateAlarm.check(
                of: app, end: Self.end, now: Self.end - left, fault: fault, shown: ProofAge(shown)
            ).level
        }
        let month = 31 * Self.day
        #expect(level("https", month) == .ok && level("a", month) == .ok)
        #expect(level("https", month, fault: "x") == .warning && level("a", month, fault: "x") == .warning)
        #expect(level("https", month, shown: .seconds(7201)) == .warning)
        #expect(level("https", month, shown: .seconds(14_401)) == .failing)
        // An app's certificate is shown to its push service, which says of it what it thinks.
        #expect(level("a", month, shown: .seconds(14_401)) == .ok)
        #expect(level("https", 29 * Self.day) == .warning && level("https", 6 * Self.day) == .failing)
    }

    @Test(arguments: [
        (3 * day, "the certificate expires in 3 days"), (day + 1, "the certificate expires in one day"),
        (1, "the certificate expires in 0 days"), (0, "the certificate has expired on 2027-01-15"),
    ])
    func theStateSaysHowLongItLasts(left: Int64, words: String) {
        #expect(CertificateAlarm.state(end: Self.end, now: Self.end - left) == words)
    }
}
