import Client
import Foundation
import HTTP1
import Lab
import LabParts
import Processes
import Reactor
import Testing
import Tor
import Vectors

/// The console's own onion address, at the built node and over the private Tor network.
@EventLoop
@Suite(.serialized) struct ConsoleOnionTests {
    /// As a browser sends it, each time by a circuit of its own.
    private func send(
        _ method: String, _ path: String, to address: String, host: String? = nil, by socks: Endpoint,
        _ body: String? = nil, cookie: String? = nil
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(
            method: method, path: path, body: Array((body ?? "").utf8), isKeptAlive: false)
        if method != "GET" {
            request.fields.append("origin", "http://\(host ?? address)")
            request.fields.append("onionbell-console", "1")
        }
        if body != nil { request.fields.append("content-type", "application/json") }
        if let cookie { request.fields.append("cookie", cookie) }
        return try await HTTPExchange.answer(
            to: request, host: host ?? address, by: .tor(socks: socks, onion: address, port: 80),
            attemptTimeout: .seconds(20), deadline: theRun)
    }

    /// The status of a guess, by the circuit of this name.
    private func guess(_ circuit: String, at address: String, by socks: Endpoint) async throws -> String {
        let words = [
            "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--proxy",
            "socks5h://\(circuit):x@\(socks)", "-H", "Origin: http://\(address)", "-H",
            "onionbell-console: 1", "-H", "content-type: application/json", "-d",
            #"{"passphrase":"wrong horse"}"#, "http://\(address)/api/v1/session",
        ]
        return try await Task.detached { try run(words).output }.value
    }

    private func logged(_ stage: NodeTests.Stage, _ words: String, count: Int = 1) async {
        await stage.node.wait { node in
            node.exit != nil || node.lines.count { $0.contains(words) } >= count
        }
    }

    @Test func theConsoleHasAnAddressOfItsOwnThatCanBePrivate() async throws {
        let stage = try await NodeTests.Stage(more: ["console: {listen: [onion]}"])
        await logged(stage, "console.published")
        let file = stage.world.state + "/console-link"
        try await until { FileManager.default.fileExists(atPath: file) }
        let link = try String(contentsOfFile: file, encoding: .utf8)
        let parts = link.trimmingCharacters(in: .newlines).components(separatedBy: "/#enter=")
        let address = String(try #require(parts.first).dropFirst("http://".count))
        #expect(address.hasSuffix(".onion") && address != stage.address)
        let socks = stage.socks
        // A page for everybody, and nothing of the node for strangers; under no other name, and not at the peers' address.
        #expect(try await send("GET", "/", to: address, by: socks).status == 200)
        #expect(try await send("GET", "/api/v1/state", to: address, by: socks).status == 401)
        #expect(try await send("GET", "/", to: address, host: stage.address, by: socks).status == 403)
        #expect(try await send("GET", "/", to: address, host: "x." + address, by: socks).status == 403)
        #expect(try await send("GET", "/api/v1/state", to: stage.address, by: socks).status == 404)
        await #expect(throws: PeerDialError.self) {
            _ = try await BisqPeer.dial(
                .tor(socks: socks, onion: address, port: 9999), attemptTimeout: .seconds(5),
                deadline: .seconds(5))
        }
        // A guesser's circuit has used up its share, and another one's has not.
        var told: [String] = []
        // His share grows while he guesses. Where tor has lost the circuit (000), he has another one, with a share of its own.
        repeat {
            told.append(try await guess("guesser", at: address, by: socks))
        } while ["000", "403"].contains(told.last)
        #expect(told.count > 5 && told.last == "429", "\(told)")
        #expect(try await guess("other", at: address, by: socks) == "403")

        let peer = try await stage.dial()
        _ = try await peer.ping()
        let entered = try await send(
            "POST", "/api/v1/session", to: address, by: socks, #"{"link":"\#(parts.last ?? "")"}"#)
        #expect(entered.status == 204)
        let cookie = entered.fields["set-cookie"].map { String($0.prefix { $0 != ";" }) }
        #expect(try await send("GET", "/api/v1/state", to: address, by: socks, cookie: cookie).status == 200)
        // The session is not good at the peers' address, where the same browser may be.
        #expect(
            try await send("GET", "/api/v1/state", to: stage.address, by: socks, cookie: cookie).status == 404
        )

        // With a key for one browser nobody else finds it; peers find the node as before.
        let words = [program, "console", "invite", "laptop", "--config", stage.configuration]
        let invited = try await Task.detached { try run(words) }.value
        #expect(invited.status == 0, "\(invited.errors)")
        let service = String(address.dropLast(6))
        let line = try #require(
            invited.output.split(separator: "\n").first { $0.hasPrefix("\(service):descriptor:x25519:") })
        await logged(stage, "console.authorized count=1")
        let directory = try stage.world.directory.make("auth")
        try PrivateFile.write(line + "\n", to: directory + "/laptop.auth_private", replacing: false)
        let network = try await SharedTorNetwork.network()
        let laptop = try #require(try await network.startTor(["ClientOnionAuthDir \(directory)"]).socks)
        let stranger = try #require(try await network.startTor().socks)
        #expect(try await send("GET", "/api/v1/state", to: address, by: laptop, cookie: cookie).status == 200)
        await #expect(throws: PeerDialError.self) {
            _ = try await BisqPeer.dial(
                .tor(socks: stranger, onion: address, port: 80), attemptTimeout: .seconds(5),
                deadline: .seconds(5))
        }
        _ = try await BisqPeer.dial(
            .tor(socks: stranger, onion: stage.address, port: 9999), attemptTimeout: .seconds(20)
        ).ping()
        // No address, no key and no cookie is in the log.
        let log = stage.node.lines
        #expect(!log.contains { $0.contains(service) || $0.contains("laptop") })
        await stage.close()
        // The key outlives a restart, its copy for tor does not.
        #expect(
            !FileManager.default.fileExists(
                atPath: stage.world.state + "/tor/service-console/hs_ed25519_secret_key"))
    }

    /// What a stranger may do at the console's address, as fast as it goes, by a circuit each.
    private enum Manner: String, CaseIterable {
        case pages, calls, guesses, circuits

        func words(_ address: String, _ socks: Endpoint, _ number: Int) -> [String] {
            let usual = [
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}\n", "--proxy",
                "socks5h://\(rawValue)\(number):x@\(socks)",
            ]
            switch self {
            case .pages: return usual + ["http://\(address)/app.js?[1-100000]"]
            case .calls: return usual + ["http://\(address)/api/v1/state?[1-100000]"]
            case .guesses:
                return usual + [
                    "-H", "Origin: http://\(address)", "-H", "onionbell-console: 1", "-H",
                    "content-type: application/json",
                    "-d", #"{"passphrase":"wrong horse"}"#, "http://\(address)/api/v1/session?[1-100000]",
                ]
            case .circuits:
                return [
                    "bash", "-c",
                    "while :; do curl -s -o /dev/null -w '%{http_code}\\n' --proxy socks5h://$RANDOM-\(number):x@\(socks) http://\(address)/; done",
                ]
            }
        }
    }

    /// How long a peer waits is printed and not judged, since relays, clients and the node share the machine: the loop must not
    /// be held up, a peer's notification is delivered, and the owner is answered.
    @Test func aFloodOfTheConsoleHoldsUpNoPeer() async throws {
        let stage = try await NodeTests.Stage(more: ["console: {listen: [onion]}"])
        await logged(stage, "console.published")
        let link = try String(contentsOfFile: stage.world.state + "/console-link", encoding: .utf8)
        let parts = link.trimmingCharacters(in: .newlines).components(separatedBy: "/#enter=")
        let address = String(try #require(parts.first).dropFirst("http://".count))
        let entered = try await send(
            "POST", "/api/v1/session", to: address, by: stage.socks, #"{"link":"\#(parts.last ?? "")"}"#)
        let cookie = try #require(entered.fields["set-cookie"].map { String($0.prefix { $0 != ";" }) })
        let peer = try await stage.dial()
        func longest() async throws -> (p99: Duration, median: Duration) {
            var times: [Duration] = []
            for _ in 0..<50 { times.append(try await peer.ping()) }
            times.sort()
            return (times[49], times[25])
        }
        let quiet = try await longest()
        let socks = try #require(try await SharedTorNetwork.network().startTor().socks)
        let manners: [Manner] = isLong ? Manner.allCases : [.pages, .guesses]
        for (index, manner) in manners.enumerated() {
            let floods = try (0..<8).map { try LabProgram(manner.words(address, socks, $0)) }
            for flood in floods { await flood.wait { $0.exit != nil || !$0.lines.isEmpty } }
            let flooded = try await longest()
            var one = request(index, awaitsOutcome: true)
            one.uid = "honest-\(index)"
            #expect(try await peer.outcome(of: one).status == .delivered, "\(manner)")
            let state = try await send("GET", "/api/v1/state", to: address, by: stage.socks, cookie: cookie)
            #expect(state.status == 200, "\(manner)")
            let health = try health(over: stage.world.directory.path + "/management")
            #expect(health["checks"]?["loop"]?["ok"]?.bool == true, "\(manner)")
            let answers = floods.reduce(0) { $0 + $1.lines.count }
            for flood in floods { await flood.stop() }
            print(
                "\(manner): pings of a peer, the longest of 50 \(flooded.p99), the median \(flooded.median); quiet \(quiet.p99), \(quiet.median); \(answers) answers to the flood"
            )
        }
        if isLong {
            // What the same flood costs where it does not come to the node.
            let other = try await SharedTorNetwork.network().startTor()
            let relay = try SimulatedRelay()
            let service = try await OnionService.publish(
                key: OnionKey.generate(), ports: [try VirtualPort(80, to: relay.endpoint)],
                on: other.connection)
            try await until { service.state.isPublished }
            let floods = try (0..<8).map {
                try LabProgram(Manner.calls.words(service.address.description, socks, $0))
            }
            for flood in floods { await flood.wait { $0.exit != nil || !$0.lines.isEmpty } }
            let beside = try await longest()
            for flood in floods { await flood.stop() }
            print(
                "beside a flood of another service: the longest of 50 \(beside.p99), the median \(beside.median)"
            )
            relay.close()
            await other.kill()
        }
        peer.close()
        await stage.close()
    }
}
