import Figures

/// A page of metrics in Prometheus' text format 0.0.4 ("Exposition formats", prometheus.io/docs/instrumenting).
///
/// Samples of one metric stand together under its `HELP` and `TYPE`. Units are seconds and bytes.
package struct MetricsText {
    package enum Kind: String, Sendable { case counter, gauge, histogram }

    package typealias Labels = [(name: String, value: String)]

    package private(set) var bytes: [UInt8] = []
    private var name = ""

    package init() {}

    /// Begins a metric; its samples follow.
    package mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        append("# HELP \(name) \(MetricsText.escaped(help, quote: false))\n# TYPE \(name) \(kind.rawValue)\n")
    }

    package mutating func add(_ value: Int, _ labels: Labels = []) { line("", labels, "\(value)") }
    package mutating func add(_ value: Bool, _ labels: Labels = []) { line("", labels, value ? "1" : "0") }

    /// Adds a sample in seconds, or a ratio. One that is not finite is `NaN`, `+Inf` or `-Inf`.
    package mutating func add(_ value: Double, _ labels: Labels = []) {
        let text = value.isFinite ? "\(value)" : value.isNaN ? "NaN" : value > 0 ? "+Inf" : "-Inf"
        line("", labels, text)
    }

    /// Adds a histogram with its buckets, in seconds.
    package mutating func add(_ histogram: Histogram, _ labels: Labels = []) {
        var count = 0
        for (bucket, inside) in histogram.counts.enumerated() {
            count += inside
            let bound =
                bucket < Histogram.bounds.count
                ? MetricsText.seconds(Histogram.bounds[bucket]) : "+Inf"
            line("_bucket", labels + [("le", bound)], "\(count)")
        }
        line("_sum", labels, MetricsText.seconds(histogram.sum))
        line("_count", labels, "\(count)")
    }

    private mutating func line(_ suffix: String, _ labels: Labels, _ value: String) {
        append(name + suffix)
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(MetricsText.escaped($0.value, quote: true))\"" }
            append("{" + pairs.joined(separator: ",") + "}")
        }
        append(" \(value)\n")
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private static func escaped(_ text: String, quote: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quote: result += "\\\""
            case _: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    /// Returns the seconds without the rounding of a division: `0.0001`, `2.5`, `60`.
    static func seconds(_ nanoseconds: Int64) -> String {
        let (whole, part) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard part > 0 else { return "\(whole)" }
        var digits = "\(part)"
        digits = String(repeating: "0", count: 9 - digits.utf8.count) + digits
        while digits.last == "0" { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
