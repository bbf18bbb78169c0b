import Crypto
import Foundation
import JSONCoding
import Lab
import Processes
import Reactor
import Testing

/// Credentials that change while the built program runs.
@EventLoop
@Suite struct CredentialTests {
    private func write(_ bytes: [UInt8], as name: String, in stage: LoopbackStage) throws {
        let path = stage.world.directory.path + "/" + name
        try LabDirectory.write(bytes, to: path + ".new")
        #expect(rename(path + ".new", path) == 0)
    }

    @Test func aNewKeyUnblocksWhatTheOldOneHadBlocked() async throws {
        let stage = try LoopbackStage()
        let stranger = try SigningKey.generate(.es256).privatePEM().bytes
        try write(stranger, as: "AuthKey.p8", in: stage)
        try await stage.start()
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1, awaitsOutcome: true)).status == .stored)
        await stage.logged("gateway.blocked")
        let check = try stage.health()["checks"]?["bisq-remote-ios"]
        #expect(check?["state"]?.string == "blocked: InvalidProviderToken")
        try write(try stage.world.credentials.providerKeyPEM(), as: "AuthKey.p8", in: stage)
        try stage.signal(SIGHUP)
        #expect(try await peer.nextResponse(to: "request-1").status == .delivered)
        #expect(try stage.isWell("bisq-remote-ios"))
        await stage.close()
    }

    /// Apple's way: a new key beside the old one, then the settings, then the old one is revoked.
    @Test func aKeyWithAnotherIdIsTakenOnceAppleTakesIt() async throws {
        let stage = try LoopbackStage()
        let lab = stage.world.credentials
        let key = try SigningKey.generate(.es256)
        stage.world.apple.use(.init(keyID: "NEWKEY1234", teamID: lab.teamID, key: key.verifyingKey))
        try await stage.start()
        let peer = try await stage.dial()
        func use(_ file: String, id: String?) throws {
            let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).compactMap { line in
                if line.contains("key_file:") { return "    key_file: \(file)" }
                return line.contains("key_id:") ? id.map { "    key_id: \($0)" } : String(line)
            }
            try lines.joined(separator: "\n").write(
                toFile: stage.configuration, atomically: true, encoding: .utf8)
            try stage.signal(SIGHUP)
        }
        func isDelivered(_ number: Int) async throws -> Bool {
            var response = try await peer.send(request(number, awaitsOutcome: true))
            if response.status == .stored { response = try await peer.nextResponse(to: response.requestUid) }
            return response.status == .delivered
        }
        #expect(try await isDelivered(1))
        // The new file with the old id: nothing that Apple knows.
        try write(try key.privatePEM().bytes, as: "AuthKey_NEWKEY1234.p8", in: stage)
        try use("AuthKey_NEWKEY1234.p8", id: lab.keyID)
        await stage.logged("credentials.rejected", count: 2)
        let state = try stage.health()["checks"]?["bisq-remote-ios"]?["state"]?.string
        #expect(state?.contains("InvalidProviderToken") == true, "\(state ?? "")")
        #expect(try await isDelivered(2))
        // Its id is in its name.
        try use("AuthKey_NEWKEY1234.p8", id: nil)
        await stage.logged("credentials.reloaded", count: 2)
        stage.world.apple.use(revoking: lab.keyID)
        #expect(try await isDelivered(3))
        #expect(try stage.isWell("bisq-remote-ios"))
        await stage.close()
    }

    /// `systemctl reload` after an edit: what can be is taken over, and the rest is named.
    @Test func whatNeedsARestartIsNamed() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        let debug = text.replacing("level: info", with: "level: debug")
        let other = debug.replacing("token_burst: 100000", with: "token_burst: 100001")
        try #require(debug != text && other != debug)
        func reload(_ text: String) throws {
            try text.write(toFile: stage.configuration, atomically: true, encoding: .utf8)
            try stage.signal(SIGHUP)
        }
        try reload(text)
        await stage.logged("settings.reread")
        try reload(debug)
        await stage.logged("taken=log.level")
        try reload(other)
        await stage.logged("settings.need_restart")
        let line = stage.node.lines.last { $0.contains("settings.need_restart") }
        #expect(line?.hasSuffix("keys=limits.token_burst") == true, "\(line ?? "")")
        await stage.close()
    }

    @Test func aBadNewFileIsToldOnceAndTheOldOneStays() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let key = try stage.world.credentials.providerKeyPEM()
        try write(Array("no key".utf8), as: "AuthKey.p8", in: stage)
        try stage.signal(SIGHUP)
        await stage.logged("credentials.rejected")
        for _ in 0..<2 { try stage.signal(SIGHUP) }
        let peer = try await stage.dial()
        #expect(try await peer.outcome(of: request(1, awaitsOutcome: true)).status == .delivered)
        let state = try stage.health()["checks"]?["bisq-remote-ios"]?["state"]?.string
        #expect(state?.contains("AuthKey.p8") == true)
        try write(key + Array("\n".utf8), as: "AuthKey.p8", in: stage)
        try stage.signal(SIGHUP)
        await stage.logged("credentials.reloaded")
        let lines = stage.node.lines
        let told = lines.count { $0.contains("credentials.rejected") && $0.contains("app=bisq-remote-ios") }
        #expect(told == 1, "\(lines)")
        await stage.close()
    }

    /// A pipe that nobody writes to, in the place of a file: it is not waited for, the old key goes on, and all the rest with
    /// it.
    @Test func aPipeInThePlaceOfAFileHoldsUpNothing() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let (path, pipe) = (stage.world.directory.path + "/AuthKey.p8", stage.world.directory.path + "/pipe")
        #expect(mkfifo(pipe, 0o600) == 0 && rename(pipe, path) == 0)
        try stage.signal(SIGHUP)
        await stage.logged("credentials.rejected")
        let peer = try await stage.dial()
        for number in 1...3 {
            #expect(try await peer.outcome(of: request(number, awaitsOutcome: true)).status == .delivered)
        }
        #expect(try stage.isWell("loop"))
        unlink(path)
        let key = try stage.world.credentials.providerKeyPEM() + Array("\n".utf8)
        try write(key, as: "AuthKey.p8", in: stage)
        try stage.signal(SIGHUP)
        await stage.logged("credentials.reloaded")
        #expect(try await peer.outcome(of: request(4, awaitsOutcome: true)).status == .delivered)
        await stage.close()
    }

    @Test func aNewServiceAccountAndCAFileAreTaken() async throws {
        let stage = try LoopbackStage()
        try write(try CertificateAuthority().rootPEM(), as: "ca.pem", in: stage)
        try await stage.start()
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1, platform: .android, awaitsOutcome: true)).status == .stored)
        await stage.logged("gateway.blocked")
        try write(try stage.world.credentials.authorityPEM(), as: "ca.pem", in: stage)
        try stage.signal(SIGHUP)
        #expect(try await peer.nextResponse(to: "request-1").status == .delivered)
        await stage.close()
    }

    @Test func aCertificateThatEndsSoonFailsHealthUntilItIsReplaced() async throws {
        let stage = try LoopbackStage { text in
            text.split(separator: "\n", omittingEmptySubsequences: false)
                .filter { !$0.contains("key_id:") && !$0.contains("team_id:") }
                .map { $0.contains("key_file:") ? "    certificate_file: push.p12" : String($0) }
                .joined(separator: "\n")
                .replacing(
                    "topic: \(LabWorld.connectTopic)\n    certificate_file: push.p12",
                    with:
                        "topic: \(LabWorld.connectTopic)\n    certificate_file: connect.p12")
        }
        let authority = stage.world.credentials.authority
        func certificate(days: Int64, topic: String = LabWorld.topic) throws -> [UInt8] {
            let now = Int64(time(nil))
            let identity = try authority.client(
                topic: topic, validity: now - 86_400...now + days * 86_400 + 3600)
            return try PKCS12.write(identity, password: "", kind: .modern)
        }
        try write(try certificate(days: 3), as: "push.p12", in: stage)
        try write(try certificate(days: 300, topic: LabWorld.connectTopic), as: "connect.p12", in: stage)
        try await stage.start()
        await stage.logged("certificate.expiring")
        let check = try stage.health()["checks"]?["bisq-remote-ios.certificate"]
        #expect(check?["ok"]?.bool == false)
        #expect(check?["state"]?.string == "the certificate expires in 3 days")
        try write(try certificate(days: -1), as: "push.p12", in: stage)
        try stage.signal(SIGHUP)
        await stage.logged("credentials.rejected")
        try write(try certificate(days: 300), as: "push.p12", in: stage)
        try stage.signal(SIGHUP)
        await stage.logged("credentials.reloaded")
        #expect(try stage.isWell("bisq-remote-ios.certificate"))
        let peer = try await stage.dial()
        #expect(try await peer.outcome(of: request(1, awaitsOutcome: true)).status == .delivered)
        await stage.close()
    }

    /// A certificate without its key is not taken, the old one goes on; with it, it is shown from the next connection on.
    @Test func aNewCertificateOfTheHTTPSListenersIsShownWithoutAStart() async throws {
        let port = try freePort()
        let stage = try LoopbackStage {
            $0 + """

                doors:
                  https: {certificate_file: server.pem, key_file: server-key.pem}
                  web_push: {listen: ["https://127.0.0.1:\(port)"], ios: bisq-remote-ios}

                """
        }
        func health(trusting file: String) throws -> String {
            try run([
                "curl", "-s", "--cacert", stage.world.directory.path + "/" + file,
                "--write-out", "%{http_code}", "https://localhost:\(port)/relay-to/_health",
            ]).output
        }
        let first = try stage.world.credentials.authority.server(names: ["localhost"])
        try write(try first.chainPEM(), as: "server.pem", in: stage)
        try write(try first.keyPEM().bytes, as: "server-key.pem", in: stage)
        try await stage.start()
        #expect(try health(trusting: "ca.pem") == "200")
        let other = try CertificateAuthority()
        let second = try other.server(names: ["localhost"])
        try write(try other.rootPEM(), as: "other.pem", in: stage)
        try write(try second.chainPEM(), as: "server.pem", in: stage)
        try stage.signal(SIGHUP)
        await stage.logged("credentials.rejected")
        #expect(try health(trusting: "ca.pem") == "200")
        // Half-way through a renewal: also where the old key is of another kind, which OpenSSL takes.
        let check = try stage.health()["checks"]?["https.certificate"]
        #expect(check?["level"]?.string == "warning", "\(String(describing: check))")
        #expect(check?["state"]?.string?.contains("the files as they are now were refused") == true)
        try write(try SigningKey.generate(.rs256).privatePEM().bytes, as: "server-key.pem", in: stage)
        try stage.signal(SIGHUP)
        await stage.logged("credentials.rejected", count: 2)
        #expect(try health(trusting: "ca.pem") == "200")
        try write(try second.keyPEM().bytes, as: "server-key.pem", in: stage)
        try stage.signal(SIGHUP)
        await stage.logged("credentials.reloaded")
        #expect(try stage.health()["checks"]?["https.certificate"]?["level"]?.string == "ok")
        #expect(try health(trusting: "other.pem") == "200")
        #expect(try health(trusting: "ca.pem") == "000")
        await stage.close()
    }
}
