import Client
import Crypto
import Foundation
import HTTP1
import JSONCoding
import Lab
import LabParts
import Processes
import Reactor
import StatusIM
import Testing
import Vectors

/// The built program's doors for Status, asked by a client in Python that shares no code with it, and killed.
@EventLoop
@Suite(.serialized) struct StatusIMNodeTests {
    private nonisolated static let apps = "apps: [bisq-remote-ios, bisq-remote-android]"
    private nonisolated static let examples = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Deploy/examples").standardized.path

    /// Runs the whole exchange. Over tor a first try may hit a stale descriptor: it is repeated.
    private func exchange(
        _ server: String, _ world: LabWorld, socks: Endpoint? = nil, rounds: Int = 2
    ) async throws -> CommandResult {
        let key = try String(contentsOfFile: world.state + "/status-public-key", encoding: .utf8)
        // As StatusEndpoints.md has it: 33 bytes in hexadecimal digits, and a line feed.
        #expect(key.wholeMatch(of: /0[23][0-9a-f]{64}\n/) != nil)
        var arguments = [
            "/usr/bin/python3", "-B", Self.examples + "/status.py", server,
            key.trimmingCharacters(in: .whitespacesAndNewlines), "--topic", LabWorld.topic, "--rounds",
            "\(rounds)",
        ]
        if let socks { arguments += ["--socks", "\(socks)"] }
        let environment = ["SSL_CERT_FILE": world.directory.path + "/ca.pem"]
        // The simulated gateways live on this thread's loop: the client must not block it.
        let result = try await Task.detached { [arguments] in
            try run(arguments, environment: environment)
        }.value
        #expect(result.status == 0, "\(server): \(result.output)\(result.errors)")
        return result
    }

    @Test func aClientOfIndependentCodeIsServedOverTor() async throws {
        let stage = try await NodeTests.Stage(more: [
            "doors:",
            "  gorush: {listen: [\"onion:8088\"], open: true, \(Self.apps)}",
            "  status: {stream: [\"onion:9998\"], listen: [\"onion:80\"], \(Self.apps)}",
            "limits: {token_burst: 1000}",
        ])
        let (apple, google) = (stage.world.apple, stage.world.google)
        _ = try await exchange("stream://\(stage.address):9998", stage.world, socks: stage.socks)
        _ = try await exchange("http://\(stage.address)", stage.world, socks: stage.socks)
        // Each exchange: two rounds to both phones, and one message to the first.
        try await until { apple.book.count >= 6 && google.book.count >= 4 }
        let body =
            #"{"notifications":[{"tokens":["\#(String(repeating: "7f", count: 32))"],"platform":1,"message":"m"}]}"#
        let arguments = [
            "curl", "--silent", "--retry", "3", "--retry-all-errors", "--socks5-hostname",
            "\(stage.socks)", "http://\(stage.address):8088/api/push", "--data-binary", body,
        ]
        let answer = try await Task.detached { try run(arguments) }.value
        #expect(answer.output == #"{"counts":1,"logs":[],"success":"ok"}"#, "\(answer.errors)")
        try await until { apple.book.count >= 7 }
        #expect(google.book.count == 4)
        #expect(stage.node.lines.contains { $0.contains("status.key_loaded") })
        let secret = try String(contentsOfFile: stage.world.state + "/status-key", encoding: .utf8)
        await stage.close()
        #expect(!stage.node.lines.contains { $0.contains(secret.prefix(16)) })
    }

    @Test func aClientOfIndependentCodeIsServedOverHTTPS() async throws {
        let port = try freePort()
        let stage = try LoopbackStage { text in
            text + """

                doors:
                  https: {certificate_file: server.pem, key_file: server-key.pem}
                  status: {listen: ["https://127.0.0.1:\(port)"], \(Self.apps)}
                  gorush: {listen: ["https://127.0.0.1:\(port)"], open: true, \(Self.apps)}

                """
        }
        let path = stage.world.directory.path
        let server = try stage.world.credentials.authority.server(names: ["localhost"])
        try LabDirectory.write(try server.chainPEM(), to: path + "/server.pem")
        try LabDirectory.write(try server.keyPEM().bytes, to: path + "/server-key.pem")
        try await stage.start()
        _ = try await exchange("https://localhost:\(port)", stage.world)
        try await until { stage.world.apple.book.count >= 3 && stage.world.google.book.count >= 2 }
        let body =
            #"{"notifications":[{"tokens":["\#(String(repeating: "7f", count: 32))"],"platform":1,"message":"m"}]}"#
        let arguments = [
            "curl", "--silent", "--cacert", path + "/ca.pem",
            "https://localhost:\(port)/api/push", "--data-binary", body,
        ]
        let answer = try await Task.detached { try run(arguments) }.value
        #expect(answer.output == #"{"counts":1,"logs":[],"success":"ok"}"#, "\(answer.errors)")
        try await until { stage.world.apple.book.count >= 4 }
        #expect(try permissions(stage.world.state + "/status-key") == 0o600)
        await stage.close()
    }

    /// Registrations, messages handled and pushes on their way outlive the process, however it ends.
    @Test func whatWasAnsweredBeforeAKillHoldsAfterIt() async throws {
        let vectors = try StatusIMVectors.read()
        let stage = try LoopbackStage { text in
            text
                + """

                doors:
                  status: {listen: ["unix:status"], \(Self.apps)}

                """.replacing("unix:status", with: "unix:/tmp/onionbell-status-\(getpid())")
        }
        let route = PeerRoute.direct(.unix(path: "/tmp/onionbell-status-\(getpid())"))
        _ = try stage.world.directory.make("state")
        let key = try #require(vectors.keys["server"]).private_hex
        try LabDirectory.write(Array("\(key)\n".utf8), to: stage.world.state + "/status-key")
        stage.world.google.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        try await stage.start()
        func ask(_ message: String) async throws -> String {
            let answer = try await HTTPExchange.answer(
                to: HTTPRequest(method: "POST", path: "/status/v1/message", body: bytes(hex: message)),
                host: "a",
                by: route)
            #expect(answer.status == 200)
            return answer.body.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        for vector in vectors.registrations_in_order {
            #expect(try await ask(vector.message_hex) == vector.expect.response_message_example_hex)
        }
        let request = try #require(
            vectors.then_requests_in_order.first { $0.name.hasPrefix("to both devices") }
        ).message_hex
        let first = try await ask(request)
        try stage.signal(SIGKILL)
        await stage.node.wait { $0.exit != nil }
        #expect(stage.world.google.book.isEmpty)
        stage.world.google.faults = FaultScript()
        try await stage.start()
        #expect(try await ask(request) == first)
        let query = vectors.then_queries[0]
        let found = try await ask(query.message_hex)
        #expect(found.contains(try #require(query.expect.response_payload_hex)))
        try await until { !stage.world.google.book.isEmpty }
        #expect(try await ask(request) == first)
        for vector in vectors.then_unregister_in_order {
            #expect(try await ask(vector.message_hex) == vector.expect.response_message_example_hex)
        }
        try stage.signal(SIGKILL)
        await stage.node.wait { $0.exit != nil }
        try await stage.start()
        let old = try #require(vectors.then_unregister_in_order.last)
        #expect(try await ask(old.message_hex) == old.expect.response_message_example_hex)
        #expect(stage.world.google.book.count == 1)
        let list = try run([program, "registrations", "list", "status", "--config", stage.configuration])
        #expect(list.output.split(separator: "\n").count == 3, "\(list.output)")
        #expect(list.output.contains("\tno\t") && list.output.contains("\tyes\t"))
        await stage.close()
    }

    /// Whenever the process is killed: what a client repeats until it is answered is pushed once.
    @Test func whatIsRepeatedAfterKillsIsPushedOnce() async throws {
        let socket = "/tmp/onionbell-status-\(UUID().uuidString.prefix(8))"
        let stage = try LoopbackStage { text in
            text + "\ndoors:\n  status: {listen: [\"unix:\(socket)\"], \(Self.apps)}\n"
        }
        // Nothing leaves before the last start, so that no push can be on its way when the process ends.
        stage.world.google.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        try await stage.start()
        func ask(_ message: [UInt8]) async throws -> SignedMessage {
            let answer = try await HTTPExchange.answer(
                to: HTTPRequest(method: "POST", path: "/status/v1/message", body: message), host: "a",
                by: .direct(.unix(path: socket)), deadline: theRun)
            return try SignedMessage(answer.body)
        }
        let key = try String(contentsOfFile: stage.world.state + "/status-public-key", encoding: .utf8)
        let server = try Secp256k1.PublicKey(bytes(hex: String(key.prefix(66))))
        let phone = StatusIMPhone(.firebase, deviceToken: "lab:" + String(repeating: "ab", count: 32))
        #expect(try await ask(try phone.registering(at: server)).payload.prefix(2) == [8, 1])
        var random = SeededRandom(state: 7)
        var answers: [[UInt8]: [UInt8]] = [:]
        var unanswered: [[UInt8]] = []
        for round in 0..<6 {
            unanswered += (0..<30).map { phone.request(chat: [UInt8(round), UInt8($0)]) }
            let killing = Task { [delay = Int.random(in: 5...150, using: &random)] in
                try await Task.sleep(for: .milliseconds(delay))
                try stage.signal(SIGKILL)
            }
            while let message = unanswered.first, let answer = try? await ask(message) {
                if let first = answers[message] { #expect(answer.payload == first) }
                answers[message] = answer.payload
                unanswered.removeFirst()
            }
            try await killing.value
            await stage.node.wait { $0.exit != nil }
            // Some that were answered are repeated as well.
            unanswered += answers.keys.prefix(3)
            if round == 5 { stage.world.google.faults = FaultScript() }
            try await stage.start()
        }
        for message in unanswered { answers[message] = try await ask(message).payload }
        for message in answers.keys { #expect(try await ask(message).payload == answers[message]) }
        #expect(answers.count == 180)
        try await until { stage.world.google.book.count >= 180 }
        await stage.node.stop()
        let chats = try stage.world.google.book.map { push in
            try #require(try JSON(push.body)["message"]?["data"]?["chatId"]?.string)
        }
        #expect(chats.count == 180)
        #expect(Set(chats).count == 180)
        await stage.close()
    }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
}
