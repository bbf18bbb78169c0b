import Foundation
import Testing

/// The article about rehearsing, done as it stands there.
@Suite struct RehearsalTests {
    @Test func theArticlesCommandsWorkOneAfterTheOther() async throws {
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Programs/Onionbell/Onionbell.docc/Rehearsing.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let script = text.components(separatedBy: "```sh\n")[1].components(separatedBy: "```")[0]
        // A short path: sockets lie in it.
        let directory = "/tmp/onionbell-rehearsal-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let programs = URL(filePath: program).deletingLastPathComponent().path
        let result = try await Task.detached {
            try run([
                "bash", "-c",
                """
                set -euo pipefail
                trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
                cd '\(directory)'
                PATH='\(programs)':$PATH
                \(script)
                """,
            ])
        }.value
        let log = (try? String(contentsOfFile: directory + "/lab.log", encoding: .utf8)) ?? ""
        #expect(result.status == 0, "\(result.output) \(result.errors) \(log)")
        #expect(result.output.contains(" 0 fail\n"))
        #expect(result.output.contains("\ndelivered\n"))
        #expect(result.output.contains("well: "))
        #expect(log.contains("Google accepted a notification"))
        try FileManager.default.removeItem(atPath: directory)
    }
}
