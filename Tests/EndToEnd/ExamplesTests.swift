import Foundation
import Testing

/// The scripts in `Deploy/examples`, as somebody who reads of them would run them.
@Suite(.serialized) struct ExamplesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    private static let hasWebPush = FileManager.default.fileExists(
        atPath: root.appending(path: ".build/python/pywebpush").path)

    @Test(.enabled(if: hasWebPush, "pywebpush is not installed: Deploy/tools/dependencies test"))
    func theExampleOfWebPushShowsTheWholeExchange() throws {
        try anExampleShowsTheWholeExchange(name: "web-push", pushes: 12)
    }

    /// Each checks its answers and counts its pushes by itself.
    @Test(arguments: [("status", 11), ("bitwarden", 10)])
    func anExampleShowsTheWholeExchange(name: String, pushes: Int) throws {
        let result = try run(
            [Self.root.appending(path: "Deploy/examples/\(name)").path],
            environment: ["PROGRAMS": URL(filePath: program).deletingLastPathComponent().path])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains("All \(pushes) pushes came."), "\(result.output)")
    }
}
