import Foundation
import Testing

/// Files of the sources stay short enough to be read at once (`CONTRIBUTING.md`).
@Suite struct SourceSizeTests {
    @Test func noFileOfTheSourcesIsLongerThan350Lines() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
            .standardized
        let all = FileManager.default.enumerator(atPath: sources.path)?.allObjects ?? []
        let files = all.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
        let long = try files.filter { file in
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            return text.utf8.count { $0 == UInt8(ascii: "\n") } > 350
        }
        #expect(files.count > 700)
        #expect(long.isEmpty, "\(long)")
    }
}
