import Encodings

/// The time as a tor knows it: this machine's clock against the network's.
package struct ClockView: Equatable, Sendable {
    /// Seconds by which this machine is ahead (negative: behind) of a relay; `nil`: none has objected.
    package private(set) var skew: Int?
    /// The beginning of the network's present consensus, seconds since 1970.
    package private(set) var validFrom: Int64?
    /// The end of the network's present consensus, seconds since 1970.
    package private(set) var validUntil: Int64?

    static let keys = ["consensus/valid-after", "consensus/valid-until"]

    package init() {}

    /// Keeps the largest of what several relays say.
    mutating func note(skew seconds: Int) {
        if seconds.magnitude > (skew ?? 0).magnitude { skew = seconds }
    }

    /// Takes tor's answer to ``keys``.
    mutating func note(consensusIn reply: ControlReply) {
        validFrom = reply[Self.keys[0]].flatMap(Self.seconds)
        validUntil = reply[Self.keys[1]].flatMap(Self.seconds)
    }

    /// Reads `2026-11-21 22:00:00` (UTC, the years 1970 to 9999) as seconds since 1970.
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
        return CivilTime.seconds(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
            second: numbers[5])
    }
}
