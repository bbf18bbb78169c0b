import HTTP1
import Testing

@Suite struct HTTPTextTests {
    @Test func parametersAreFoundInAnyOrderAndAPlusStaysAPlus() throws {
        let query = try HTTPQuery("b=%41%c3%a9&a=1+2&&c&a=3&=x&d==")
        #expect(query["a"] == "1+2")
        #expect(query["b"] == "Aé")
        #expect(query["c"] == "")
        #expect(query["d"] == "=")
        #expect(query["e"] == nil)
    }

    @Test(arguments: ["a=%", "a=%4", "a=%4g", "%=1", "a=%ff", "a=%+1", "a=%C3"])
    func encodingThatIsNoneIsRefused(text: String) {
        #expect(throws: HTTPFault.badPercentEncoding) { try HTTPQuery(text) }
    }

    @Test func textIsPercentEncodedAndBack() throws {
        let text = "aZ09-._~ :/?#[]@!$&'()*+,;=%\u{0}é"
        #expect("a b+é".percentEncoded == "a%20b%2B%C3%A9")
        #expect(try String(percentEncoded: text.percentEncoded) == text)
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Saturday, 21-Nov-26 08:00:00 GMT", 1_795_248_000),
    ])
    func eachFormOfADateIsRead(text: String, seconds: Int64) {
        #expect(HTTPDate.seconds(text, now: 1_790_000_000) == seconds)
    }

    @Test(arguments: [
        "", "x", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 06 Nov 99994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
    ])
    func whatIsNoDateIsRefused(text: String) {
        #expect(HTTPDate.seconds(text, now: 1_790_000_000) == nil)
    }

    @Test func aServersWishIsReadInBothForms() {
        let now: Int64 = 784_111_777
        #expect(RetryAfter.duration("120", now: now) == .seconds(120))
        #expect(RetryAfter.duration("0", now: now) == .zero)
        #expect(RetryAfter.duration("Sun, 06 Nov 1994 08:50:37 GMT", now: now) == .seconds(60))
        #expect(RetryAfter.duration("Sun, 06 Nov 1994 08:40:37 GMT", now: now) == .zero)
        #expect(RetryAfter.duration("86401", now: now) == .seconds(86_400))
        #expect(RetryAfter.duration("99999999999999999999", now: now) == .seconds(86_400))
        #expect(RetryAfter.duration("soon", now: now) == nil)
        #expect(RetryAfter.duration("-1", now: now) == nil)
        #expect(RetryAfter.duration("", now: now) == nil)
    }

    /// A span of time is meant: our clock may be a day ahead, and theirs a day behind.
    @Test(arguments: [-86_400, 0, 86_400, 40_000_000] as [Int64])
    func aDateIsJudgedByTheDateOfItsAnswer(clockError: Int64) {
        let now: Int64 = 784_111_777 + clockError
        let (date, end) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT")
        #expect(RetryAfter.duration(end, date: date, now: now) == .seconds(60))
        #expect(RetryAfter.duration(date, date: end, now: now) == .zero)
        #expect(RetryAfter.duration("120", date: date, now: now) == .seconds(120))
        #expect(RetryAfter.duration(end, date: "yesterday", now: 784_111_777) == .seconds(60))
    }
}
