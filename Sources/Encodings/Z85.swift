/// ZeroMQ's Z85 extended to any number of bytes, as toot-relay and the apps behind it use it: four bytes are five
/// digits, and a rest of one to three bytes is one digit more than it has bytes; no padding, no marker
/// (DagAgren/toot-relay, `toot-relay.go`; Toot!, `Decode85.swift`). No digit needs an escape in JSON.
package enum Z85 {
    private static let digits = Array(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)

    /// Digits that so many bytes become.
    package static func length(of count: Int) -> Int {
        count / 4 * 5 + (count.isMultiple(of: 4) ? 0 : count % 4 + 1)
    }

    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        text.reserveCapacity(text.count + length(of: bytes.count))
        var index = 0
        while index + 4 <= bytes.count {
            var value =
                UInt32(bytes[index]) << 24 | UInt32(bytes[index + 1]) << 16 | UInt32(bytes[index + 2]) << 8
                | UInt32(bytes[index + 3])
            let fifth = value % 85
            value /= 85
            let fourth = value % 85
            value /= 85
            let third = value % 85
            value /= 85
            text.append(digits[Int(value / 85)])
            text.append(digits[Int(value % 85)])
            text.append(digits[Int(third)])
            text.append(digits[Int(fourth)])
            text.append(digits[Int(fifth)])
            index += 4
        }
        guard index < bytes.count else { return }
        var value = bytes[index...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        var rest: [UInt8] = []
        for _ in index...bytes.count {
            rest.append(digits[Int(value % 85)])
            value /= 85
        }
        text.append(contentsOf: rest.reversed())
    }
}
