import Client
import Foundation
import HTTP1
import JSONCoding
import Lab
import LabParts
import Processes
import Reactor
import Testing
import Vectors

/// The console behind a platform's login, as Umbrel's app_proxy stands in front of an app: a real nginx lets in whoever has the
/// platform's cookie, and leaves the browser's Host and Origin as they are.
@EventLoop
@Suite(
    .serialized, .enabled(if: LabNginx.isInstalled, "nginx is not installed: Deploy/tools/dependencies test"))
struct ConsoleProxyTests {
    /// A node whose console is reached by nginx alone.
    @EventLoop
    private final class Platform {
        let port: UInt16
        let directory: LabDirectory
        let stage: LoopbackStage
        private var nginx: LabNginx!
        private nonisolated static let cookie = "umbrel=session"

        init(more: String = "") async throws {
            port = try freePort()
            directory = try LabDirectory()
            let socket = directory.path + "/console"
            let origin = "http://umbrel.local:\(port)"
            stage = try LoopbackStage {
                $0
                    + "console: {origins: [\"\(origin)\"], proxied: {listen: \"unix:\(socket)\", login: proxy}\(more)}\n"
            }
            try await stage.start()
            nginx = try await LabNginx(
                """
                map $http_cookie $is_in { default 0; "~\(Platform.cookie)" 1; }
                upstream console { server unix:\(socket); keepalive 4; }
                server {
                    listen 127.0.0.1:\(port);
                    proxy_ignore_client_abort on;
                    location / {
                        if ($is_in = 0) { return 302 http://umbrel.local/login; }
                        proxy_pass http://console;
                        proxy_set_header Host $http_host; \(LabNginx.forwarding)
                    }
                }
                """, in: directory.path)
        }

        /// - Parameter fields: In place of those that the page sends; an empty value leaves one out.
        func send(
            _ method: String, _ path: String, _ body: String? = nil, _ fields: [String: String] = [:]
        ) async throws -> HTTPResponse {
            let host = "umbrel.local:\(port)"
            var usual = ["cookie": Platform.cookie, "sec-fetch-site": "same-origin"]
            if method != "GET" {
                usual["origin"] = "http://\(host)"
                usual["onionbell-console"] = "1"
            }
            if body != nil { usual["content-type"] = "application/json" }
            let all = usual.merging(fields) { $1 }
            var request = HTTPRequest(
                method: method, path: path, body: Array((body ?? "").utf8), isKeptAlive: false)
            for (name, value) in all where !value.isEmpty && name != "host" {
                request.fields.append(name, value)
            }
            return try await HTTPExchange.answer(
                to: request, host: all["host"] ?? host, by: .direct(.host("127.0.0.1", port: port)),
                deadline: theRun)
        }

        /// Sends these bytes as they are, and gives all that comes back within one exchange.
        func raw(_ text: String) async throws -> String {
            let words = [
                "python3", "-c",
                """
                import socket, sys
                with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as client:
                    client.sendall(sys.argv[2].encode("latin-1"))
                    client.shutdown(socket.SHUT_WR)
                    answer = b""
                    while piece := client.recv(65536): answer += piece
                sys.stdout.write(answer.decode("latin-1"))
                """, "\(port)", text,
            ]
            return try await Task.detached { try run(words).output }.value
        }

        func close() async {
            await nginx.stop()
            await stage.close()
            await directory.remove()
        }
    }

    @Test func whoeverThePlatformLetsInHasEnteredAndNobodyElse() async throws {
        let platform = try await Platform()
        #expect(try await platform.send("GET", "/api/v1/state", nil, ["cookie": "other=1"]).status == 302)
        #expect(try await platform.send("GET", "/").status == 200)
        #expect(try await platform.send("GET", "/api/v1/session").status == 204)
        #expect(try await platform.send("GET", "/api/v1/state").status == 200)
        #expect(try await platform.send("POST", "/api/v1/peers", #"{"name":"carol"}"#).status == 201)
        // The login is not here: nothing of it can be set, and there is no link that would make somebody an owner.
        for (method, path) in [("DELETE", "/api/v1/session"), ("DELETE", "/api/v1/passphrase")] {
            #expect(try await platform.send(method, path).status == 409)
        }
        let passphrase = #"{"passphrase":"correct horse battery"}"#
        #expect(try await platform.send("PUT", "/api/v1/passphrase", passphrase).status == 409)
        #expect(try await platform.send("POST", "/api/v1/session", passphrase).status == 409)
        #expect(!FileManager.default.fileExists(atPath: platform.stage.world.state + "/console-link"))
        let words = [program, "console", "link", "--config", platform.stage.configuration]
        let link = try await Task.detached { try run(words) }.value
        #expect(link.status == 1 && link.errors.contains("no login of its own"), "\(link)")
        // The browser of somebody who has entered is sent here by a page of a stranger.
        for fields in [
            ["origin": "http://evil.example"], ["origin": "null"], ["origin": ""],
            ["sec-fetch-site": "cross-site"], ["sec-fetch-site": "same-site"], ["onionbell-console": ""],
            ["content-type": "text/plain"], ["host": "evil.example:\(platform.port)"],
            ["host": "127.0.0.1:\(platform.port)"], ["host": "umbrel.local"],
        ] {
            let answer = try await platform.send("POST", "/api/v1/peers", #"{"name":"dave"}"#, fields)
            #expect(answer.status == 403, "\(fields)")
        }
        #expect(try await platform.send("GET", "/api/v1/state", nil, ["host": "evil.example"]).status == 403)
        #expect(
            try await platform.send("GET", "/api/v1/state", nil, ["sec-fetch-site": "cross-site"]).status
                == 403)
        let peers = try JSON(try await platform.send("GET", "/api/v1/peers").body)
        #expect(peers["clients"]?.array?.compactMap(\.string) == ["carol"])
        await platform.close()
    }

    /// Another listener beside it asks for its login as ever.
    @Test func thePlatformsLoginIsThatOfOneListener() async throws {
        let port = try freePort()
        let platform = try await Platform(more: ", listen: [\"127.0.0.1:\(port)\"]")
        let browser = ConsoleBrowser(port)
        #expect(try await browser.send("GET", "/api/v1/state").status == 401)
        #expect(
            try await browser.send(
                "GET", "/api/v1/state", nil, host: "umbrel.local:\(platform.port)",
                ["x-forwarded-for": "127.0.0.1", "cookie": "umbrel=session"]
            ).status == 401)
        #expect(try await browser.enter("link", platform.stage.linkInFile()) == 204)
        #expect(try await browser.send("GET", "/api/v1/state").status == 200)
        await platform.close()
    }

    /// What nginx takes for the body of one request is no second request here. Each of these would invite `mallory` and so make
    /// the node private, by somebody whom the platform lets ask for the state alone.
    @Test func nothingIsSmuggledPastTheProxy() async throws {
        let platform = try await Platform()
        let host = "Host: umbrel.local:\(platform.port)\r\nCookie: umbrel=session\r\n"
        let body = #"{"name":"mallory"}"#
        let hidden =
            "POST /api/v1/peers HTTP/1.1\r\nHost: umbrel.local:\(platform.port)\r\nOrigin: http://umbrel.local:\(platform.port)\r\n"
            + "onionbell-console: 1\r\ncontent-type: application/json\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
        let chunk = String(hidden.utf8.count, radix: 16)
        func get(_ fields: String, _ rest: String) -> String {
            "GET /api/v1/state HTTP/1.1\r\n\(host)\(fields)\r\n\(rest)"
        }
        for text in [
            // A body of a GET by its length, by chunks, and by both, in either order.
            get("Content-Length: \(hidden.utf8.count)\r\n", hidden),
            get("Transfer-Encoding: chunked\r\n", "\(chunk)\r\n\(hidden)\r\n0\r\n\r\n"),
            get(
                "Content-Length: \(hidden.utf8.count + 5)\r\nTransfer-Encoding: chunked\r\n",
                "0\r\n\r\n" + hidden),
            get("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + hidden),
            // Lengths that one reads and the other does not.
            get("Content-Length: 0\r\nContent-Length: \(hidden.utf8.count)\r\n", hidden),
            get("Content-Length: +\(hidden.utf8.count)\r\n", hidden),
            get("Content-Length : \(hidden.utf8.count)\r\n", hidden),
            get("Transfer-Encoding: xchunked\r\nContent-Length: \(hidden.utf8.count)\r\n", hidden),
            get("Transfer-Encoding:\u{0b}chunked\r\nContent-Length: \(hidden.utf8.count)\r\n", hidden),
            get("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n" + hidden),
            // Line ends and chunk sizes that are none.
            get("X: a\rContent-Length: \(hidden.utf8.count)\r\n", hidden),
            get("Transfer-Encoding: chunked\r\n", "0;\n\r\n\r\n" + hidden),
            get("Transfer-Encoding: chunked\r\n", "-0\r\n\r\n" + hidden),
            get("X-A: b\r\n Content-Length: \(hidden.utf8.count)\r\n", hidden),
            // A protocol that is to change.
            get("Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: \(hidden.utf8.count)\r\n", hidden),
        ] {
            let answers = try await platform.raw(text)
            // One request has at most one answer of ours; what nginx itself makes two requests of lacks its cookie.
            #expect(!answers.contains("201 "), "\(text)\n\(answers)")
        }
        let peers = try JSON(try await platform.send("GET", "/api/v1/peers").body)
        #expect(peers["private"]?.bool == false, "\(peers.text)")
        // With the cookie it is done: so the requests above were whole.
        let open = hidden.replacing("\r\nOrigin", with: "\r\nCookie: umbrel=session\r\nOrigin")
        #expect(try await platform.raw(open).contains("201 "))
        await platform.close()
    }

    /// The certificate of the other endpoints, a name that the settings know, and a cookie that never goes by plain HTTP.
    @Test func overTLSTheSessionStaysThere() async throws {
        let port = try freePort()
        let origin = "https://node.example.org:\(port)"
        let stage = try LoopbackStage {
            $0 + """

                doors: {https: {certificate_file: server.pem, key_file: server-key.pem}}
                console: {listen: ["https://127.0.0.1:\(port)"], origins: ["\(origin)"]}

                """
        }
        let directory = stage.world.directory.path
        let made = try run([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=node.example.org",
            "-addext", "subjectAltName=DNS:node.example.org", "-days", "9", "-keyout",
            directory + "/server-key.pem", "-out", directory + "/server.pem",
        ])
        try #require(made.status == 0, "\(made.errors)")
        try await stage.start()
        let link = try String(contentsOfFile: stage.world.state + "/console-link", encoding: .utf8)
        #expect(link.hasPrefix("\(origin)/#enter="))
        func told(_ words: [String], name: String = "node.example.org") async throws -> String {
            let words =
                [
                    "curl", "-s", "-D", "-", "-o", "/dev/null", "--cacert", directory + "/server.pem",
                    "--resolve",
                    "node.example.org:\(port):127.0.0.1", "-H", "Host: \(name):\(port)", "-H",
                    "Origin: \(origin)", "-H",
                    "onionbell-console: 1", "-H", "content-type: application/json",
                ] + words
            return try await Task.detached { try run(words).output }.value
        }
        #expect(try await told([origin + "/"]).hasPrefix("HTTP/1.1 200"))
        #expect(try await told([origin + "/"], name: "other.example.org").hasPrefix("HTTP/1.1 403"))
        let secret = try await stage.linkInFile()
        let entered = try await told(["-d", #"{"link":"\#(secret)"}"#, origin + "/api/v1/session"])
        #expect(entered.hasPrefix("HTTP/1.1 204"), "\(entered)")
        #expect(entered.contains("; HttpOnly; SameSite=Strict; Secure\r\n"))
        await stage.close()
    }
}
