import Clocks
import Encodings
import EndpointWorlds
import HTTP1
import Lab
import Reactor
import Relay
import Testing

@testable import WebPushIn

/// What the door promises to those who push, beyond the vectors.
@EventLoop
@Suite(.serialized) struct WebPushDoorTests {
    private let token = String(repeating: "0a", count: 32)

    private func push(
        _ number: Int = 0, path: String? = nil, fields: String = "", encoding: String = "aes128gcm"
    ) -> [UInt8] {
        let body = Array(repeating: UInt8(number), count: 200)
        let path = path ?? "/relay-to/production/\(token)/x"
        return Array(
            "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Encoding: \(encoding)\r\n\(fields)Content-Length: 200\r\n\r\n"
                .utf8) + body
    }

    @Test func theSameBytesWithinADayAreOneMessageAndOthersAreOthers() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        let first = await client.ask(push())
        let again = await client.ask(push())
        #expect(first?.status == 201 && again?.status == 201)
        #expect(first?.fields["location"] == again?.fields["location"])
        #expect(await client.ask(push(1))?.status == 201)
        #expect(await client.ask(push(path: "/relay-to/production/\(token)/y"))?.status == 201)
        #expect(await client.ask(push(path: "/relay-to/development/\(token)/x"))?.status == 201)
        let pushes = await world.pushes(4)
        #expect(pushes.count == 4)
        #expect(Set(pushes.map { $0.headers["apns-id"] }).count == 4)
        await world.end()
    }

    /// Mastodon deletes a subscription for good at 404: an endpoint made of a base address with a slash at its end is the
    /// same endpoint.
    @Test func doubledSlashesLeadToTheSameEndpoint() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        for (path, doubled) in [
            ("/relay-to/production/\(token)/x", "//relay-to/production/\(token)/x"),
            ("/relay-to/production/\(token)/x", "/relay-to//production/\(token)//x"),
            ("/push/\(token)/x", "//push/\(token)/x"),
        ] {
            let status = await client.ask(push(path: path))?.status
            #expect(status != 404)
            #expect(await client.ask(push(path: doubled))?.status == status, "\(doubled)")
        }
        await world.end()
    }

    @Test func aDeadDeviceIsGoneAtOnceAndFromThenOn() async throws {
        let world = try await RelayWorld { $0.webPush.outcomeDeadline = .seconds(30) }
        world.apple.faults = FaultScript([
            FaultRule(.answer(status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000), times: 1)
        ])
        let client = try await world.client()
        #expect(await client.ask(push())?.status == 410)
        let next = await client.ask(push(1))
        #expect(next?.status == 410 && next?.text == "Unregistered")
        #expect(world.apple.figures.requests == 1)
        await world.end()
    }

    /// With a wrong host or topic Apple refuses every token: that is no reason to delete every subscription.
    /// Once it has taken one, it takes devices that it had taken before to say so: made-up tokens change no answer.
    @Test func onlyWhereNothingElseIsKnownDoRefusalsSpeakAgainstTheSettings() async throws {
        let world = try await RelayWorld { $0.webPush.outcomeDeadline = .seconds(30) }
        let client = try await world.client()
        var number = 0
        func statuses(_ tokens: [String]) async -> [Int] {
            var statuses: [Int] = []
            for token in tokens {
                number += 1
                let path = "/relay-to/production/\(token)?n=\(number)"
                statuses.append(await client.ask(push(number, path: path))?.status ?? 0)
            }
            return statuses
        }
        let good = (0..<6).map { String(repeating: "0\($0)", count: 32) }
        let madeUp = (10..<20).map { String(repeating: "\($0)", count: 32) }
        let refusal = FaultRule(.answer(status: 400, reason: "DeviceTokenNotForTopic"))
        world.apple.faults = FaultScript([refusal])
        #expect(await statuses(Array(madeUp.prefix(2))) == [502, 502])
        world.apple.faults = FaultScript()
        #expect(await statuses(good) == Array(repeating: 201, count: 6))
        world.apple.faults = FaultScript([refusal])
        #expect(await statuses(Array(madeUp.dropFirst(2))) == Array(repeating: 410, count: 8))
        #expect(await statuses(good) == [410, 410, 410, 502, 502, 502])
        await world.end()
    }

    @Test func aMessageThatWaitsIsAcceptedAndItsStateIsTold() async throws {
        let world = try await RelayWorld { $0.webPush.outcomeDeadline = .milliseconds(50) }
        world.apple.faults = FaultScript([
            FaultRule(.answer(status: 403, reason: "InvalidProviderToken"), times: 1)
        ])
        let client = try await world.client()
        let answer = await client.ask(push())
        #expect(answer?.status == 201)
        let location = try #require(answer?.fields["location"])
        #expect(await client.get(location)?.text == "waiting")
        world.dispatcher.resume([LaneID(app: "web-push-ios", host: .production)])
        _ = await world.pushes(1)
        // The end is in the outbox after the next commit.
        var word = ""
        while word != "delivered" { word = await client.get(location)?.text ?? "" }
        #expect(await client.get(location + "0")?.status == 404)
        #expect(await client.get("/relay-to/_state/00000000-0000-0000-0000-000000000000")?.text == "unknown")
        #expect(await client.ask("DELETE \(location) HTTP/1.1\r\nHost: a\r\n\r\n")?.status == 405)
        await world.end()
    }

    @Test func aFullOutboxAndABusyDeviceAreToldWithATime() async throws {
        let world = try await RelayWorld { $0.limits.tokenBurst = 1 }
        let client = try await world.client()
        #expect(await client.ask(push())?.status == 201)
        // Some places are kept for senders who are new to the device.
        var busy: HTTPResponse?
        for number in 1...4 where busy?.status != 429 { busy = await client.ask(push(number)) }
        #expect(busy?.status == 429)
        #expect(busy?.fields["retry-after"] == "1")
        await world.outbox.setFault(.full)
        let full = await client.ask(
            push(2, path: "/relay-to/production/\(String(repeating: "bc", count: 32))"))
        #expect(full?.status == 503 && full?.fields["retry-after"] != nil)
        #expect(await client.get("/relay-to/_health")?.status == 503)
        await world.outbox.setFault(nil)
        await world.end()
    }

    @Test func whatTheOperatorHasNotSetUpIsNoFaultOfTheSubscriber() async throws {
        let world = try await RelayWorld {
            $0.webPush = WebPushSettings()
            $0.webPush.relay.ios = "no-such-app"
        }
        let client = try await world.client()
        for path in ["/relay-to/production/\(token)", "/relay-to/fcm/\(token)", "/push/\(token)/a"] {
            let answer = await client.ask(push(path: path))
            #expect(answer?.status == 503 && answer?.fields["retry-after"] == "300", "\(path)")
        }
        await world.end()
    }

    @Test func itIsWellAndEveryOtherMethodIsRefused() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        let health = await client.get("/relay-to/_health")
        #expect(health?.status == 200 && health?.body.isEmpty == true)
        let get = await client.get("/relay-to/production/\(token)/x")
        #expect(get?.status == 405 && get?.fields["allow"] == "POST")
        #expect(await client.get("/relay-to/production")?.status == 404)
        #expect(await client.get("/push/\(token)")?.status == 404)
        await world.end()
    }
}

/// By value.
@Suite struct WebPushPartsTests {
    @Test(
        arguments: [
            ("/relay-to/production/aa", .relay(.production, token: "aa", extra: nil)),
            ("/relay-to/production/aa/", .relay(.production, token: "aa", extra: nil)),
            ("/relay-to/Production/aa/b", .relay(.development, token: "aa", extra: "b")),
            ("/relay-to/fcm/a%3Ab/c%20d//e", .relay(.fcm, token: "a:b", extra: "c d//e")),
            ("/relay-to/x%2Faa", .relay(.development, token: "aa", extra: nil)),
            ("/relay-to//aa", .relay(.development, token: "aa", extra: nil)),
            ("/relay-to/production/", .unknown), ("/relay-to/", .unknown),
            ("/relay-to/production/%zz", .unknown),
            ("/relay-to/_health", .health), ("/relay-to/_state/1", .unknown),
            (
                "/relay-to/_state/01234567-89ab-cdef-fedc-ba9876543210",
                .state(NotificationID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210))
            ),
            ("/relay-to/_state/01234567-89AB-cdef-fedc-ba9876543210", .unknown),
            ("/relay-to/_state/0123456789ab-cdef-fedc-ba98-76543210", .unknown),
            ("/push/aa/b/c", .push(token: "aa", id: "b/c")), ("/push/aa/", .unknown),
            ("/push//b", .unknown), ("/push/\u{301}/", .unknown), ("/push/aa", nil), ("/relay", nil),
        ] as [(String, WebPushRoute?)])
    func aPathLeadsWhereTheOriginalsLead(path: String, route: WebPushRoute?) {
        #expect(WebPushRoute(path: path) == route)
    }

    @Test(arguments: [
        ("sandbox=true", true), ("a=b&sandbox=true", true), ("sandbox=false", false), ("", false),
    ])
    func theSandboxIsAskedForInTheQuery(query: String, isSandbox: Bool) {
        #expect(WebPushRoute.isSandbox(query) == isSandbox)
    }

    private func message(_ fields: [(String, String)], body: [UInt8] = [1]) throws -> WebPushMessage {
        var request = HTTPRequest(method: "POST", path: "/", body: body)
        for (name, value) in fields { request.fields.append(name, value) }
        return try WebPushMessage(request)
    }

    private static let dh = String(repeating: "A", count: 86) + "A"
    private static let salt = String(repeating: "A", count: 21) + "A"

    @Test(arguments: [
        "dh=\(dh)", "dh=\(dh)=", " DH = \"\(dh)\" ", "keyid=p256dh;dh=\(dh);p256ecdsa=BA", "x;;,=,dh=\(dh),",
        "dh=\(dh);dh=A",
    ])
    func theKeyIsFoundHoweverItIsWritten(field: String) throws {
        let read = try message([
            ("content-encoding", "aesgcm"), ("crypto-key", field), ("encryption", "salt=\(Self.salt)"),
        ])
        guard case .aesgcm(let key, let salt) = read.encoding else {
            Issue.record("not aesgcm")
            return
        }
        #expect(key == Array(repeating: 0, count: 65))
        #expect(salt == Array(repeating: 0, count: 16))
    }

    @Test func theKeyMayStandInASecondField() throws {
        #expect(
            throws: Never.self,
            performing: {
                try message([
                    ("content-encoding", "AesGcm"), ("crypto-key", "p256ecdsa=BA"),
                    ("crypto-key", "dh=\(Self.dh)"), ("encryption", "salt=\(Self.salt)"),
                ])
            })
    }

    /// 65 bytes that are no point of P-256 can't be a sender's key: no phone could open the message.
    @Test func aKeyThatIsNoPointOfTheCurveIsRefused() async throws {
        let world = try await RelayWorld()
        let path = "/relay-to/production/\(String(repeating: "ab", count: 32))"
        // The curve's generator (SEC 2, section 2.4.2), and the same with another last byte.
        let point =
            "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f"
        let good = try #require(Hex.decode(point + "5"))
        let bad = try #require(Hex.decode(point + "4"))
        for (key, status) in [(good, 201), (bad, 400), ([UInt8](repeating: 0, count: 65), 400)] {
            let fields =
                "Content-Encoding: aesgcm\r\nCrypto-Key: dh=\(Base64.encodeForURL(key))\r\n"
                + "Encryption: salt=\(Self.salt)\r\n"
            let request = "POST \(path) HTTP/1.1\r\nHost: a\r\n\(fields)Content-Length: 1\r\n\r\na"
            #expect(try await world.client().ask(request)?.status == status)
        }
        await world.end()
    }

    @Test(arguments: ["dh=", "dh", "dh=\(dh)A", "dh=+" + dh.dropFirst(), "xdh=\(dh)", ""])
    func aKeyThatIsNoneIsRefused(field: String) {
        #expect(throws: WebPushMessage.Fault.badKey) {
            try message([
                ("content-encoding", "aesgcm"), ("crypto-key", field), ("encryption", "salt=\(Self.salt)"),
            ])
        }
    }

    @Test func anEmptyMessageIsRefused() {
        #expect(throws: WebPushMessage.Fault.empty) {
            try message([("content-encoding", "aes128gcm")], body: [])
        }
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("x", nil), ("1.5", nil), ("99999999999999999999", nil), ("0", 0),
            ("-5", 0),
            ("+7", 7), ("2419201", 2_419_201),
        ] as [(String?, Int?)])
    func aTimeToLiveIsRead(field: String?, seconds: Int?) throws {
        let fields = field.map { [("ttl", $0)] } ?? []
        #expect(try message([("content-encoding", "aes128gcm")] + fields).timeToLive == seconds)
    }

    @Test(
        arguments: [
            ("a", "a"), (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
            (String(repeating: "a", count: 65), nil), ("a b", nil), ("ä", nil), ("", nil),
        ] as [(String, String?)])
    func aTopicIsWhatAppleTakes(field: String, topic: String?) throws {
        #expect(try message([("content-encoding", "aes128gcm"), ("topic", field)]).topic == topic)
    }

    private func submission(_ ttl: String?, now: UnixTime = 1_000_000) throws -> Submission? {
        let fields = ttl.map { [("ttl", $0)] } ?? []
        var settings = WebPushSettings()
        settings.relay.ios = "app"
        return WebPushSubmission.make(
            try message([("content-encoding", "aes128gcm")] + fields),
            to: .relay(.production, token: "aa", extra: #"a"\b"#), query: nil, settings, now: now)
    }

    @Test func aMessageLivesAsLongAsItsSenderSays() throws {
        for (ttl, expiresAt, expiry) in [
            (nil, 0, .unsaid), ("60", 1_060_000, .withNotification), ("0", 1_030_000, .atOnce),
            ("99999999999", UnixTime(milliseconds: 1_000_000 + 28 * 86_400_000), .withNotification),
        ] as [(String?, UnixTime, PreparedPush.Expiry)] {
            let made = try #require(try submission(ttl))
            #expect(made.expiresAt == expiresAt)
            guard case .prepared(let push) = made.content else {
                Issue.record("not prepared")
                return
            }
            #expect(push.expiry == expiry)
            #expect(push.body.hasSuffix(#","x":"a\"\\b"}"#))
        }
    }

    /// Only what can never be delivered is a 4xx that costs the subscription.
    @Test(arguments: [
        (Receipt.stored, 201), (.kept, 201), (.held(reason: "TopicDisallowed"), 201),
        (.ended(.delivered), 201),
        (.ended(.expired), 201), (.busy(.device(retryAfter: .seconds(3))), 429),
        (.busy(.node(retryAfter: .seconds(3))), 503), (.ended(.tokenDead(reason: "ExpiredToken")), 410),
        (.refused(.messageTooLarge), 413), (.refused(.badDeviceToken), 410), (.refused(.unknownApp), 503),
        (.refused(.gatewayDisabled), 503), (.refused(.badMessage), 502), (.refused(.badExpiry), 502),
        (.refused(.internal), 502), (.ended(.refused(reason: "PayloadTooLarge")), 502),
        (.ended(.refused(reason: "INVALID_ARGUMENT")), 502), (.ended(.refused(reason: "BadTopic")), 502),
        (.ended(.refused(reason: .gateway("SENDER_ID_MISMATCH", .foreignToken))), 410),
        (.ended(.refused(reason: .gateway("BadDeviceToken", .unknownToken))), 410),
        (.ended(.refused(reason: "UnknownApp")), 502),
    ])
    func whatASenderIsTold(receipt: Receipt, status: Int) {
        let route = WebPushRoute.relay(.production, token: "aa", extra: nil)
        let id = NotificationID(high: 1, low: 2)
        let answer = WebPushReceipt.response(to: receipt, state: id, on: route)
        #expect(answer.status == status)
        #expect((answer.fields["location"] != nil) == (status == 201))
        #expect((answer.fields["retry-after"] != nil) == [429, 502, 503].contains(status))
    }

    @Test(
        arguments: [
            (nil, 404, "unknown"), (.waiting, 200, "waiting"), (.ended(.delivered), 200, "delivered"),
            (.ended(.refused(reason: "x")), 200, "refused"), (.ended(.tokenDead(reason: "x")), 200, "dead"),
            (.ended(.expired), 200, "expired"),
        ] as [(NotificationState?, Int, String)])
    func aStateIsOneWord(state: NotificationState?, status: Int, word: String) {
        let answer = WebPushReceipt.response(toState: state)
        #expect(answer.status == status && String(decoding: answer.body, as: UTF8.self) == word)
    }
}
