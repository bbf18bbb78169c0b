import Client
import Encodings
import Foundation
import HTTP2
import JSONCoding
import Lab
import LabParts
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// ntfy's own program as the server to which the built node publishes.
@EventLoop
@Suite(
    .serialized,
    .enabled("ntfy's program is not here: Deploy/tools/dependencies test", { RealNtfy.areHere }))
struct RealNtfyServerTests {
    /// A node with this server, whose phone book has a phone at its topic.
    private func stage(_ server: RealNtfyServer) async throws -> (LoopbackStage, PairingToken) {
        let stage = try LoopbackStage { text in
            text.replacing(
                "apps:\n",
                with:
                    "apps:\n  - {name: home, gateway: ntfy, url: \"\(server.url)\", token_file: ntfy-token}\n"
            )
        }
        try LabDirectory.write(
            Array((server.token + "\n").utf8),
            to: URL(filePath: stage.configuration).deletingLastPathComponent().path + "/ntfy-token")
        try await stage.start()
        let made = try await Task.detached {
            try run([program, "pair", "--device-token", "nt1:bisq-me", "--text-only"])
        }.value
        let add = [
            program, "phones", "add", "me", "--platform", "android", "--device-token", "nt1:bisq-me", "--app",
            "home", "--config", stage.configuration,
        ]
        #expect(try await Task.detached { try run(add) }.value.status == 0)
        await stage.logged("phones.changed")
        return (stage, try PairingToken(made.output.trimmingCharacters(in: .newlines)))
    }

    private func request(
        _ title: String, to pairing: PairingToken, awaitsOutcome: Bool = false
    ) throws -> MobileNotificationRequest {
        var request = try BisqSender(to: pairing).request(
            for: PhoneText(
                sentDate: EventLoop.unixMilliseconds, title: title, message: "", kind: .trade))
        request.awaitsOutcome = awaitsOutcome
        return request
    }

    /// Deny-all with the least that is needed: an account that may write to one topic, and not read it.
    @Test(arguments: RealNtfy.all) func itTakesWhatTheNodePublishes(ntfy: RealNtfy) async throws {
        let directory = try LabDirectory()
        let server = try await RealNtfyServer(ntfy, in: directory)
        let (stage, pairing) = try await stage(server)
        let peer = try await stage.dial()
        let outcome = try await peer.outcome(
            of: try request("one", to: pairing, awaitsOutcome: true), deadline: theRun)
        #expect(outcome.status == .delivered, "\(outcome) \(stage.node.lines.suffix(5))")
        let rung = try await server.poll("bisq-me")
        #expect(rung.map { $0["message"]?.string } == ["Something happened in Bisq. Open it to see what."])

        // Many at once don't trip over its visitors, whose limits it may mix up (403 with a good token).
        for number in 1...30 {
            #expect(try await peer.send(try request("\(number)", to: pairing)).status == .stored)
        }
        try await until { try await server.poll("bisq-me").count == 31 }
        #expect(!stage.node.lines.contains { $0.contains("gateway.blocked") })

        // While its server is dead nothing is lost, and neither when the node is killed over it.
        await server.kill()
        for number in 31...40 {
            #expect(try await peer.send(try request("\(number)", to: pairing)).status == .stored)
        }
        peer.close()
        try await server.start()
        try stage.signal(SIGKILL)
        await stage.node.wait { $0.exit != nil }
        try await stage.start()
        // What was not yet known to be delivered comes again; from 2.16 on in place of the first.
        try await until { try await server.poll("bisq-me").count >= 41 }
        if ntfy.hasSequences {
            let names = try await server.poll("bisq-me").map { $0["sequence_id"]?.string }
            #expect(Set(names).count == 41 && !names.contains(nil))
        }
        await server.kill()
        await stage.close()
    }

    /// Its own words for a limit are what the operator reads, and what it does not take now waits.
    @Test(
        arguments: RealNtfy.all,
        [
            ("visitor-message-daily-limit: 2", "Ntfy42908"),
            ("visitor-request-limit-burst: 2\nvisitor-request-limit-replenish: \"1h\"", "Ntfy42901"),
        ]) func itsLimitsAreTold(ntfy: RealNtfy, limit: (setting: String, code: String)) async throws
    {
        let server = try await RealNtfyServer(ntfy, in: try LabDirectory(), settings: limit.setting)
        let (stage, pairing) = try await stage(server)
        let peer = try await stage.dial()
        for number in 1...3 {
            #expect(try await peer.send(try request("\(number)", to: pairing)).status == .stored)
        }
        let status = [program, "status", "--config", stage.configuration]
        try await until { try await Task.detached { try run(status) }.value.output.contains(limit.code) }
        let shown = try await Task.detached { try run(status + ["--json"]) }.value.output
        let lanes = try JSON(Array(shown.utf8))
        #expect(shown.contains(#""waiting":1"#), "\(lanes.text)")
        peer.close()
        await server.kill()
        await stage.close()
    }

    /// By its onion address: to its limits all who come so are one visitor.
    @Test(
        .enabled(if: isLong, "only in Deploy/test --long; NtfyNodeTests has the short form"),
        arguments: RealNtfy.all)
    func itIsReachedAtItsOnionAddress(ntfy: RealNtfy) async throws {
        let directory = try LabDirectory()
        let server = try await RealNtfyServer(ntfy, in: directory)
        let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
        let tor = try await SharedTorNetwork.network().startTor()
        let onion = try await tor.publish([(80, .host("127.0.0.1", port: port))])
        let token = directory.path + "/ntfy-token"
        try LabDirectory.write(Array((server.token + "\n").utf8), to: token)
        let stage = try await RelayStage(
            apps: { _ in "  - {name: home, gateway: ntfy, url: \"http://\(onion)\", token_file: \"\(token)\"}"
            })
        let phone = try Phone.new(
            .android, descriptor: "phone", deviceToken: "nt1:bisq-me" + String(repeating: ".", count: 30))
        let add = [program, "phones", "add", "me", "--pairing-token", "-", "--config", stage.configuration]
        let added = try await Task.detached { try run(add, input: phone.pairingToken.text + "\n") }.value
        #expect(added.status == 0, "\(added.errors)")
        await stage.node.wait { $0.exit != nil || $0.lines.contains { $0.contains("phones.changed") } }
        for number in 1...5 {
            let request = try BisqSender(to: phone.pairingToken).httpRequest(
                for: PhoneText(sentDate: 1, title: "\(number)", message: "", kind: .trade))
            #expect(String(decoding: try await stage.send(request).body, as: UTF8.self) == "success")
        }
        try await until { try await server.poll("bisq-me").count == 5 }
        await stage.close()
        await tor.kill()
        await server.kill()
    }

    /// The server of another app's pushes: the node's are opened with the keys of the app that it has them for.
    @Test(arguments: RealNtfy.all) func itCarriesPushesForApps(ntfy: RealNtfy) async throws {
        let stage = try LoopbackStage(withWebPush: true)
        let directory = stage.world.directory
        let identity = try stage.world.credentials.authority.server(names: ["localhost"])
        let certificate = (chain: directory.path + "/ntfy.pem", key: directory.path + "/ntfy-key.pem")
        try LabDirectory.write(try identity.chainPEM(), to: certificate.chain)
        try LabDirectory.write(try identity.keyPEM().bytes, to: certificate.key)
        let server = try await RealNtfyServer(
            ntfy, in: try LabDirectory(), certificate: certificate)
        let host = String(server.url.dropFirst("https://".count))
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        try text.replacing("allowed_hosts: [", with: "allowed_hosts: [\"\(host)\", ")
            .write(toFile: stage.configuration, atomically: true, encoding: .utf8)
        try await stage.start()
        let topic = "upAbCdEfGhIjKl"
        let browser = try Browser(at: server.url, path: "/\(topic)?up=1")
        let phone = try Phone.new(.android, descriptor: "App", deviceToken: browser.token)
        let peer = try await stage.dial()
        let outcome = try await peer.outcome(
            of: try request("through ntfy", to: phone.pairingToken, awaitsOutcome: true), deadline: theRun)
        #expect(outcome.status == .delivered, "\(outcome) \(stage.node.lines.suffix(5))")
        let lines = try await server.poll(
            topic, environment: ["SSL_CERT_FILE": directory.path + "/ca.pem"])
        let line = try #require(lines.first)
        #expect(lines.count == 1 && line["encoding"] == "base64")
        let body = try #require(line["message"]?.string.flatMap { Base64.decode($0) })
        let push = AcceptedPush(
            deviceToken: browser.path, headers: HTTP2Headers(), body: body, connection: 1, isAnswered: true)
        #expect(try phone.open(try browser.open(push)).title == "through ntfy")
        peer.close()
        await server.kill()
        await stage.close()
    }
}
