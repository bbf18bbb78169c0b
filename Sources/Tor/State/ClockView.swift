/// What a tor knows of the time: this machine's clock against the network's.
package struct ClockView: Equatable, Sendable {
    /// Seconds by which this machine is ahead (negative: behind) of a relay; `nil`: none has objected.
    package private(set) var skew: Int?
    /// Of the network's present consensus, seconds since 1970.
    package private(set) var validFrom: Int64?
    package private(set) var validUntil: Int64?

    static let keys = ["consensus/valid-after", "consensus/valid-until"]

    package init() {}

    /// The largest of what several relays say.
    mutating func note(skew seconds: Int) {
        if seconds.magnitude > (skew ?? 0).magnitude { skew = seconds }
    }

    /// What tor answers to ``keys``.
    mutating func note(consensusIn reply: ControlReply) {
        validFrom = reply[Self.keys[0]].flatMap(Self.seconds)
        validUntil = reply[Self.keys[1]].flatMap(Self.seconds)
    }

    /// `2026-11-21 22:00:00` (UTC, the years 1970 to 9999) as seconds since 1970.
    static func seconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 19 else { return nil }
        var numbers: [Int64] = []
        for (range, end) in zip([0..<4, 5..<7, 8..<10, 11..<13, 14..<16, 17..<19], "-- :: ".utf8) {
            var number: Int64 = 0
            for byte in bytes[range] {
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
                number = 10 * number + Int64(byte - UInt8(ascii: "0"))
            }
            guard range.upperBound == bytes.count || bytes[range.upperBound] == end else { return nil }
            numbers.append(number)
        }
        guard numbers[0] >= 1970, (1...12).contains(numbers[1]), (1...31).contains(numbers[2]),
            numbers[3] < 24, numbers[4] < 60, numbers[5] <= 60
        else { return nil }
        // Days since 0000-03-01, with the leap day at a year's end.
        let year = numbers[0] - (numbers[1] <= 2 ? 1 : 0)
        let month = (numbers[1] + 9) % 12
        let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + numbers[2] - 1
        return (days - 719_468) * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
    }
}
