import Foundation
import Testing

/// Where README and articles once promised more than is true, or sent somebody to what is not there.
@Suite struct ClaimTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized

    private static let articles = root.appending(path: "Sources/Programs/Onionbell/Onionbell.docc")

    /// README and the articles, with their names.
    private static let texts: [(name: String, text: String)] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: articles.path)) ?? []
        return names.filter { $0.hasSuffix(".md") }.sorted().map { ($0, text(articles.appending(path: $0))) }
            + [("README.md", text(root.appending(path: "README.md")))]
    }()

    private static func text(_ url: URL) -> String { (try? String(contentsOf: url, encoding: .utf8)) ?? "" }

    /// Bisq 1 has no scanner since 1.10: who is sent to one looks for it in vain.
    @Test func nobodyIsSentToAScannerOfBisqs() throws {
        var count = 0
        for (name, text) in Self.texts {
            // A paragraph, an entry of a list, a row of a table.
            for piece in text.split(separator: /\n\n|\n- |\n[0-9]+\. |\n\|/)
            where piece.contains(/Bisq 1/) && piece.contains(/[Ss]can|QR code|webcam/) {
                count += 1
                #expect(piece.contains("1.10"), "\(name): \(piece)")
            }
        }
        #expect(count > 1)
    }

    /// Who serves the page, and a push service, learn the phone's address. Nobody reads what a notification says.
    @Test func nothingSaysMoreThanThatNobodyInBetweenCanRead() throws {
        let page = Self.text(Self.root.appending(path: "Sources/PhonePage/languages/en.js"))
        var count = 0
        for (name, text) in Self.texts + [("en.js", page)] {
            for found in text.lowercased().matches(of: /nobody\s+in\s+between(.{0,20})/) {
                count += 1
                #expect(found.output.1.hasPrefix(" can read it"), "\(name)")
            }
        }
        #expect(count == 2)
    }

    /// A newcomer looks a module up there; those that wrap a C library have one row together.
    @Test func everyModuleStandsInTheArticleAboutThem() {
        let package = Self.text(Self.root.appending(path: "Package.swift"))
        let article = Self.text(Self.articles.appending(path: "Architecture.md"))
        let target =
            /(?:library|feature|\.target|executableTarget)\(\s*(?:name: )?"(?:\w+\/)*([A-Z]\w+)"(?:,\s*named: "(\w+)")?/
        let names = package.matches(of: target).map { String($0.output.2 ?? $0.output.1) }
        #expect(names.count > 25)
        // Of the tests, C's, and the commands of features.
        for name in names.filter({ !$0.hasSuffix("Commands") })
        where ![
            "Chaos", "Vectors", "LabParts", "MemoryStore", "TestedStores", "EndpointWorlds", "FeatureList",
            "CSupport", "CPostgreSQL",
        ].contains(name) {
            #expect(article.contains("`\(name)`"), "\(name)")
        }
    }

    /// What was never tried stands where a reader begins.
    @Test func theFirstScreenSaysHowFarItIs() {
        let first = Self.text(Self.root.appending(path: "README.md")).split(
            separator: "\n", maxSplits: 14, omittingEmptySubsequences: false
        ).prefix(14).joined(separator: "\n")
        #expect(first.contains("(Sources/Programs/Onionbell/Onionbell.docc/Measured.md)"))
        #expect(first.contains("Apple, Google, Bisq's relay") && first.contains("a real phone"))
        let changes = Self.text(Self.root.appending(path: "CHANGELOG.md"))
        let newest = changes.firstMatch(of: /\n## (\d\S*), (.*)\n/)
        #expect(newest.map { first.contains("**Status**: \($0.output.1), \($0.output.2)") } == true)
    }
}
