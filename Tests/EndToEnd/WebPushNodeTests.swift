import Foundation
import JSONCoding
import Lab
import Processes
import Reactor
import Testing
import Vectors

private let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Deploy/examples/web-push.py").standardized.path
/// Where Deploy/tools/dependencies puts what Debian doesn't have.
private let packages = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../.build/python").standardized.path

/// The built program as a relay for Mastodon's apps: the sender is pywebpush, and the pushes are opened by code that is
/// not ours.
@EventLoop
@Suite(
    .serialized,
    .enabled(
        "pywebpush is not here: Deploy/tools/dependencies test",
        { FileManager.default.fileExists(atPath: packages + "/pywebpush") }))
struct WebPushNodeTests {
    private let token = String(repeating: "0a", count: 32)

    /// Off this thread: the simulated gateways live on its loop.
    private func python(_ arguments: [String], input: String = "") async throws -> String {
        let result = try await Task.detached {
            try run(
                ["/usr/bin/python3", script] + arguments, input: input,
                environment: ["PYTHONPATH": packages])
        }.value
        #expect(result.status == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .newlines)
    }

    @Test func realMessagesReachTheAppsOverTorOverHTTPSAndBehindAProxy() async throws {
        let (https, http) = (try freePort(), try freePort())
        let stage = try await NodeTests.Stage(more: [
            """
            doors:
              https: {certificate_file: server.pem, key_file: server-key.pem}
              web_push:
                listen: [onion:80, onion:8080, "https://127.0.0.1:\(https)", "127.0.0.1:\(http)"]
                ios: bisq-remote-ios
                android: bisq-remote-android
                push_ios: bisq-connect-ios
                outcome_deadline: 8
            """
        ]) { world in
            let server = try world.credentials.authority.server(names: ["127.0.0.1"])
            try LabDirectory.write(try server.chainPEM(), to: world.directory.path + "/server.pem")
            try LabDirectory.write(try server.keyPEM().bytes, to: world.directory.path + "/server-key.pem")
        }
        let keys = stage.world.directory.path + "/subscription"
        _ = try await python(["subscribe", keys])
        let onion = ["--socks", "\(stage.socks)"]
        let authority = ["--ca", stage.world.directory.path + "/ca.pem"]
        let (relay, google, push) = (
            "relay-to/production/\(token)", "relay-to/fcm/lab:\(token)", "push/\(token)"
        )
        for (origin, path, encoding, options) in [
            ("http://\(stage.address)", relay, "aesgcm", onion),
            ("http://\(stage.address):8080", google, "aes128gcm", onion),
            ("http://\(stage.address)", push, "aesgcm", onion),
            ("https://127.0.0.1:\(https)", relay, "aes128gcm", authority),
            ("https://127.0.0.1:\(https)", google, "aesgcm", authority),
            ("http://127.0.0.1:\(http)", push, "aes128gcm", []),
        ] {
            let isForGoogle = path == google
            let waiter = stage.world.nextPush(
                to: isForGoogle ? "lab:" + token : token, on: isForGoogle ? .android : .ios)
            let text = "Grüße 🐘 \(encoding) by \(path)"
            let said = try await python(
                ["push", keys, "\(origin)/\(path)/me%40example", text, "--encoding", encoding] + options)
            #expect(said == (path == push ? "202" : "201 delivered") || said == "201 waiting")
            let (brought, _) = try #require(await waiter.wait(for: theRun))
            let shown = try await python(
                ["open", keys], input: String(decoding: brought.body, as: UTF8.self) + "\n")
            #expect(shown == "app of me@example shows: \(text)")
        }
        await stage.close()
    }

    // MARK: Crashes and repetitions

    private func post(_ body: String, to socket: String) async throws -> (status: String, location: String) {
        let result = try await Task.detached { [token] in
            try run([
                "curl", "-s", "--unix-socket", socket, "--write-out",
                "%{http_code} %header{location}", "--header", "Content-Encoding: aes128gcm", "--header",
                "TTL: 3600", "--data-binary", body, "http://localhost/relay-to/production/\(token)/x",
            ])
        }.value
        let words = result.output.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        return (words.first ?? "", words.last ?? "")
    }

    private func state(_ location: String, at socket: String) throws -> String {
        try run(["curl", "-s", "--unix-socket", socket, "http://localhost\(location)"]).output
    }

    @Test func whatWasAnsweredSurvivesAKillAndARepetitionIsNoSecondPush() async throws {
        let stage = try LoopbackStage {
            $0 + """
                doors:
                  web_push: {listen: ["unix:LAB/web"], ios: bisq-remote-ios, outcome_deadline: 0}

                """
        }
        let socket = stage.world.directory.path + "/web"
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
            .replacing("LAB", with: stage.world.directory.path)
        try text.write(toFile: stage.configuration, atomically: true, encoding: .utf8)
        // Taken, and no answer: the node can't know.
        stage.world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: true), times: 1)])
        try await stage.start()
        let first = try await post("the same bytes", to: socket)
        #expect(first.status == "201")
        #expect(try state(first.location, at: socket) == "waiting")
        try await until { !stage.world.apple.book.isEmpty }
        await stage.node.kill()
        try await stage.start()
        #expect(try await post("the same bytes", to: socket) == first)
        try await until { try state(first.location, at: socket) == "delivered" }
        #expect(try await post("the same bytes", to: socket) == first)
        #expect(try await post("other bytes", to: socket).location != first.location)
        try await until { stage.world.apple.book.count >= 3 }
        // The second attempt replaces the first one on the phone.
        let ids = stage.world.apple.book.map { $0.headers["apns-collapse-id"] }
        #expect(ids[0] == ids[1] && ids[1] != ids[2])
        await stage.close()
    }
}
