import Crypto
import Encodings
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing

/// What the running program shows its operator.
@EventLoop
@Suite struct WatchingTests {
    private func ask(
        _ path: String, of stage: LoopbackStage, _ options: [String] = []
    ) throws -> (head: String, body: String) {
        let socket = stage.world.directory.path + "/management"
        let answer = try run(
            ["curl", "-s", "-i", "--unix-socket", socket] + options + ["http://localhost\(path)"])
        let parts = answer.output.components(separatedBy: "\r\n\r\n")
        return (parts[0], parts.dropFirst().joined(separator: "\r\n\r\n"))
    }

    private func status(_ stage: LoopbackStage, _ options: [String] = []) throws -> CommandResult {
        try run([program, "status", "--config", stage.configuration] + options)
    }

    @Test func theOperatorSeesWhatTheNodeDoes() async throws {
        let stage = try LoopbackStage { $0 + "storage: {write_behind: 0}\n" }
        try await stage.start()
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1)).status == .stored)
        #expect(try await peer.outcome(of: request(2, awaitsOutcome: true)).status == .delivered)

        let page = try ask("/", of: stage)
        #expect(page.head.hasPrefix("HTTP/1.1 200 "))
        #expect(page.body.contains("<h1>The node is getting ready: "))  // There is no network for tor.
        let style = try #require(page.body.firstMatch(of: /<style>(.*?)<\/style>/.dotMatchesNewlines()))
            .output.1
        let digest = Base64.encode(Hash.sha256(Array(style.utf8)))
        let script = try #require(page.body.firstMatch(of: /<script>(.*?)<\/script>/.dotMatchesNewlines()))
            .output.1
        let scriptDigest = Base64.encode(Hash.sha256(Array(script.utf8)))
        #expect(
            page.head.contains(
                "content-security-policy: default-src 'none'; style-src 'sha256-\(digest)'; "
                    + "script-src 'sha256-\(scriptDigest)'; connect-src 'self';"))
        // Of this page, and of one in another state.
        let icon = try #require(page.body.firstMatch(of: /<link rel="icon" href="(.*?)">/)).output.1
        for path in [String(icon), "/favicon-failing.svg"] {
            #expect(try ask(path, of: stage).head.contains("content-type: image/svg+xml"), "\(path)")
        }
        #expect(try ask("/docs/ReasonCodes.md", of: stage).body.hasPrefix("# Every reason code"))
        for path in ["/docs/Nothing.md", "/docs/../Onionbell.md", "/docs/.md", "/docs/a%2fb.md"] {
            #expect(!(try ask(path, of: stage).head.hasPrefix("HTTP/1.1 200 ")), "\(path)")
        }

        let metrics = try ask("/metrics", of: stage)
        #expect(metrics.head.contains("content-type: text/plain; version=0.0.4"))
        for line in [
            "onionbell_submissions_total{endpoint=\"peer\",result=\"stored\"} 2",
            "onionbell_outbox_notifications{app=\"bisq-remote-ios\",environment=\"production\"} 0",
            "onionbell_onion_published 0", "onionbell_tor_connected 1", "onionbell_peer_connections 1",
            "onionbell_gateway_connections{app=\"bisq-remote-ios\",environment=\"production\"} 1",
        ] {
            #expect(metrics.body.contains("\n\(line)\n"), "\(line)")
        }
        #expect(metrics.body.contains("outcome=\"delivered\",reason=\"\"} 2\n"))

        for path in ["/healthz", "/readyz"] {
            let health = try ask(path, of: stage)
            #expect(health.head.hasPrefix("HTTP/1.1 503 "))
            let checks = try JSON(Array(health.body.utf8))["checks"]
            #expect(checks?["onion"]?["ok"]?.bool == false)
            #expect(checks?["outbox"]?["ok"]?.bool == true)
        }
        peer.close()
        await stage.close()
    }

    /// What was delivered before it, and what changed.
    @Test func aRestartForgetsNothingOfTheLastDay() async throws {
        let stage = try LoopbackStage()
        for start in 1...2 {
            try await stage.start()
            let peer = try await stage.dial()
            #expect(try await peer.outcome(of: request(start, awaitsOutcome: true)).status == .delivered)
            peer.close()
            let json = try JSON(Array(try status(stage, ["--json"]).output.utf8))
            #expect(json["last_day"]?["delivered"]?.integer == Int64(start))
            if start == 1 { await stage.node.stop() }
        }
        let page = try ask("/", of: stage).body
        #expect(page.components(separatedBy: "the node started").count == 3)
        var facts = stat()
        #expect(stat(stage.world.state + "/history", &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        await stage.close()
    }

    /// A watch from outside is told as that, and no refusal.
    @Test func aProbeIsNoRefusal() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let peer = try await stage.dial()
        var probe = request(1, awaitsOutcome: true)
        probe.deviceToken = "6f6e696f6e62656c6c2077617463683a206e6f20737563682064657669636521"
        _ = try await peer.send(probe)
        #expect(try await peer.nextResponse(to: "request-1").status == .refused)
        let json = try JSON(Array(try status(stage, ["--json"]).output.utf8))
        #expect(json["last_day"]?["refused"]?.object?.isEmpty == true)
        let lane = json["gateways"]?.array?.first { $0["app"]?.string == "bisq-remote-ios" }
        #expect(lane?["probes"]?.integer == 1 && lane?["refused"]?.object?.isEmpty == true)
        let metrics = try ask("/metrics", of: stage).body
        #expect(
            metrics.contains("onionbell_probes_total{app=\"bisq-remote-ios\",environment=\"production\"} 1\n")
        )
        #expect(!metrics.contains("outcome=\"refused\",reason=\"BadDeviceToken\""))
        #expect(try ask("/", of: stage).body.contains("<b>1</b><span>checks from outside</span>"))
        peer.close()
        await stage.close()
    }

    @Test func hitsOfLimitsAreCountedShownAndExplained() async throws {
        let stage = try LoopbackStage { text in
            let apps = "apps: [bisq-remote-ios]"
            // The world's directory is the configuration's, to which paths are relative.
            let place = "listen: [\"127.0.0.1:0\"]"
            return text.replacing("peers: {", with: "peers: {connections: 1, ") + """

                doors:
                  gorush: {\(place), \(apps)}
                  web_push: {\(place)}
                  bitwarden: {\(place), \(apps)}
                  status: {\(place), stream: ["127.0.0.1:0"], \(apps)}
                """
        }
        try await stage.start()
        let peer = try await stage.dial()
        _ = try await peer.ping()
        let second = try await stage.dial()
        #expect(await peer.whenClosed() == .closedByNode(.tooManyConnections))
        _ = try await second.ping()

        let metrics = try ask("/metrics", of: stage).body
        #expect(metrics.contains("\nonionbell_limits_hit_total{limit=\"peer_connections\"} 1\n"))
        #expect(try ask("/", of: stage).body.contains("1\u{a0}peer_connections"))
        #expect(try status(stage).output.contains("\nLimits hit       1 peer_connections\n"))

        let article = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/Programs/Onionbell/Onionbell.docc/Metrics.md"),
            encoding: .utf8)
        let told = article.split(separator: "## Limits\n").last.map(String.init) ?? ""
        #expect(
            Set(metrics.matches(of: /limits_hit_total\{limit="(\w+)"/).map { String($0.output.1) })
                == Set(
                    told.matches(of: /`((?:peer|circuit|connection|https?|endpoint|status)_\w+)`/).map {
                        String($0.output.1)
                    }))
        peer.close()
        await stage.close()
    }

    /// As long as somebody holds all places, and no longer.
    @Test func takenPlacesTurnHealthRed() async throws {
        let stage = try LoopbackStage { $0.replacing("peers: {", with: "peers: {connections: 2, ") }
        try await stage.start()
        #expect(try stage.isWell("connections"))
        let peers = [try await stage.dial(), try await stage.dial()]
        for peer in peers { _ = try await peer.ping() }
        let check = try stage.health()["checks"]?["connections"]
        #expect(check?["ok"]?.bool == false && check?["advice"]?.string?.isEmpty == false)
        for peer in peers { peer.close() }
        try await until { try stage.isWell("connections") }
        await stage.close()
    }

    @Test func onlyWhatIsServedIsAnswered() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        #expect(try ask("/etc/passwd", of: stage).head.hasPrefix("HTTP/1.1 404 "))
        // An endpoint that has no address has no figures.
        let metrics = try ask("/metrics", of: stage).body
        #expect(metrics.contains("endpoint=\"bisq1\"") && !metrics.contains("web_push"))
        #expect(try ask("/", of: stage, ["-X", "POST", "-d", "x"]).head.hasPrefix("HTTP/1.1 405 "))
        for host in [
            "evil.example", "evil.example:9400", "127.0.0.1.evil.example", "localhost.evil", "abc.onion",
            "0.0.0.0:9400", "[::]:9400", ":9400",
        ] {
            #expect(
                try ask("/", of: stage, ["-H", "Host: \(host)"]).head.hasPrefix("HTTP/1.1 403 "), "\(host)")
        }
        for host in ["127.0.0.1:9400", "[::1]:9400", "LOCALHOST:9400"] {
            #expect(
                try ask("/", of: stage, ["-H", "Host: \(host)"]).head.hasPrefix("HTTP/1.1 200 "), "\(host)")
        }
        // As HTTP/1.0 and RFC 9112 have it: no host, and an empty one.
        for arguments in [["--http1.0", "-H", "Host:"], ["-H", "Host;"]] {
            #expect(try ask("/", of: stage, arguments).head.hasPrefix("HTTP/1.1 403 "), "\(arguments)")
        }
        // Whatever is answered: it is not kept, framed, embedded, or taken for another type.
        for path in [
            "/", "/healthz", "/metrics", "/status.json", "/docs/ReasonCodes.md", "/docs/Nothing.md", "/none",
        ] {
            let head = try ask(path, of: stage).head.lowercased()
            for field in [
                "cache-control: no-store", "x-content-type-options: nosniff", "x-frame-options: deny",
                "referrer-policy: no-referrer", "frame-ancestors 'none'",
                "cross-origin-resource-policy: same-origin",
            ] { #expect(head.ranges(of: field).count == 1, "\(path): \(field)") }
        }
        await stage.close()
    }

    @Test func statusIsAskedOverTheNodesOwnSocket() async throws {
        let stage = try LoopbackStage()
        #expect(try status(stage).status == 69)
        try await stage.start()
        var facts = stat()
        #expect(stat(stage.world.state + "/status", &facts) == 0)
        #expect(facts.st_mode & 0o777 == 0o600)
        let plain = try status(stage)
        #expect(plain.status == 0)
        #expect(plain.output.hasPrefix("Onionbell "))
        #expect(plain.output.contains("bisq-remote-ios.sandbox"))
        #expect(!plain.output.contains("\u{1b}"))
        let json = try JSON(Array(try status(stage, ["--json"]).output.utf8))
        #expect(json["status"]?.string == "failing")
        #expect(json["gateways"]?.array?.count == 5)
        await stage.node.stop()
        let stopped = try status(stage)
        #expect(stopped.status == 69)
        #expect(stopped.errors.contains("no node"))
        #expect(try status(stage, ["--interval", "0"]).status == 64)
        await stage.close()
    }
}
