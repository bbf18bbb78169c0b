import Foundation
import HTTP1
import JSONCoding
import Lab
import LabParts
import Processes
import Reactor
import Testing

/// The console's login at the built node, and whoever tries to get by it.
@EventLoop
@Suite(.serialized) struct ConsoleLoginTests {
    private func linkCommand(_ stage: LoopbackStage) async throws -> CommandResult {
        let words = [program, "console", "link", "--config", stage.configuration]
        return try await Task.detached { try run(words) }.value
    }

    @Test func theLinkInItsFileLetsInOnceAndMakesAnOwner() async throws {
        let port = try freePort()
        let stage = try LoopbackStage(consoleAt: port)
        try await stage.start()
        let (file, ownerFile) = (stage.world.state + "/console-link", stage.world.state + "/console-owner")
        let secret = try await stage.linkInFile()
        #expect(secret.utf8.count == 27)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let owner = ConsoleBrowser(port)
        #expect(try await owner.send("GET", "/api/v1/state").status == 401)
        #expect(try await owner.enter("link", secret) == 204)
        try await until { !FileManager.default.fileExists(atPath: file) }
        let (status, state) = try await owner.json("GET", "/api/v1/state")
        #expect(status == 200 && state?["version"]?.string != nil)
        #expect(try await owner.send("GET", "/status.txt").status == 200)
        let kept = try String(contentsOfFile: ownerFile, encoding: .utf8)
        let token = try #require(owner.cookie?.split(separator: "=").last.map(String.init))
        #expect(!kept.contains(token) && !kept.contains(secret))

        // Replayed: by another, and by the one who had it.
        let thief = ConsoleBrowser(port)
        #expect(try await thief.enter("link", secret) == 403)
        #expect(thief.cookie == nil)
        #expect(try await owner.enter("link", secret) == 403)

        // A session outlives a restart; who has left has none.
        await stage.node.stop()
        try await stage.start()
        #expect(try await owner.send("GET", "/api/v1/state").status == 200)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(try await owner.send("DELETE", "/api/v1/session").status == 204)
        #expect(try await owner.send("GET", "/api/v1/state").status == 401)
        await stage.close()
    }

    @Test func theCommandsLinkEndsTheOneBefore() async throws {
        let port = try freePort()
        let stage = try LoopbackStage(consoleAt: port)
        try await stage.start()
        func link() async throws -> String {
            let made = try await linkCommand(stage)
            #expect(made.status == 0, "\(made.errors)")
            #expect(made.output.hasPrefix("http://127.0.0.1:\(port)/#enter="))
            return made.output.trimmingCharacters(in: .newlines).components(separatedBy: "#enter=")[1]
        }
        let first = try await stage.linkInFile()
        let second = try await link()
        #expect(try await stage.linkInFile() == second)
        let third = try await link()
        let browser = ConsoleBrowser(port)
        for old in [first, second] { #expect(try await browser.enter("link", old) == 403) }
        #expect(try await browser.enter("link", third) == 204)
        #expect(try await ConsoleBrowser(port).enter("link", link()) == 204)
        await stage.close()
    }

    @Test func withoutAConsoleThereIsNoLink() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let made = try await linkCommand(stage)
        #expect(made.status == 1 && made.errors.contains("set console.listen"), "\(made.errors)")
        await stage.close()
    }

    /// A guesser gets the same answer whatever there is, then has to wait; who has a session or a link does not.
    @Test func whoGuessesLearnsNothingAndKeepsNobodyOut() async throws {
        let port = try freePort()
        let stage = try LoopbackStage(consoleAt: port)
        try await stage.start()
        let secret = try await stage.linkInFile()
        let guesser = ConsoleBrowser(port)
        func told(_ key: String, _ value: String) async throws -> HTTPResponse {
            try await guesser.send("POST", "/api/v1/session", #"{"\#(key)":"\#(value)"}"#)
        }
        let page = try await guesser.send("GET", "/api/v1/state")
        let withoutOwner = try await [told("link", "wrong"), told("passphrase", "wrong horse")]
        let owner = ConsoleBrowser(port)
        let flooder = ConsoleBrowser(port)
        var flood: [Int] = []
        repeat {
            flood.append(try await flooder.enter("link", "wrong\(flood.count)"))
        } while flood.last == 403
        #expect(flood.count > 20 && flood.last == 429)
        #expect(try await owner.enter("link", secret) == 204)
        #expect(
            try await owner.send("PUT", "/api/v1/passphrase", #"{"passphrase":"short"}"#).status == 422)
        #expect(
            try await owner.send("PUT", "/api/v1/passphrase", #"{"passphrase":"correct horse"}"#).status
                == 204)
        var link = try await told("link", "wrong")
        // The flood has used up what this machine may try for a moment.
        try await until {
            if link.status == 429 { link = try await told("link", "wrong") }
            return link.status != 429
        }
        let withOwner = [link, try await told("passphrase", "wrong horse")]
        #expect(withOwner == withoutOwner && withOwner[0] == withOwner[1])
        #expect(withOwner[0].status == 403)
        #expect(try await guesser.send("GET", "/api/v1/state") == page)
        for unknown in ["/api/v1/phones", "/api/v1/none", "/api/v2", "/status.txt"] {
            #expect(try await guesser.send("GET", unknown).status == 401, "\(unknown)")
        }

        let known = ConsoleBrowser(port)
        let first = try await known.send("POST", "/api/v1/session", #"{"passphrase":"correct horse"}"#)
        #expect(first.status == 204)
        // The session's cookie comes first, then the mark.
        var cookies: [String] = []
        _ = first.fields.firstResult(of: "set-cookie") { value -> Bool? in
            cookies.append(value.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
            return nil
        }
        #expect(cookies.count == 2)
        known.cookie = cookies.last.map { String($0.prefix { $0 != ";" }) }
        #expect(known.cookie?.hasPrefix("onionbell-\(port)-known=") == true)
        #expect(try await known.send("GET", "/api/v1/state").status == 401)
        #expect(try await known.enter("passphrase", "correct horse") == 204)
        #expect(try await owner.send("GET", "/api/v1/state").status == 200)
        await stage.close()
    }

    @Test func anotherPassphraseEndsTheOtherSessions() async throws {
        let (stage, owner) = try await LoopbackStage.owned(passphrase: "correct horse")
        let port = owner.port
        let second = ConsoleBrowser(port)
        // By the form, for who has no scripts: browsers write a blank as a plus sign.
        let form = try await ConsoleBrowser(port).send(
            "POST", "/enter", "link=&passphrase=correct+horse",
            ["content-type": "application/x-www-form-urlencoded"])
        #expect(form.status == 303 && form.fields["set-cookie"] != nil)
        #expect(try await second.enter("passphrase", "correct horse") == 204)
        #expect(
            try await owner.send("PUT", "/api/v1/passphrase", #"{"passphrase":"battery staple"}"#).status
                == 204)
        #expect(try await second.send("GET", "/api/v1/state").status == 401)
        #expect(try await owner.send("GET", "/api/v1/state").status == 200)
        #expect(try await second.enter("passphrase", "correct horse") == 403)
        #expect(try await owner.send("DELETE", "/api/v1/passphrase").status == 204)
        #expect(try await second.enter("passphrase", "battery staple") == 403)
        await stage.close()
    }

    /// A page from elsewhere, another name, a form, a frame, a cookie from outside.
    @Test func aStrangersPageGetsNowhere() async throws {
        let port = try freePort()
        let stage = try LoopbackStage(consoleAt: port)
        try await stage.start()
        let secret = try await stage.linkInFile()
        let owner = ConsoleBrowser(port)
        // Fixation: a cookie that was there before is not the session's.
        owner.cookie = "onionbell-\(port)=\(String(repeating: "A", count: 43))"
        let planted = owner.cookie
        #expect(try await owner.enter("link", secret) == 204)
        #expect(owner.cookie != planted)
        #expect(try await ConsoleBrowser(port, cookie: planted).send("GET", "/api/v1/state").status == 401)
        // Beside the real one it keeps nobody out.
        let both = ConsoleBrowser(port, cookie: "\(planted ?? ""); x; \(owner.cookie ?? "")")
        #expect(try await both.send("GET", "/api/v1/state").status == 200)
        // Nor do any number of cookies of other programs.
        let others = (0..<200).map { "other\($0)=value" }.joined(separator: "; ")
        let last = ConsoleBrowser(port, cookie: "\(others); \(owner.cookie ?? "")")
        #expect(try await last.send("GET", "/api/v1/state").status == 200)

        for (name, value) in [
            ("origin", "http://evil.example"), ("origin", "null"), ("origin", ""),
            ("origin", "http://localhost:\(port)"), ("onionbell-console", ""),
            ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"),
            ("content-type", "text/plain"),
        ] {
            let answer = try await owner.send(
                "PUT", "/api/v1/passphrase", #"{"passphrase":"the stranger's"}"#, [name: value])
            #expect(answer.status == 403, "\(name): \(value)")
        }
        #expect(
            try await owner.send("GET", "/api/v1/state", nil, ["sec-fetch-site": "same-site"]).status == 403)
        for host in ["evil.example", "evil.example:\(port)", "127.0.0.1", "0.0.0.0:\(port)", "[::1]:\(port)"]
        {
            #expect(try await owner.send("GET", "/api/v1/state", host: host).status == 403, "\(host)")
            #expect(try await owner.send("GET", "/", host: host).status == 403, "\(host)")
        }
        #expect(try await ConsoleBrowser(port).enter("passphrase", "the stranger's") == 403)

        for path in ["/", "/api/v1/state", "/none"] {
            let answer = try await owner.send("GET", path)
            let policy = answer.fields["content-security-policy"] ?? ""
            #expect(policy.hasSuffix("frame-ancestors 'none'") && policy.hasPrefix("default-src 'none'"))
            #expect(answer.fields["x-frame-options"] == "DENY")
            #expect(answer.fields["referrer-policy"] == "no-referrer")
        }
        let set = try await owner.send("DELETE", "/api/v1/session").fields["set-cookie"] ?? ""
        #expect(set.contains("HttpOnly") && set.contains("SameSite=Strict") && set.contains("Max-Age=0"))
        await stage.close()
    }

    /// Behind a platform's proxy: another name, a Unix socket, and a share for each of the proxy's clients.
    @Test(.enabled(if: LabNginx.isInstalled, "nginx is not installed: Deploy/tools/dependencies test"))
    func behindAProxyEachClientHasAShareOfHisOwn() async throws {
        let port = try freePort()
        let directory = try LabDirectory()
        let origin = "http://node.example.org:\(port)"
        let stage = try LoopbackStage {
            $0.replacing("\nhttp:\n", with: "\nhttp:\n  client_address_header: X-Forwarded-For\n")
                + "console: {listen: [\"unix:\(directory.path)/console\"], origins: [\"\(origin)\"]}\n"
        }
        try await stage.start()
        let nginx = try await LabNginx(
            """
            server {
                listen 127.0.0.1:\(port);
                location / {
                    proxy_pass http://unix:\(directory.path)/console;
                    proxy_set_header Host $http_host; \(LabNginx.forwarding)
                }
            }
            """, in: directory.path)
        func told(
            _ body: String, from client: String, to host: String = "node.example.org", _ more: String...
        ) async throws -> String {
            let words =
                [
                    "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--interface", client,
                    "-H", "Host: \(host):\(port)", "-H", "Origin: \(origin)",
                    "-H", "onionbell-console: 1", "-H", "content-type: application/json", "-d", body,
                    "http://127.0.0.1:\(port)/api/v1/session",
                ] + more
            return try await Task.detached { try run(words).output }.value
        }
        let text = try await stage.linkInFile()
        let wrong = #"{"passphrase":"wrong horse"}"#
        var answers: [String] = []
        // Whatever it says of itself, it is who the proxy says.
        repeat {
            answers.append(
                try await told(
                    wrong, from: "127.0.0.10", "-H", "X-Forwarded-For: 10.0.0.\(answers.count % 250)"))
        } while answers.last == "403"
        #expect(answers.count > 5 && answers.last == "429", "\(answers)")
        #expect(try await told(wrong, from: "127.0.0.11") == "403")
        #expect(
            try await told(#"{"link":"\#(text)"}"#, from: "127.0.0.10", to: "127.0.0.1")
                == "403")
        #expect(try await told(#"{"link":"\#(text)"}"#, from: "127.0.0.10") == "204")
        await nginx.stop()
        await stage.close()
        await directory.remove()
    }

    /// Whoever damages the file does not become the owner by it.
    @Test func aDamagedFileOpensNothing() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        await stage.node.stop()
        let file = stage.world.state + "/console-owner"
        try "{\"sessions\":[{}]}".write(toFile: file, atomically: true, encoding: .utf8)
        try await stage.start()
        await stage.logged("console.owner_unreadable")
        #expect(try await owner.send("GET", "/api/v1/state").status == 401)
        #expect(!FileManager.default.fileExists(atPath: stage.world.state + "/console-link"))
        await stage.close()
    }

    /// What was made before a restart, and what another tab has.
    @Test func aLinkEndsWithTheNodeAndTwoTabsAreOneSession() async throws {
        let port = try freePort()
        let stage = try LoopbackStage(consoleAt: port)
        try await stage.start()
        let old = try await stage.linkInFile()
        await stage.node.stop()
        try await stage.start()
        await stage.logged("console.link_written")
        let new = try await stage.linkInFile()
        #expect(new != old)
        let owner = ConsoleBrowser(port)
        #expect(try await owner.enter("link", old) == 403)
        #expect(try await owner.enter("link", new) == 204)
        let tab = ConsoleBrowser(port, cookie: owner.cookie)
        // Two who change the same thing: the second is told.
        async let first = owner.send("POST", "/api/v1/peers", #"{"name":"carol"}"#)
        async let second = tab.send("POST", "/api/v1/peers", #"{"name":"carol"}"#)
        #expect(try await [first.status, second.status].sorted() == [201, 409])
        #expect(try await tab.send("DELETE", "/api/v1/session").status == 204)
        #expect(try await owner.send("GET", "/api/v1/state").status == 401)
        await stage.close()
    }

    /// Whoever runs the node by hand sees the link at once; a service's log never has it.
    @Test func onATerminalTheLinkIsTold() async throws {
        let port = try freePort()
        let stage = try LoopbackStage(consoleAt: port)
        // Ended itself, not by `script`, which may go before the node does.
        let command = "echo process: $$; exec \(nodeProgram) --config \(stage.configuration)"
        let terminal = try LabProgram(["script", "-qfec", command, "/dev/null"])
        let start = "console: http://127.0.0.1:\(port)/#enter="
        await terminal.wait { $0.exit != nil || $0.lines.contains { $0.contains(start) } }
        let line = try #require(terminal.lines.first { $0.contains(start) }, "\(terminal.lines)")
        let secret = line.components(separatedBy: "#enter=")[1].trimmingCharacters(
            in: .whitespacesAndNewlines)
        #expect(try await ConsoleBrowser(port).enter("link", secret) == 204)
        let told = try #require(terminal.lines.first { $0.contains("process: ") })
        let process = told.components(separatedBy: "process: ")[1].trimmingCharacters(
            in: .whitespacesAndNewlines)
        kill(try #require(pid_t(process)), SIGTERM)
        await terminal.wait { $0.exit != nil }
        // With an owner there is none; nor without a terminal.
        try await stage.start()
        #expect(!stage.node.lines.contains { $0.contains("#enter=") })
        await stage.close()
    }
}
