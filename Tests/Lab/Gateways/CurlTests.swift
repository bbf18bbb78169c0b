import Foundation
import Reactor
import TLS
import Testing

@testable import Lab

/// A client that is not ours: curl, where it is installed.
@EventLoop
@Suite(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed"))
struct CurlTests {
    let lab: LabCredentials

    init() async { lab = await LabCredentials.prepared() }

    /// The lines that curl wrote: the answer's body, then status and HTTP version.
    private func curl(_ arguments: [String]) async throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "lab-\(UUID().uuidString).pem")
        try Data(lab.authorityPEM()).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var lines: [String] = []
        var process: ChildProcess?
        await withCheckedContinuation { continuation in
            process = try? ChildProcess(
                [
                    "curl", "--silent", "--cacert", file.path, "--write-out",
                    "\n%{http_code} %{http_version}\n",
                ]
                    + arguments,
                onLine: { lines.append($0) }, onExit: { _ in continuation.resume() })
            if process == nil { continuation.resume() }
        }
        return lines.filter { !$0.isEmpty }
    }

    @Test(arguments: ["1.2", "1.3"])
    func pushesOverHTTP2(tls version: String) async throws {
        let simulator = try GatewaySimulator(
            .apns(lab.apnsRules(topics: [LabCredentials.topic])), try lab.serverContext())
        var arguments = ["--http2", "--tls-max", version, "--data", #"{"aps":{"alert":"x"}}"#]
        for (name, value) in try lab.pushFields() { arguments += ["--header", "\(name): \(value)"] }
        let url = "\(simulator.url)/3/device/"
        #expect(try await curl(arguments + [url + LabCredentials.deviceToken]) == ["200 2"])
        #expect(simulator.book.first?.body == Array(#"{"aps":{"alert":"x"}}"#.utf8))
        #expect(
            try await curl(arguments + [url + "xyz"]) == [#"{"reason":"BadDeviceToken"}"#, "400 2"])
        simulator.close()
    }

    @Test(arguments: [("--http1.1", "1.1"), ("--http2", "2")])
    func fetchesAnAccessTokenAndSends(option: String, version: String) async throws {
        let simulator = try GatewaySimulator(.fcm(lab.fcmRules()), try lab.serverContext())
        let audience = simulator.url + "/token"
        let answer = try await curl([
            option, "--data-urlencode", "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer",
            "--data-urlencode",
            "assertion=\(try lab.assertion(audience: audience))", audience,
        ])
        #expect(answer.last == "200 \(version)")
        let bearer = try #require(answer.first?.split(separator: "\"").first { $0.hasPrefix("lab.") })
        let token = String(repeating: "a", count: 40)
        let send = [
            option, "--header", "Authorization: Bearer \(bearer)", "--header",
            "Content-Type: application/json",
            "--data", #"{"message":{"token":"\#(token)"}}"#,
            "\(simulator.url)/v1/projects/\(lab.projectID)/messages:send",
        ]
        #expect(
            try await curl(send) == [#"{"name":"projects/onionbell-lab/messages/0:1"}"#, "200 \(version)"])
        #expect(simulator.book.map(\.deviceToken) == [token])
        simulator.close()
    }

    @Test func anUntrustedServerIsRefusedByCurlToo() async throws {
        let stranger = try await LabCredentials.stranger()
        let simulator = try GatewaySimulator(.fcm(lab.fcmRules()), try stranger.serverContext())
        #expect(try await curl([simulator.url]) == ["000 0"])
        #expect(simulator.figures.requests == 0)
        simulator.close()
    }
}
