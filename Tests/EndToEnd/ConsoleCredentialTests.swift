import Client
import Encodings
import Foundation
import HTTP1
import JSONCoding
import Lab
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// Apple's and Google's credentials from the owner's hands, at the built node and simulated services.
@EventLoop
@Suite(.serialized) struct ConsoleCredentialTests {
    /// A node without credentials, and its owner who has entered.
    private func owned() async throws -> (LoopbackStage, ConsoleBrowser) {
        let port = try freePort()
        let stage = try LoopbackStage { text in
            text.split(separator: "\n", omittingEmptySubsequences: false)
                .filter { line in
                    !["key_file:", "key_id:", "team_id:", "service_account_file:"].contains {
                        line.contains($0)
                    }
                }
                .joined(separator: "\n") + "\nconsole: {listen: [\"127.0.0.1:\(port)\"]}\n"
        }
        try await stage.start()
        let owner = try await stage.owner(at: port)
        return (stage, owner)
    }

    private func file(_ bytes: [UInt8]) -> JSON { .string(String(decoding: bytes, as: UTF8.self)) }

    private func keys(of stage: LoopbackStage) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: stage.world.state + "/gateway-keys")) ?? []
    }

    private func apple(_ stage: LoopbackStage, keyID: String? = nil, _ key: [UInt8]? = nil) throws -> JSON {
        let known = stage.world.credentials
        return [
            "way": "apple", "file": file(try key ?? known.providerKeyPEM()),
            "key_id": .string(keyID ?? known.keyID), "team_id": .string(known.teamID),
        ]
    }

    /// Takes what a call proposes, as the console's switch does.
    private func take(_ plan: JSON, _ stage: LoopbackStage, _ owner: ConsoleBrowser) async throws {
        let text = try #require(plan["text"])
        let version = try #require(plan["version"])
        let starts = stage.node.lines.count { $0.contains("node.started") }
        let (status, put) = try await owner.json(
            "PUT", "/api/v1/settings",
            (["text": text, "version": version, "start": .bool(true)] as JSON).text)
        #expect(status == 200, "\(put?.text ?? "")")
        #expect(try await owner.json("POST", "/api/v1/restart", "{}").0 == 202)
        await stage.logged("node.started", count: starts + 1)
    }

    @Test func aKeyThatAppleTakesRingsAfterARestartInPlace() async throws {
        let (stage, owner) = try await owned()
        let (status, answer) = try await owner.json(
            "POST", "/api/v1/ways/key", apple(stage).text)
        let plan = try #require(answer)
        #expect(status == 200 && plan["service"]?.string == "taken", "\(plan.text)")
        #expect(plan["needs_restart"]?.array?.isEmpty == false, "\(plan.text)")
        #expect(plan["fault_count"]?.integer == 0 && plan["reach"]?.string == "nobody", "\(plan.text)")
        let path = stage.world.state + "/gateway-keys/AuthKey_\(stage.world.credentials.keyID).p8"
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(stage.world.credentials.providerKeyPEM()))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        try await take(plan, stage, owner)
        let response = try await stage.dial().outcome(of: request(1, awaitsOutcome: true))
        #expect(response.status == .delivered, "\(response)")
        let ways = try await owner.json("GET", "/api/v1/ways").1?["ways"]?.array ?? []
        #expect(ways.first { $0["way"]?.string == "apple" }?["state"]?.string == "on")
        await stage.close()
    }

    /// A certificate with its key, as macOS Keychain exports it, and its password.
    @Test func aCertificateThatAppleTakesRingsAfterARestartInPlace() async throws {
        let (stage, owner) = try await owned()
        let certificate = try stage.world.credentials.certificateFile(
            topic: LabWorld.topic, password: "pass word")
        func asked(_ password: String) -> String {
            let body: JSON = [
                "way": "apple", "file": .string(Base64.encode(certificate)), "password": .string(password),
            ]
            return body.text
        }
        for (password, code) in [("", "certificate_password"), ("wrong", "certificate_password_wrong")] {
            let (status, answer) = try await owner.json("POST", "/api/v1/ways/key", asked(password))
            #expect(status == 422 && answer?["code"]?.string == code, "\(answer?.text ?? "")")
        }
        #expect(keys(of: stage).isEmpty)
        let (status, answer) = try await owner.json("POST", "/api/v1/ways/key", asked("pass word"))
        let plan = try #require(answer)
        #expect(status == 200 && plan["service"]?.string == "taken", "\(plan.text)")
        #expect(plan["fault_count"]?.integer == 0, "\(plan.text)")
        #expect(keys(of: stage).sorted().map { $0.split(separator: ".").last } == ["p12", "password"])
        // Once more it is the same.
        #expect(
            try await owner.json("POST", "/api/v1/ways/key", asked("pass word")).1?["text"] == plan["text"])

        try await take(plan, stage, owner)
        let response = try await stage.dial().outcome(of: request(1, awaitsOutcome: true))
        #expect(response.status == .delivered, "\(response)")
        await stage.close()
    }

    @Test func whatAppleRefusesOrIsNoKeyIsNotKept() async throws {
        let (stage, owner) = try await owned()
        let foreign = try run([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
        ])
        let cases: [(JSON, String)] = [
            (try apple(stage, Array(foreign.output.utf8)), "service_refuses"),
            (try apple(stage, keyID: "XYZ987XYZ9"), "service_refuses"),
            (try apple(stage, keyID: "../../onio"), "unfit_ids"),
            (try apple(stage, keyID: ""), "unfit_ids"),
            (try apple(stage, Array("no key".utf8)), "unfit_credential"),
            (["way": "google", "file": "{}"], "unfit_credential"),
            (
                ["way": "google", "file": file(try stage.world.credentials.providerKeyPEM())],
                "unfit_credential"
            ),
        ]
        for (body, code) in cases {
            let (status, answer) = try await owner.json("POST", "/api/v1/ways/key", body.text)
            #expect(status == 422 && answer?["code"]?.string == code, "\(answer?.text ?? "")")
        }
        #expect(keys(of: stage).isEmpty)
        for word in ["foreign", "no key"] { #expect(!stage.node.lines.contains { $0.contains(word) }) }
        await stage.close()
    }

    @Test func aKeyInUseStaysAndOneThatNothingNamesGoes() async throws {
        let (stage, owner) = try await owned()
        let google = try stage.world.credentials.serviceAccountFile(
            tokenURL: stage.world.google.url + "/token")
        let asked: JSON = ["way": "google", "file": file(google)]
        #expect(try await owner.json("POST", "/api/v1/ways/key", asked.text).0 == 200)
        #expect(keys(of: stage).count == 1)
        let (status, plan) = try await owner.json("POST", "/api/v1/ways/key", apple(stage).text)
        #expect(status == 200)
        #expect(keys(of: stage) == ["AuthKey_\(stage.world.credentials.keyID).p8"])
        try await take(try #require(plan), stage, owner)
        #expect(try await owner.json("POST", "/api/v1/ways/key", asked.text).0 == 200)
        #expect(keys(of: stage).count == 2)

        // A copy has the key, and brings it back.
        let key = stage.world.state + "/gateway-keys/AuthKey_\(stage.world.credentials.keyID).p8"
        let passphrase: JSON = "correct horse battery"
        let copy = try await owner.send(
            "POST", "/api/v1/backup", (["passphrase": passphrase] as JSON).text)
        #expect(copy.status == 200)
        try FileManager.default.removeItem(atPath: key)
        let (restored, answer) = try await owner.json(
            "POST", "/api/v1/restore",
            ([
                "passphrase": passphrase, "file": .string(Base64.encode(copy.body)), "look": .bool(false),
                "old_node_stopped": .bool(true),
            ] as JSON).text)
        #expect(restored == 200, "\(answer?.text ?? "")")
        await stage.node.stop()
        try await stage.start()
        #expect(
            try Data(contentsOf: URL(filePath: key)) == Data(stage.world.credentials.providerKeyPEM()))
        await stage.close()
    }

    /// A server that is none of ntfy's is seen before the way is switched on, and one that is not there is told.
    @Test func aServerOfNtfyIsAskedBeforeItIsTaken() async throws {
        let (stage, owner) = try await owned()
        let port = try freePort()
        let asked = { (port: UInt16) in
            try await owner.json(
                "POST", "/api/v1/ways/check",
                ([
                    "way": "ntfy", "on": .bool(true), "address": .string("http://127.0.0.1:\(port)"),
                ] as JSON).text)
        }
        let (status, plan) = try await asked(port)
        #expect(status == 200 && plan?["service"]?.string == "unclear", "\(plan?.text ?? "")")
        #expect(plan?["reason"]?.string?.contains("127.0.0.1") == true)
        // The console itself is no ntfy server.
        let (refused, refusal) = try await asked(owner.port)
        #expect(refused == 422 && refusal?["code"]?.string == "service_refuses", "\(refusal?.text ?? "")")
        #expect(refusal?["message"]?.string?.contains("no ntfy server") == true)
        await stage.close()
    }
}
