import Figures
import Foundation
import Testing

@testable import Overview

@Suite struct MetricsPageTests {
    private struct Metric: Hashable, CustomStringConvertible {
        var name: String
        var kind: String
        var labels: Set<String>

        var description: String { "\(name) \(kind) \(labels.sorted())" }
    }

    private let lines = String(decoding: MetricsPage.text(of: Sample.broken), as: UTF8.self)
        .split(separator: "\n").map(String.init)

    private var metrics: Set<Metric> {
        var metrics: Set<Metric> = []
        for line in lines where line.hasPrefix("# TYPE ") {
            let words = line.split(separator: " ").map(String.init)
            let samples = lines.filter { $0.hasPrefix(words[2]) && !$0.hasPrefix("#") }
            let labels = samples.flatMap { sample -> [String] in
                let names = sample.matches(of: /([a-z_]+)="/).map { String($0.output.1) }
                return names.filter { $0 != "le" }
            }
            metrics.insert(Metric(name: words[2], kind: words[3], labels: Set(labels)))
        }
        return metrics
    }

    /// What the article says of each metric is what there is, and there is nothing else.
    @Test func theArticleNamesEveryMetricWithItsTypeAndLabels() throws {
        let article = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/Programs/Onionbell/Onionbell.docc/Metrics.md"),
            encoding: .utf8)
        // In lists, as `name{labels}`; the name tells a counter, a word behind it a histogram.
        let listed = article.matches(
            of: #/`((?:onionbell|process)_[a-z_]+)(?:\{([a-z,]+)\})?`( \(histogram\))?/#)
        let told = listed.map { found in
            let name = String(found.output.1)
            let kind =
                found.output.3 != nil ? "histogram" : name.hasSuffix("_total") ? "counter" : "gauge"
            let labels = found.output.2?.split(separator: ",").map(String.init) ?? []
            return Metric(name: name, kind: kind, labels: Set(labels))
        }
        #expect(Set(told).count == told.count)
        #expect(Set(told).subtracting(metrics) == [])
        #expect(metrics.subtracting(told) == [])
    }

    /// Prometheus, "Metric and label naming".
    @Test func namesFollowTheConventions() {
        for metric in metrics {
            #expect(metric.name.hasPrefix("onionbell_") || metric.name.hasPrefix("process_"))
            #expect(metric.name.hasSuffix("_total") == (metric.kind == "counter"), "\(metric)")
            if metric.kind == "histogram" { #expect(metric.name.hasSuffix("_seconds")) }
        }
    }

    @Test func everySampleStandsOnceUnderItsType() {
        let samples = lines.filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != " " } }
        // Labels with blanks in their values would be cut here: there are none in the sample.
        #expect(Set(samples).count == samples.count)
        for (index, line) in lines.enumerated() where line.hasPrefix("# HELP ") {
            let name = line.split(separator: " ")[2]
            #expect(lines[index + 1].hasPrefix("# TYPE \(name) "))
            #expect(line.split(separator: " ").count > 4)
        }
    }

    @Test(arguments: [
        "onionbell_submissions_total{endpoint=\"peer\",result=\"stored\"} 31000",
        "onionbell_refusals_total{endpoint=\"bisq1\",reason=\"BadMessage\"} 60",
        "onionbell_busy_total{endpoint=\"bisq2\",limit=\"device\"} 7",
        "onionbell_outbox_notifications{app=\"bisq-remote-ios\",environment=\"production\"} 1412",
        "onionbell_outbox_oldest_age_seconds{app=\"bisq-remote-ios\",environment=\"production\"} 10800.0",
        "onionbell_outcomes_total{app=\"bisq-remote-ios\",environment=\"sandbox\",outcome=\"token_dead\",reason=\"Unregistered\"} 39",
        "onionbell_retries_total{app=\"bisq-remote-android\",environment=\"production\",reason=\"GoAway\"} 4",
        "onionbell_lane_blocked{app=\"bisq-remote-ios\",environment=\"production\"} 1",
        "onionbell_lane_blocked{app=\"bisq-remote-android\",environment=\"production\"} 0",
        "onionbell_onion_state{state=\"lost\"} 1", "onionbell_onion_state{state=\"published\"} 0",
        "onionbell_self_dials_total{result=\"failed\"} 2",
        "onionbell_descriptor_last_upload_timestamp_seconds 1795297900",
        "onionbell_last_delivery_timestamp_seconds{app=\"bisq-remote-ios\",environment=\"production\"} 1795299986.0",
        "onionbell_certificate_expiry_timestamp_seconds{app=\"bisq-remote-ios\"} 1813530400",
        "onionbell_http_responses_total{code=\"429\"} 20", "onionbell_check_level{check=\"onion\"} 2",
        "onionbell_check_level{check=\"disk\"} 0", "onionbell_build_info{version=\"0.1.0\"} 1",
        "onionbell_shards_owned 128", "onionbell_nodes_alive 2", "onionbell_take_overs_total 1",
        "onionbell_possible_repetitions_total 37", "onionbell_node_shards{node=\"2\"} 128",
        "onionbell_node_waiting_notifications{node=\"1\"} 2",
        "onionbell_node_oldest_age_seconds{node=\"1\"} 0.24",
        "onionbell_node_lease_age_seconds{node=\"2\"} 1.4", "process_open_fds 143",
        "process_cpu_seconds_total 1234.0",
    ])
    func figuresAreThoseOfTheReport(line: String) { #expect(lines.contains(line)) }
}
