import Encodings
import Foundation
import Testing

@Suite struct CivilTimeTests {
    @Test func everyDayIsFoundAndComesBack() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for day in stride(from: Int64(0), to: 90_000, by: 13) {
            let (year, month, date) = CivilTime.date(daysSince1970: day)
            let parts = calendar.dateComponents(
                [.year, .month, .day], from: Date(timeIntervalSince1970: Double(day) * 86_400))
            #expect(parts.year == Int(year) && parts.month == Int(month) && parts.day == Int(date))
            #expect(CivilTime.seconds(year: year, month: month, day: date) == day * 86_400)
        }
        #expect(
            CivilTime.seconds(year: 2000, month: 2, day: 29, hour: 23, minute: 59, second: 60) == 951_868_800)
    }

    /// Numbers come from outside: none of them may overflow.
    @Test(
        arguments: [
            (Int64.max, 1, 1, 0), (1969, 1, 1, 0), (2000, 1, 1, 24), (2000, 0, 1, 0), (2000, 13, 1, 0),
            (2000, 1, 0, 0),
            (2000, 1, 32, 0),
            (2000, 1, 1, .max), (2000, .min, 1, 0),
        ] as [(Int64, Int64, Int64, Int64)])
    func whatIsNoDateIsNone(year: Int64, month: Int64, day: Int64, hour: Int64) {
        #expect(CivilTime.seconds(year: year, month: month, day: day, hour: hour) == nil)
    }
}
