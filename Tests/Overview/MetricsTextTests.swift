import Figures
import Testing

@testable import Overview

@Suite struct MetricsTextTests {
    private func text(_ write: (inout MetricsText) -> Void) -> String {
        var page = MetricsText()
        write(&page)
        return String(decoding: page.bytes, as: UTF8.self)
    }

    @Test func aMetricHasItsHelpItsTypeAndItsSamples() {
        let text = text { page in
            page.begin("onionbell_stored_total", .counter, "Stored.")
            page.add(7, [("door", "peer")])
            page.add(2)
            page.add(true, [("a", "b"), ("c", "d")])
            page.add(0.25)
            page.add(.infinity)
        }
        #expect(
            text == """
                # HELP onionbell_stored_total Stored.
                # TYPE onionbell_stored_total counter
                onionbell_stored_total{door="peer"} 7
                onionbell_stored_total 2
                onionbell_stored_total{a="b",c="d"} 1
                onionbell_stored_total 0.25
                onionbell_stored_total +Inf

                """)
    }

    /// Whatever a label holds, it can't end its line or its quotes.
    @Test func labelsAndHelpAreEscaped() {
        let text = text { page in
            page.begin("m", .gauge, "a \\ and\na \"line\"")
            page.add(1, [("l", "\\ \" \n")])
        }
        #expect(
            text == "# HELP m a \\\\ and\\na \"line\"\n# TYPE m gauge\nm{l=\"\\\\ \\\" \\n\"} 1\n")
    }

    @Test func aHistogramCountsUpToItsBounds() {
        var histogram = Histogram()
        histogram.add(100_000)
        histogram.add(2_000_000_000)
        histogram.add(.max / 2)
        let lines = text { page in
            page.begin("h", .histogram, "H.")
            page.add(histogram, [("leg", "x")])
        }.split(separator: "\n").map(String.init)
        #expect(lines.count == 2 + Histogram.bounds.count + 1 + 2)
        #expect(lines[2] == "h_bucket{leg=\"x\",le=\"0.0001\"} 1")
        #expect(lines.contains("h_bucket{leg=\"x\",le=\"1\"} 1"))
        #expect(lines.contains("h_bucket{leg=\"x\",le=\"2.5\"} 2"))
        #expect(lines.contains("h_bucket{leg=\"x\",le=\"7200\"} 2"))
        #expect(lines.contains("h_bucket{leg=\"x\",le=\"+Inf\"} 3"))
        #expect(lines.last == "h_count{leg=\"x\"} 3")
    }

    @Test(
        arguments: [
            (0, "0"), (100_000, "0.0001"), (2_500_000_000, "2.5"), (7_200_000_000_000, "7200"),
            (1, "0.000000001"),
        ] as [(Int64, String)])
    func secondsAreExact(nanoseconds: Int64, text: String) {
        #expect(MetricsText.seconds(nanoseconds) == text)
    }
}
