import Client
import Foundation
import HTTP1
import Lab
import Processes
import Reactor
import Testing
import Vectors

/// Every HTTP endpoint of the built node, asked in each spelling of its path and its host: the answer is the same.
@EventLoop
@Suite(.serialized) struct SpelledRequestsTests {
    /// Where an endpoint listens, and a request that it answers.
    private struct Endpoint {
        let place: Reactor.Endpoint
        let host: String
        var request: HTTPRequest

        init(
            _ place: Reactor.Endpoint, _ method: String, _ target: String, _ body: String? = nil,
            fields: [(String, String)] = []
        ) {
            self.place = place
            if case .host(let name, let port) = place { host = "\(name):\(port)" } else { host = "localhost" }
            let parts = target.split(separator: "?", maxSplits: 1).map { String($0) }
            request = HTTPRequest(
                method: method, path: parts[0], query: parts.count > 1 ? parts[1] : nil,
                body: Array((body ?? "").utf8), isKeptAlive: false)
            for (name, value) in fields { request.fields.append(name, value) }
            if body != nil { request.fields.append("content-type", "application/json") }
        }
    }

    /// The answer without what changes from moment to moment.
    private func answer(
        _ endpoint: Endpoint, path: String? = nil, host: String? = nil
    ) async throws -> String {
        var request = endpoint.request
        if let path { request.path = path }
        let answer = try await HTTPExchange.answer(
            to: request, host: host ?? endpoint.host, by: .direct(endpoint.place), deadline: theRun,
            longest: 4 << 20)
        let body = answer.status == 200 ? "" : String(decoding: answer.body, as: UTF8.self)
        return "\(answer.status) \(answer.fields["content-type"] ?? "") \(body)"
    }

    private static func escaped(_ byte: UInt8, _ isUpper: Bool) -> String {
        "%" + String(byte, radix: 16, uppercase: isUpper)
    }

    /// The spellings of a path that mean the same.
    private static func paths(_ path: String, host: String) -> [String] {
        let bytes = Array(path.utf8)
        func write(_ byte: (UInt8) -> String) -> String { bytes.map(byte).joined() }
        func plain(_ byte: UInt8) -> String { String(decoding: [byte], as: UTF8.self) }
        func isUnreserved(_ byte: UInt8) -> Bool {
            Unicode.Scalar(byte).properties.isAlphabetic || (0x30...0x39).contains(byte)
                || "-._~".utf8.contains(byte)
        }
        let last = bytes.lastIndex(where: isUnreserved)
        return [
            "/" + path, "///" + path, write { $0 == 0x2F ? "//" : plain($0) },
            write { isUnreserved($0) ? escaped($0, false) : plain($0) },
            write { isUnreserved($0) ? escaped($0, true) : plain($0) },
            write { $0 == 0x2F ? "///" : isUnreserved($0) ? escaped($0, true) : plain($0) },
            bytes.indices.map { $0 == last ? escaped(bytes[$0], false) : plain(bytes[$0]) }.joined(),
            "http://\(host)\(path)", "HTTP://\(host)/\(path)",
        ]
    }

    /// The spellings of a host, which has a port or is `localhost`, that mean the same.
    private static func hosts(_ host: String) -> [String] {
        let parts = host.split(separator: ":", maxSplits: 1)
        let (name, port) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
        let first = escaped(Array(name.utf8)[0], true) + name.dropFirst()
        let names = [name, name.uppercased(), name + ".", first]
        let ports = port.map { [":\($0)", ":0\($0)"] } ?? ["", ":", ":80", ":0080"]
        return names.flatMap { name in ports.map { name + $0 } }
    }

    /// What resembles an endpoint and is none. A proxy that lets one path through without a login may not have seen what dots
    /// would make of it.
    private static func others(_ path: String) -> [String] {
        ["/x/.." + path, "/x/%2e%2E" + path, "/." + path, path + "%2F", path.replacing("/", with: "%2F")]
    }

    @Test func everySpellingOfARequestHasTheSameAnswer() async throws {
        let ports = try freePorts(5)
        let places = ports.map { Reactor.Endpoint.host("127.0.0.1", port: $0) }
        let (stage, owner) = try await LoopbackStage.owned(
            more: """
                doors:
                  web_push: {listen: ["\(places[0])"], ios: bisq-remote-ios, outcome_deadline: 0}
                  gorush: {listen: ["\(places[1])"], apps: [bisq-remote-ios]}
                  bitwarden: {listen: ["\(places[2])"], apps: [bisq-remote-ios]}
                  status: {listen: ["\(places[3])"], apps: [bisq-remote-ios]}

                """)
        let token = String(repeating: "0a", count: 32)
        let (http, management) = (
            Reactor.Endpoint.unix(path: stage.world.state + "/sockets/http"),
            Reactor.Endpoint.unix(path: stage.world.directory.path + "/management")
        )
        let console = Reactor.Endpoint.host("127.0.0.1", port: owner.port)
        let session = [("cookie", owner.cookie ?? "")]
        let change = [("origin", "http://127.0.0.1:\(owner.port)"), ("onionbell-console", "1")]
        let message = #"{"encrypted":"QUJD","isUrgent":true}"#
        let endpoints = [
            Endpoint(http, "GET", "/relay?isAndroid=false&snd=0A&apsId=\(token)&msg=0A"),
            Endpoint(http, "POST", "/v1/apns/device/\(token)", message),
            Endpoint(http, "POST", "/v1/fcm/device/lab:\(token)", message),
            Endpoint(http, "POST", "/v1/apns", message),
            Endpoint(http, "DELETE", "/v1/fcm"),
            Endpoint(management, "GET", "/healthz"), Endpoint(management, "GET", "/readyz"),
            Endpoint(management, "GET", "/metrics"), Endpoint(management, "GET", "/status.json"),
            Endpoint(management, "GET", "/docs/TheConsole.md"), Endpoint(management, "POST", "/healthz"),
            Endpoint(console, "GET", "/app.js"), Endpoint(console, "GET", "/status.txt"),
            Endpoint(console, "GET", "/status.txt", fields: session),
            Endpoint(console, "GET", "/api/v1/state"),
            Endpoint(console, "GET", "/api/v1/state", fields: session),
            Endpoint(console, "GET", "/api/v1/phones", fields: session),
            Endpoint(console, "GET", "/api/v1/settings", fields: session),
            Endpoint(console, "POST", "/api/v1/session", "{}", fields: change),
            Endpoint(console, "PUT", "/api/v1/passphrase", "{}", fields: change + session),
            Endpoint(places[0], "GET", "/relay-to/_health"),
            Endpoint(places[0], "POST", "/relay-to/production/\(token)/x", "text"),
            Endpoint(places[1], "POST", "/api/push", "{}"), Endpoint(places[1], "GET", "/healthz"),
            Endpoint(places[2], "POST", "/connect/token", "{}"),
            Endpoint(places[2], "POST", "/push/register", "{}"),
            Endpoint(places[3], "POST", "/status/v1/message", "{}"),
        ]
        var asked = 0
        for endpoint in endpoints {
            let (method, path) = (endpoint.request.method, endpoint.request.path)
            let told = try await answer(endpoint)
            #expect(!told.hasPrefix("404") || path.hasPrefix("/docs"), "\(method) \(path): \(told)")
            for spelled in Self.paths(path, host: endpoint.host) {
                let again = try await answer(endpoint, path: spelled)
                #expect(again == told, "\(method) \(spelled)")
                asked += 1
            }
            for spelled in Self.hosts(endpoint.host) {
                let again = try await answer(endpoint, host: spelled)
                #expect(again == told, "\(method) \(path) at \(spelled)")
                asked += 1
            }
            for other in Self.others(path) {
                let status = try await answer(endpoint, path: other).prefix(3)
                #expect(
                    ["400", "401", "403", "404", "405", "415"].contains(status),
                    "\(method) \(other): \(status)")
            }
        }
        print("\(endpoints.count) requests in \(asked) spellings")
        await stage.close()
    }

    /// A browser's word on the page that asks is spelled as hosts are.
    @Test func thePageThatAsksIsKnownInEachSpelling() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let origin = "127.0.0.1:\(owner.port)"
        for host in Self.hosts(origin) {
            for scheme in ["http", "HTTP"] {
                let answer = try await owner.send(
                    "POST", "/api/v1/session", "{}", ["origin": "\(scheme)://\(host)"])
                #expect(answer.status == 400, "\(scheme)://\(host)")
            }
        }
        for other in ["https://\(origin)", "http://\(origin)/", "http://x\(origin)", "ftp://\(origin)"] {
            let answer = try await owner.send("POST", "/api/v1/session", "{}", ["origin": other])
            #expect(answer.status == 403, "\(other)")
        }
        await stage.close()
    }
}
