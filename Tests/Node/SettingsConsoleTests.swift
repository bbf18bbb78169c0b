import Reactor
import Testing

@testable import Node

/// What `console` takes.
@Suite struct SettingsConsoleTests {
    private func settings(_ yaml: String) throws -> Settings.Console {
        try Settings(yaml: yaml, file: "test.yaml").console
    }

    @Test func itIsOffUnlessItHasAPlace() throws {
        #expect(try settings("").listen.isEmpty)
        let console = try settings(
            "console: {listen: [\"127.0.0.1:9480\"], origins: [\"https://A.example:443\"]}")
        #expect(console.listen == [.host("127.0.0.1", port: 9480)])
        #expect(console.origins == ["https://a.example"])
        #expect(
            NodeConsole.origins(of: .host("127.0.0.1", port: 9480))
                == ["http://127.0.0.1:9480", "http://localhost:9480"])
        #expect(NodeConsole.origins(of: .host("::1", port: 80)) == ["http://[::1]"])
    }

    @Test(arguments: [
        "{listen: [\"0.0.0.0:9480\"]}", "{listen: [\"onion:80\"]}", "{listen: [\"192.168.1.1:9480\"]}",
        "{listen: [\"127.0.0.1:9480\", \"127.0.0.1:9480\"]}", "{listen: [\"127.0.0.1:9400\"]}",
        "{listen: [\"unix:/run/x\"]}", "{listen: 5}", "{origins: [\"https://a/b\"]}",
        "{origins: [\"a.example\"]}",
    ])
    func whatOthersReachIsRefused(text: String) {
        #expect(throws: SettingsError.self) { try settings("console: \(text)") }
    }
}
