import Foundation
import JSONCoding
import Lab
import Reactor
import Testing

/// A mailbox of the built node in a browser, which enforces what servers say of other origins.
@EventLoop
@Suite(
    .serialized,
    .enabled("Firefox is not here: Deploy/tools/dependencies test") {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/firefox-esr")
    })
struct MailboxInBrowserTests {
    private nonisolated static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../PhonePage/ntfy_web.py").standardized.path

    /// What ntfy's web app asks, from its own origin. The browser's start takes the most of it.
    @Test func aPageOfAnotherOriginReadsAndPublishes() async throws {
        // A browser answers each ping by itself: what all readers have acknowledged goes.
        let stage = try await MailboxStage(readers: ["phone", "desk"])
        let made = try await Task.detached { [configuration = stage.stage.configuration] in
            try run([
                program, "mailbox", "publishers", "add", "me", "web", "--json", "--config", configuration,
            ])
        }.value
        let publisher = try #require(try JSON(Array(made.output.utf8))["token"]?.string)
        let server = String(stage.mailbox.url.dropLast(stage.mailbox.topic.count + 1))
        try await until {
            try await Task.detached {
                try run([
                    "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H",
                    "Authorization: Bearer \(publisher)", server + "/v1/account",
                ])
            }.value.output == "200"
        }
        let arguments = [
            "/usr/bin/python3", "-B", Self.script, server, stage.mailbox.topic,
            try #require(stage.mailbox.tokens["phone"]), publisher,
        ]
        let result = try await Task.detached { try run(arguments) }.value
        #expect(result.status == 0, "\(result.errors)")
        let seen = try JSON(Array(result.output.utf8))
        #expect(seen["auth"] == .array([200, 401, 403]))
        #expect(seen["json"] == 200 && seen["xhr"] == .array([200, "X"]) && seen["deleted"] == 200)
        #expect(seen["refused"]?["error"]?.string?.contains("takes no attach") == true)
        #expect(
            seen["socket"] == .array(["open", "by JSON", "by XHR", "message_delete"]), "\(result.output)")
        #expect(seen["events"] == .array(["by JSON", "by XHR"]), "\(result.output)")
        #expect(seen["poll"] == .array(["T", "X", .null]), "\(result.output)")
        await stage.close()
    }
}
