import Foundation
import Testing

/// The scripts of Deploy, as a shell that minds each part of a pipe runs them.
@Suite struct ScriptTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    /// `head` and `grep -q` leave before they have read all: what writes to them then ends by a signal, now and then, and
    /// with it the script. `sed -n 1p` and `grep >/dev/null` read to the end.
    @Test func noPipeEndsBeforeItsBeginning() throws {
        var scripts = 0
        for folder in [".ci", "Deploy"] {
            let files = FileManager.default.enumerator(
                at: Self.root.appending(path: folder), includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files) {
                guard let text = try? String(contentsOf: file, encoding: .utf8),
                    text.contains("set -euo pipefail")
                else { continue }
                scripts += 1
                for line in text.split(separator: "\n")
                where line.contains(#/[^|]\|\s*(head\b|grep\s+(-\w+\s+)*-\w*q)/#) {
                    // These are run by another shell, which minds the last part only.
                    let isOthers = line.contains(#/^\s*(expect|expect_booted|wait_for|type_in)\s/#)
                    #expect(isOthers, "\(file.lastPathComponent): \(line)")
                }
            }
        }
        #expect(scripts > 15)
    }

    /// What Deploy/repository prints, and Deploy/tools/package-test types: README has the same.
    @Test func theLinesForARepositoryAreThoseThatItPrints() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        }
        let printed = try #require(try text("Deploy/repository").components(separatedBy: "as root:\n").last)
            .split(separator: "\n").prefix { $0.hasPrefix("  ") }
        #expect(printed.count == 3)
        let readme = try text("README.md")
        for line in printed {
            let line = line.dropFirst(2).replacing("$url", with: "https://HOST/PATH")
                .replacing("&& apt", with: "&& sudo apt")
            #expect(readme.contains("\nsudo \(line)\n"), "\(line)")
        }
    }
}
