import Client
import Crypto
import Encodings
import Foundation
import HTTP1
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// The built program over the private Tor network, asked by HTTP clients that are not ours.
@EventLoop
@Suite(.serialized) struct HTTPNodeTests {
    enum Client: String, CaseIterable, Sendable {
        case curl, requests, httpx
    }

    /// Arguments: library, proxy, method, URL and maybe a body. Prints status, blank, body.
    private static let pythonClient = """
        import sys

        library, socks, method, url = sys.argv[1:5]
        body = sys.argv[5].encode() if len(sys.argv) > 5 else None
        headers = {"Content-Type": "application/json"} if body else {}

        if library == "requests":
            import requests

            answer = requests.request(
                method, url, data=body, headers=headers, proxies={"http": "socks5h://" + socks}
            )
        else:
            import httpx

            with httpx.Client(proxies="socks5://" + socks, timeout=None) as client:
                answer = client.request(method, url, content=body, headers=headers)
        print(answer.status_code, answer.text, end="")
        """

    /// Status and body as the client shows them. Where tor found no way nothing has gone out, and it is asked again.
    private func ask(
        _ client: Client, _ stage: NodeTests.Stage, _ request: HTTPRequest, port: Int
    ) async throws -> String {
        let target = request.path + (request.query.map { "?" + $0 } ?? "")
        let url = "http://\(stage.address)\(port == 80 ? "" : ":\(port)")\(target)"
        let body = request.body.isEmpty ? [] : [String(decoding: request.body, as: UTF8.self)]
        let arguments: [String]
        switch client {
        case .curl:
            arguments =
                [
                    "curl", "--silent", "--show-error", "--path-as-is", "--socks5-hostname", "\(stage.socks)",
                    "--user-agent", request.fields["User-Agent"] ?? "",
                    "--write-out", "%{stderr}%{http_code}", "--request", request.method, url,
                ]
                + body.flatMap { ["--header", "Content-Type: application/json", "--data-binary", $0] }
        case .requests, .httpx:
            arguments =
                [
                    "/usr/bin/python3", "-c", Self.pythonClient, client.rawValue, "\(stage.socks)",
                    request.method, url,
                ] + body
        }
        // The simulated gateways live on this thread's loop: the client must not block it.
        var result = try await Task.detached { try run(arguments) }.value
        while result.status != 0, result.errors.contains("SOCKS") {
            result = try await Task.detached { try run(arguments) }.value
        }
        #expect(result.status == 0, "\(client): \(result.errors)")
        return client == .curl ? "\(result.errors) \(result.output)" : result.output
    }

    private func encrypted(_ push: AcceptedPush, _ platform: Platform) throws -> String {
        let body = try JSON(push.body)
        return try #require(
            (platform == .android ? body["message"]?["data"]?["encrypted"] : body["encrypted"])?.string)
    }

    private func message(_ title: String) -> PhoneText {
        PhoneText(sentDate: 1_790_000_000_000, title: title, message: "Grüße \(title)", kind: .trade)
    }

    @Test func todaysClientsReachBothGenerationsOfPhonesOnBothPlatforms() async throws {
        let stage = try await NodeTests.Stage()
        for client in Client.allCases {
            for platform in [Platform.ios, .iosDev, .android] {
                let phone = try Phone.new(platform, descriptor: "iPhone X")
                let sent = message("\(client) to \(platform)")
                let waiter = stage.world.nextPush(to: phone)
                let request = try BisqSender(to: phone.pairingToken).httpRequest(for: sent)
                #expect(try await ask(client, stage, request, port: 80) == "200 success")
                let (push, _) = try #require(await waiter.wait(for: theRun))
                #expect(try phone.open(try encrypted(push, platform)) == sent)
                #expect(push.headers["apns-topic"] == (platform == .android ? nil : LabWorld.topic))
            }
            for platform in [Platform.ios, .android] {
                let phone = try ConnectPhone(
                    platform: platform,
                    deviceToken: Phone.new(platform, descriptor: "").pairingToken.deviceToken,
                    key: randomBytes(32))
                let sent = ConnectMessage(
                    id: "1", title: "\(client)", message: "Grüße", category: .tradeUpdate, tradeID: "t")
                let waiter = stage.world.nextPush(to: phone.deviceToken, on: platform)
                let request = phone.request(for: try phone.seal(sent))
                #expect(
                    try await ask(client, stage, request, port: 8021)
                        == #"200 {"wasAccepted":true,"isUnregistered":false}"#)
                let (push, _) = try #require(await waiter.wait(for: theRun))
                #expect(try phone.open(try encrypted(push, platform)) == sent)
                guard platform == .ios else { continue }
                #expect(push.headers["apns-topic"] == LabWorld.connectTopic)
                #expect(try JSON(push.body)["aps"]?["mutable-content"] == .integer(1))
                #expect(try JSON(push.body)["aps"]?["alert"] != nil)
            }
        }
        await stage.close()
        #expect(stage.node.exit == .exited(0))
    }

    struct Captured: Decodable {
        struct Post: Decodable {
            var encrypted: String
            var isUrgent: Bool
            var isMutableContent: Bool?
        }
        var name: String
        var path_and_query: String?
        var headers: [String: String]?
        var path: String?
        var body: Post?
    }

    /// As they come from Bisq's own clients, to each of the node's two ports.
    @Test func whatBisqsClientsSendIsAnsweredAsTheyNeedOverTor() async throws {
        let stage = try await NodeTests.Stage(more: ["limits: {token_burst: 1000}"])
        for (index, vector) in try Vectors.bisq("relay_get", as: [Captured].self).prefix(7).enumerated() {
            let parts = try #require(vector.path_and_query).split(separator: "?").map(String.init)
            var request = HTTPRequest(method: "GET", path: parts[0], query: parts[1])
            if let agent = vector.headers?["User-Agent"] { request.fields.append("User-Agent", agent) }
            let port = index % 2 == 0 ? 80 : 8021
            #expect(try await ask(.curl, stage, request, port: port) == "200 success", "\(vector.name)")
        }
        for vector in try Vectors.bisq("relay_post", as: [Captured].self) {
            let post = try #require(vector.body)
            let body =
                #"{"isUrgent":\#(post.isUrgent),"encrypted":"\#(post.encrypted)","isMutableContent":\#(post.isMutableContent ?? false)}"#
            let request = HTTPRequest(method: "POST", path: try #require(vector.path), body: Array(body.utf8))
            #expect(
                try await ask(.curl, stage, request, port: 8021)
                    == #"200 {"wasAccepted":true,"isUnregistered":false}"#, "\(vector.name)")
        }
        try await until { stage.world.apple.book.count + stage.world.google.book.count >= 11 }
        await stage.close()
    }

    @Test func sendTriesEveryDoor() async throws {
        let stage = try await NodeTests.Stage()
        func send(_ phone: Phone, _ more: [String]) async throws -> CommandResult {
            let arguments =
                [
                    program, "send", "--to", stage.address, "--socks", "\(stage.socks)", "--pairing-token",
                    "-", "--title", "Title", "--message", "Grüße",
                ] + more
            let token = phone.pairingToken.text
            return try await Task.detached { try run(arguments, input: token + "\n") }.value
        }
        let key = Base64.encode(randomBytes(32))
        for (form, more, words) in [
            ("p2p", ["--wait"], "delivered\n"), ("bisq1", [], "200 success\n"),
            ("bisq2", ["--key", key], "200 accepted\n"),
        ] {
            let phone = try Phone.new(.ios, descriptor: "iPhone X")
            let waiter = stage.world.nextPush(to: phone)
            let result = try await send(phone, ["--form", form] + more)
            #expect(result.status == 0, "\(result.errors)")
            // It is stored first where the gateway takes its time.
            #expect([words, "stored\n" + words].contains(result.output))
            let (push, _) = try #require(await waiter.wait(for: theRun))
            let sealed = try encrypted(push, .ios)
            if form == "bisq2" {
                let connect = try ConnectPhone(
                    platform: .ios, deviceToken: phone.pairingToken.deviceToken,
                    key: try #require(Base64.decode(key)))
                #expect(try connect.open(sealed).message == "Grüße")
            } else {
                #expect(try phone.open(sealed).message == "Grüße")
            }
        }
        stage.world.google.faults = FaultScript([FaultRule(.answer(status: 404, reason: "UNREGISTERED"))])
        let gone = try await send(
            try Phone.new(.android, descriptor: ""), ["--form", "bisq2", "--key", key])
        #expect(gone.status == 1)
        #expect(gone.output == "400 refused: UNREGISTERED: Requested entity was not found.\n")
        #expect(try await send(Phone.new(.ios, descriptor: ""), ["--form", "bisq2"]).status == 64)
        #expect(try await send(Phone.new(.ios, descriptor: ""), ["--form", "bisq1", "--wait"]).status == 64)
        await stage.close()
    }
}
