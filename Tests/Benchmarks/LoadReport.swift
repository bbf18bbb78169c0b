import Foundation
import Histogram

/// What a load saw of the node.
struct LoadReport: Codable {
    var sent = 0
    /// Receipts that say `stored`, or answers with status 200.
    var stored = 0
    var delivered = 0
    /// Anything else.
    var failed = 0
    /// From the first request to the last answer.
    var seconds = 0.0
    /// From a frame's writing to its receipt.
    var receipt: Latency?
    /// From a frame's writing to the outcome, for those that asked for it.
    var outcome: Latency?

    func print() throws {
        tell(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
    }
}

/// Writes a line for `measure` to read, at once: `print` would keep it until there is more.
func tell(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

/// Quantiles in milliseconds.
struct Latency: Codable {
    var count: UInt64
    var median: Double
    var p99: Double
    var p999: Double
    var longest: Double
}

/// Counts times of microseconds to a minute, to three digits.
struct LatencyCounter {
    private var histogram = Histogram<UInt32>(
        lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000, numberOfSignificantValueDigits: .three)

    mutating func record(nanoseconds: Int64) {
        // What takes longer than a minute counts as a minute.
        histogram.record(UInt64(min(max(nanoseconds / 1000, 1), 60_000_000)))
    }

    var latency: Latency? {
        guard histogram.totalCount > 0 else { return nil }
        func milliseconds(_ percentile: Double) -> Double {
            Double(histogram.valueAtPercentile(percentile)) / 1000
        }
        return Latency(
            count: histogram.totalCount, median: milliseconds(50), p99: milliseconds(99),
            p999: milliseconds(99.9), longest: Double(histogram.max) / 1000)
    }
}
