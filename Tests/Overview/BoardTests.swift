import Foundation
import JSONCoding
import Testing
import Vectors

@testable import Overview

/// What `Deploy` has for Prometheus and Grafana fits what a node serves.
@Suite struct BoardTests {
    private static let deploy = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Deploy").standardized
    private static let rules = deploy.appending(path: "prometheus/onionbell.rules.yml")
    private static let board = deploy.appending(path: "grafana/onionbell.json")
    private static let promtool = "/usr/bin/promtool"

    /// As Prometheus stores them: a histogram is three.
    private let series: Set<String>

    init() {
        let page = String(decoding: MetricsPage.text(of: Sample.broken), as: UTF8.self)
        series = Set(
            page.split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
                String($0.prefix { $0 != "{" && $0 != " " })
            })
    }

    private func names(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(onionbell|process)_[a-z_]+/).map { String($0.output.0) })
    }

    @Test func alertsNameSeriesThatThereAre() throws {
        let text = try String(contentsOf: Self.rules, encoding: .utf8)
        let expressions = text.components(separatedBy: "expr:").dropFirst().map {
            $0.components(separatedBy: "for:")[0].components(separatedBy: "labels:")[0]
        }
        let named = names(in: expressions.joined())
        #expect(named.count > 15)
        #expect(named.subtracting(series) == [])
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: promtool), "promtool is not installed"))
    func prometheusTakesTheRules() throws {
        try ProgramRun([Self.promtool, "check", "rules", Self.rules.path]).succeeded()
    }

    @Test func theBoardShowsSeriesThatThereAre() throws {
        let board = try JSON(Array(try Data(contentsOf: Self.board)))
        let panels = try #require(board["panels"]?.array)
        let ids = panels.compactMap { $0["id"]?.integer }
        #expect(ids.count == panels.count && Set(ids).count == ids.count)
        var shown = 0
        for panel in panels where panel["type"]?.string != "row" {
            let targets = try #require(panel["targets"]?.array)
            for target in targets {
                let expression = try #require(target["expr"]?.string)
                let named = names(in: expression)
                #expect(!named.isEmpty && named.subtracting(series) == [], "\(expression)")
                // On every series the choice of the node.
                #expect(expression.components(separatedBy: "instance=~\"$instance\"").count > named.count)
                #expect(expression.count { $0 == "(" } == expression.count { $0 == ")" })
                shown += 1
            }
        }
        #expect(shown > 40)
        let variables = board["templating"]?["list"]?.array?.compactMap { $0["name"]?.string }
        #expect(variables == ["datasource", "instance"])
    }

    /// Panels fill rows of 24 columns and lie on no other.
    @Test func panelsDoNotOverlap() throws {
        let board = try JSON(Array(try Data(contentsOf: Self.board)))
        var taken: Set<[Int64]> = []
        for panel in board["panels"]?.array ?? [] {
            let place = try #require(panel["gridPos"])
            let sides = try ["x", "y", "w", "h"].map { try #require(place[$0]?.integer) }
            #expect(sides[0] + sides[2] <= 24)
            for column in sides[0]..<sides[0] + sides[2] {
                for row in sides[1]..<sides[1] + sides[3] { #expect(taken.insert([column, row]).inserted) }
            }
        }
    }
}
