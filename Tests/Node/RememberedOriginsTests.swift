import Foundation
import Relay
import Testing

@testable import Node

/// The push servers that a node remembers over a restart.
@Suite struct RememberedOriginsTests {
    private func lane(_ app: String, _ host: String) throws -> LaneID {
        LaneID(app: app, host: try #require(LaneHost(origin: host)))
    }

    @Test func whatWasWrittenIsRead() async throws {
        let path = NSTemporaryDirectory() + "push-servers-\(UInt32.random(in: 0...UInt32.max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(await RememberedOrigins.read(path, apps: ["web"]).isEmpty)
        let origins = [try lane("web", "https://push.example.com"), try lane("web", "http://a.onion:8080")]
        await RememberedOrigins.write(origins + [try lane("gone", "https://b.example.com")], to: path)
        #expect(await RememberedOrigins.read(path, apps: ["web"]) == origins)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
    }

    @Test func whatIsNoOriginIsNotTaken() async throws {
        let path = NSTemporaryDirectory() + "push-servers-\(UInt32.random(in: 0...UInt32.max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines = [
            "web production", "web https://A.example", "web", "https://a.b", "web  x y", "web https://ok.org",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
        #expect(await RememberedOrigins.read(path, apps: ["web"]) == [try lane("web", "https://ok.org")])
    }
}
