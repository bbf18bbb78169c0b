import Client
import Crypto
import Encodings
import Foundation
import HTTP1
import JSONCoding
import Lab
import LabParts
import Reactor
import Testing
import Vectors
import Wire

/// Where Deploy/tools/dependencies puts what Debian doesn't have.
private let packages = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../.build/python").standardized.path

/// The built program with browsers for phones: what Bisq sends is opened as a browser and its page open it.
@EventLoop
@Suite(.serialized) struct BrowserNodeTests {
    private func message(_ title: String) -> PhoneText {
        PhoneText(sentDate: 1_790_000_000_000, title: title, message: "Grüße \(title)", kind: .trade)
    }

    /// The node's key, as the command shows it.
    private func vapidKey(_ configuration: String) throws -> String {
        let shown = try run([program, "key", "show", "--vapid", "--config", configuration])
        #expect(shown.status == 0, "\(shown.errors)")
        return String(try #require(shown.output.split(separator: "\n").first))
    }

    private func phone(_ browser: Browser) throws -> Phone {
        try Phone.new(.android, descriptor: "Web", deviceToken: browser.token)
    }

    /// Bisq 1's request and a peer's frame with a browser's pairing token, over tor, without an account anywhere.
    @Test func whatBisqSendsOverTorIsShownByABrowser() async throws {
        let stage = try await NodeTests.Stage(withWebPush: true)
        let browser = try stage.world.web.subscribe(for: try vapidKey(stage.configuration))
        let phone = try phone(browser)
        #expect(browser.token.hasPrefix("wp1:127.0.0.1:3A"))

        let sent = message("by GET")
        let request = try BisqSender(to: phone.pairingToken).httpRequest(for: sent)
        let waiter = stage.world.nextPush(to: browser)
        let answer = try await HTTPExchange.answer(
            to: request, host: stage.address,
            by: .tor(socks: stage.socks, onion: stage.address, port: 80))
        #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == "success")
        let (push, _) = try #require(await waiter.wait(for: theRun))
        #expect(try phone.open(try browser.open(push)) == sent)

        let peer = try await stage.dial()
        let framed = message("by frame")
        var frame = try BisqSender(to: phone.pairingToken).request(for: framed)
        frame.awaitsOutcome = true
        // The prefix decides, whatever app the sender names.
        frame.app = "bisq-remote-android"
        let next = stage.world.nextPush(to: browser)
        #expect(try await peer.outcome(of: frame).status == .delivered)
        let (second, _) = try #require(await next.wait(for: theRun))
        #expect(try phone.open(try browser.open(second)) == framed)
        #expect(second.headers["topic"] != push.headers["topic"])
        #expect(stage.world.google.book.isEmpty)
        await stage.close()
        #expect(stage.node.exit == .exited(0))
    }

    /// The endpoints of the vectors that no node calls, and more, as tokens.
    private func refusedTokens() throws -> [String] {
        struct Endpoint: Decodable {
            let endpoint: String
            let valid: Bool
        }
        let keys = "::A2sX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWAAAAAAAAAAAAAAAAAAAAAA"
        let endpoints =
            try Vectors.webPush("endpoint", as: Endpoint.self).filter { !$0.valid }.map(\.endpoint) + [
                "https://push.example.com/x", "https://web.push.apple.com.example.org/x",
                "https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x",
                "https://user@web.push.apple.com/x",
                "https://2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion/x",
            ]
        return endpoints.map { endpoint in
            let rest = endpoint.hasPrefix("https://") ? String(endpoint.dropFirst(8)) : endpoint
            let escaped = rest.utf8.map { byte in
                let isPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-".utf8
                    .contains(byte)
                return isPlain ? String(UnicodeScalar(byte)) : ":" + Hex.encode([byte]).uppercased()
            }
            return "wp1:" + escaped.joined() + keys
        }
    }

    /// Through every door, endpoints that the node doesn't call are refused before anything is stored.
    @Test func endpointsOfStrangersLeadNowhere() async throws {
        let http = Endpoint.unix(path: "/tmp/onionbell-\(UUID().uuidString.prefix(8))")
        let stage = try LoopbackStage(withWebPush: true) {
            $0.replacing("guarded: false", with: "guarded: false, http_listen: \"\(http)\"")
        }
        try await stage.start()
        let peer = try await stage.dial()
        let tokens = try refusedTokens()
        #expect(tokens.count > 30)
        func ask(_ request: HTTPRequest) async throws -> HTTPResponse {
            try await HTTPExchange.answer(to: request, host: "x", by: .direct(http))
        }
        for (number, token) in tokens.enumerated() {
            var frame = request(number, platform: .android)
            frame.deviceToken = token
            let response = try await peer.send(frame)
            #expect(response.status == .refused && response.reason == "BadDeviceToken", "\(token)")
            // As Bisq 1 asks, which a command of ours does as well, and as Bisq 2 does.
            let sender = BisqSender(
                to: try PairingToken(
                    platform: .android, descriptor: "Web", key: String(repeating: "k", count: 32),
                    deviceToken: token))
            let get = try await ask(sender.httpRequest(for: message("by GET")))
            #expect(get.status == 400 && get.body != Array("success".utf8), "\(token): \(get.status)")
            let connect = try ConnectPhone(
                platform: .android, deviceToken: token, key: [UInt8](repeating: 7, count: 32))
            let sealed = try connect.seal(ConnectMessage(id: "1", title: "t", message: "m"))
            let post = try await ask(connect.request(for: sealed))
            #expect(post.status == 400, "\(token): \(post.status)")
        }
        let sent = try run([
            program, "send", "--to", "127.0.0.1:1", "--form", "p2p", "--pairing-token",
            "android|Web|\(String(repeating: "k", count: 32))|\(tokens[0])", "--title", "t", "--message", "m",
            "--timeout", "1s",
        ])
        #expect(sent.status == 69)
        #expect(stage.world.web.figures.requests == 0)
        // And a message that not every browser takes.
        let browser = try stage.world.web.subscribe(for: try vapidKey(stage.configuration))
        for (count, status) in [(1950, MobileNotificationResponse.Status.stored), (1951, .refused)] {
            var request = request(count, platform: .android)
            request.deviceToken = browser.token
            request.message = Base64.encode([UInt8](repeating: 1, count: count))
            let response = try await peer.send(request)
            #expect(response.status == status, "\(request.message.utf8.count)")
        }
        await stage.close()
    }

    /// A UnifiedPush server that is an onion service: by the node's tor, in plain HTTP, which tor encrypts.
    @Test func anEndpointOnAnOnionAddressIsRungThroughTor() async throws {
        let server = try SimulatedUnifiedPush()
        let tor = try await SharedTorNetwork.network().startTor()
        let onion = try await tor.publish([(80, server.endpoint)])
        let stage = try await NodeTests.Stage(more: ["gateways: {proxy: tor}"], withWebPush: true) {
            $0.webPushHosts.append(onion)
        }
        let browser = try server.subscribe(at: onion, for: try vapidKey(stage.configuration))
        let phone = try phone(browser)
        let sent = message("to an onion")
        let peer = try await stage.dial()
        var frame = try BisqSender(to: phone.pairingToken).request(for: sent)
        frame.awaitsOutcome = true
        #expect(try await peer.outcome(of: frame, deadline: theRun).status == .delivered)
        let push = try #require(server.book.first)
        #expect(try phone.open(try browser.open(push)) == sent)
        #expect(server.answers == [201])
        server.close()
        await tor.kill()
        await stage.close()
    }

    /// A browser that unsubscribed is told as gone, and what waits for a server that is away survives a kill.
    @Test func nothingAcceptedIsLostAndTheGoneAreToldAsGone() async throws {
        let stage = try LoopbackStage(withWebPush: true)
        try await stage.start()
        let browser = try stage.world.web.subscribe(for: try vapidKey(stage.configuration))
        stage.world.web.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let peer = try await stage.dial()
        var first = request(1, platform: .android)
        first.deviceToken = browser.token
        #expect(try await peer.send(first).status == .stored)
        await stage.node.kill()
        stage.world.web.faults = FaultScript()
        let waiter = stage.world.nextPush(to: browser)
        try await stage.start()
        let (push, _) = try #require(await waiter.wait(for: theRun))
        #expect(try browser.open(push) == first.message)

        stage.world.web.unsubscribe(browser)
        let again = try await stage.dial()
        var second = request(2, platform: .android, awaitsOutcome: true)
        second.deviceToken = browser.token
        var response = try await again.send(second)
        if response.status == .stored { response = try await again.nextResponse(to: second.uid) }
        #expect(response.status == .tokenDead && response.reason == "Errno106")
        await stage.close()
    }

    @Test func theKeyIsMadeOnceKeptPrivateAndCanBeMoved() async throws {
        let stage = try LoopbackStage(withWebPush: true)
        #expect(try run([program, "key", "show", "--vapid", "--config", stage.configuration]).status == 69)
        try await stage.start()
        let key = try vapidKey(stage.configuration)
        #expect(key.utf8.count == 87)
        let file = stage.world.state + "/vapid-key"
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let copy = stage.world.directory.path + "/copy.pem"
        #expect(
            try run([program, "key", "export", "--vapid", copy, "--config", stage.configuration]).status == 0)
        let import_ = [program, "key", "import", "--vapid", "--config", stage.configuration]
        #expect(try run(import_ + [copy]).status == 69, "while the node runs")
        await stage.node.stop()
        #expect(try run(import_ + [copy]).status == 0, "the same key")
        let other = stage.world.directory.path + "/other.pem"
        let made = try run([
            "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", other,
        ])
        #expect(made.status == 0, "\(made.errors)")
        #expect(try run(import_ + [other]).status == 69)
        #expect(try run(import_ + ["--force", other]).status == 0)
        #expect(try vapidKey(stage.configuration) != key)
        #expect(try run(import_ + [stage.configuration]).status == 65)
        #expect(try run(import_ + ["--force", copy]).status == 0)
        #expect(try vapidKey(stage.configuration) == key)
        try await stage.start()
        #expect(try vapidKey(stage.configuration) == key)
        await stage.close()
    }

    @Test func initTurnsItOn() async throws {
        let directory = try LabDirectory()
        let file = directory.path + "/onionbell.yaml"
        func write(_ contact: String) throws -> CommandResult {
            try run([
                program, "init", "--defaults", "--force", "--web-push", contact, "--state-directory",
                directory.path + "/state", "--config", file,
            ])
        }
        let written = try write("mailto:me@example.org")
        #expect(written.status == 0 && written.output.contains("key show --vapid"), "\(written.errors)")
        #expect(!written.output.contains("No credentials yet"))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains("\n  - name: browsers\n    gateway: web_push\n"))
        #expect(text.contains("\n    contact: \"mailto:me@example.org\"\n"))
        #expect(try run([program, "check-config", "--config", file]).status == 0)
        #expect(try write("anonymous").status == 0)
        #expect(try !String(contentsOfFile: file, encoding: .utf8).contains("\n    contact:"))
        #expect(try write("me@example.org").status == 65)
        await directory.remove()
    }

    // MARK: Other people's code at the other end

    /// http_ece, py_vapid: what Web Push programs in Python use.
    private nonisolated static let python = """
        import base64, json, sys
        import http_ece
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
        from py_vapid import Vapid02

        text = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
        data = lambda text: base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if sys.argv[1] == "new":
            key = ec.generate_private_key(ec.SECP256R1())
            number = key.private_numbers().private_value
            point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
            print(text(number.to_bytes(32, "big")), text(point))
        else:
            number, secret, body, authorization = sys.argv[2:]
            key = ec.derive_private_key(int.from_bytes(data(number), "big"), ec.SECP256R1())
            assert Vapid02.verify(authorization.replace(", ", ",")), "not signed by its key"
            plain = http_ece.decrypt(data(body), private_key=key, auth_secret=data(secret))
            print(plain.decode(), end="")
        """

    private func python(_ arguments: [String]) async throws -> String {
        let result = try await Task.detached {
            try run(
                ["/usr/bin/python3", "-c", Self.python] + arguments, environment: ["PYTHONPATH": packages])
        }.value
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    @Test(
        .enabled(
            "pywebpush is not here: Deploy/tools/dependencies test",
            { FileManager.default.fileExists(atPath: packages + "/http_ece") }))
    func otherProgramsOpenWhatTheNodeSends() async throws {
        let stage = try LoopbackStage(withWebPush: true)
        try await stage.start()
        let peer = try await stage.dial()
        for number in 0..<4 {
            let keys = try await python(["new"]).split { $0.isWhitespace }.map(String.init)
            let secret = Base64.encodeForURL(randomBytes(16))
            let browser = try stage.world.web.subscribe(
                for: try vapidKey(stage.configuration), p256dh: keys[1], auth: secret)
            var request = request(number, platform: .android)
            request.deviceToken = browser.token
            let waiter = stage.world.nextPush(toPath: browser.path)
            #expect(try await peer.send(request).status == .stored)
            let (push, _) = try #require(await waiter.wait(for: theRun))
            let opened = try await python([
                "open", keys[0], secret, Base64.encodeForURL(push.body),
                try #require(push.headers["authorization"]),
            ])
            #expect(opened == request.message)
        }
        await stage.close()
    }
}
