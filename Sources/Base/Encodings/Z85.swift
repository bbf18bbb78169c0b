/// ZeroMQ's Z85 extended to any number of bytes, as toot-relay and the apps behind it use it: four bytes are five
/// digits, and a rest of one to three bytes is one digit more than it has bytes; no padding, no marker
/// (DagAgren/toot-relay, `toot-relay.go`; Toot!, `Decode85.swift`). No digit needs an escape in JSON.
package enum Z85 {
    private static let digits = Array(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)

    /// Returns the number of digits that `count` bytes become.
    package static func length(of count: Int) -> Int {
        count / 4 * 5 + (count.isMultiple(of: 4) ? 0 : count % 4 + 1)
    }

    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        let digits = digits.span
        let groups = bytes.count / 4
        text.append(addingCapacity: length(of: bytes.count)) { output in
            for group in 0..<groups {
                let index = 4 * group
                let value =
                    UInt32(bytes[index]) << 24 | UInt32(bytes[index + 1]) << 16
                    | UInt32(bytes[index + 2]) << 8 | UInt32(bytes[index + 3])
                // Two digits at a time: fewer divisions that wait for each other.
                let (high, low) = (value / 7225, value % 7225)
                let middle = high % 7225
                output.append(digits[Int(high / 7225)])
                output.append(digits[Int(middle / 85)])
                output.append(digits[Int(middle % 85)])
                output.append(digits[Int(low / 85)])
                output.append(digits[Int(low % 85)])
            }
        }
        let index = 4 * groups
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
