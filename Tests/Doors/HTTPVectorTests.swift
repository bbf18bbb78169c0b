import EndpointWorlds
import Foundation
import HTTP1
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors

/// What Bisq's clients send, through the real door and over TLS to Apple and Google: the answers they need, and the
/// pushes that their phones read.
@EventLoop
@Suite(.serialized) struct HTTPVectorTests {
    struct Get: Decodable, Sendable, CustomTestStringConvertible {
        struct Meaning: Decodable, Sendable {
            var provider: String
            var isProduction: Bool?
            var isContentAvailable: Bool?
            var snd: Bool?
            var notification_token: String
            var encrypted: String
            var isMutableContent: Bool
        }
        struct Answer: Decodable, Sendable {
            var status: Int
            var body: String?
        }

        var name: String
        var path_and_query: String
        var headers: [String: String]?
        var expect: Meaning?
        var success_response: Answer?
        var error_response: Answer?

        var testDescription: String { name }
    }

    nonisolated static let gets = try! Vectors.bisq("relay_get", as: [Get].self)

    @Test(arguments: gets)
    func aGetOfBisq1HasItsAnswerAndItsPush(vector: Get) async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        let fields = (vector.headers ?? [:]).map { "\($0): \($1)\r\n" }.joined()
        let answer = try #require(await client.get(vector.path_and_query, fields: fields))
        if let expected = vector.error_response {
            #expect(answer.status == expected.status)
            #expect(world.dispatcher.waiting == 0)
            return await world.end()
        }
        let expected = try #require(vector.success_response)
        let meaning = try #require(vector.expect)
        #expect(answer.status == expected.status)
        #expect(answer.body == Array("success".utf8))
        #expect(answer.fields["content-length"] == "7")
        let push = await world.pushes(1)[0]
        let body = try JSON(push.body)
        #expect(push.deviceToken == meaning.notification_token)
        if meaning.provider == "fcm" {
            #expect(world.google.book.count == 1)
            #expect(body["message"]?["data"] == .object(["encrypted": .string(meaning.encrypted)]))
            #expect(body["message"]?["android"]?["priority"] == .string("high"))
            #expect(body["message"]?["notification"] == nil)
        } else {
            let host = meaning.isProduction == false ? world.sandbox : world.apple
            #expect(host.book.count == 1)
            let isBisq1 = meaning.encrypted.hasPrefix("BisqMessage")
            #expect(
                push.headers["apns-topic"] == (isBisq1 ? RelayWorld.bisq1Topic : RelayWorld.bisq2Topic))
            #expect(push.headers["apns-push-type"] == "alert")
            #expect(push.headers["apns-priority"] == "10")
            let body = String(decoding: push.body, as: UTF8.self)
            var aps = #"{"alert":{"loc-key":"notification"}"#
            if meaning.isContentAvailable ?? true { aps += #","content-available":1"# }
            if meaning.snd == true { aps += #","sound":"default""# }
            if meaning.isMutableContent { aps += #","mutable-content":1"# }
            #expect(body == #"{"encrypted":"\#(meaning.encrypted)","aps":\#(aps)}}"#)
        }
        await world.end()
    }

    @Test func lightClientsPathWithTwoSlashesIsTheSame() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        let vector = try #require(Self.gets.first { $0.success_response != nil })
        let answer = await client.get("/" + vector.path_and_query, fields: "User-Agent: bisq/1.9, uid: 1\r\n")
        #expect(answer?.status == 200)
        #expect(answer?.text == "success")
        await world.end()
    }

    struct Post: Decodable, Sendable, CustomTestStringConvertible {
        struct Body: Decodable, Sendable {
            var encrypted: String
            var isUrgent: Bool
            var isMutableContent: Bool?
        }

        var name: String
        var path: String
        var headers: [String: String]
        var body: Body
        var success_response: Get.Answer

        var testDescription: String { name }
    }

    nonisolated static let posts = try! Vectors.bisq("relay_post", as: [Post].self)

    /// Java's maps write the keys in no fixed order; a token that is not in the path is in the body.
    @Test(arguments: posts, [false, true])
    func aPostOfBisq2HasItsAnswerAndItsPush(vector: Post, isTokenInBody: Bool) async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        let path = vector.path.components(separatedBy: "/device/")
        var members = [#""encrypted":"\#(vector.body.encrypted)""#, #""isUrgent":\#(vector.body.isUrgent)"#]
        if let isMutable = vector.body.isMutableContent {
            members.append(#""isMutableContent":\#(isMutable)"#)
        }
        if isTokenInBody { members.append(#""deviceToken":"\#(path[1])""#) }
        members.append(#""somethingNew":{"a":[1,null]}"#)
        let body = "{\((isTokenInBody ? members.reversed() : members).joined(separator: ","))}"
        let answer = try #require(await client.post(isTokenInBody ? path[0] : vector.path, body))
        #expect(answer.status == vector.success_response.status)
        #expect(answer.text == vector.success_response.body)
        #expect(answer.fields["content-type"] == "application/json")
        let push = await world.pushes(1)[0]
        #expect(push.deviceToken == path[1])
        if path[0].hasSuffix("fcm") {
            let message = try JSON(push.body)["message"]
            #expect(message?["data"] == .object(["encrypted": .string(vector.body.encrypted)]))
            #expect(message?["android"]?["priority"] == .string("high"))
        } else {
            #expect(push.headers["apns-topic"] == RelayWorld.bisq2Topic)
            #expect(push.headers["apns-push-type"] == (vector.body.isUrgent ? "alert" : "background"))
            #expect(push.headers["apns-priority"] == (vector.body.isUrgent ? "10" : "5"))
            #expect(try JSON(push.body)["encrypted"] == .string(vector.body.encrypted))
        }
        await world.end()
    }

    struct Verdict: Decodable, Sendable, CustomTestStringConvertible {
        var when: String
        var status: Int
        var body: String

        var testDescription: String { when }
    }

    @Test(arguments: try! Vectors.bisq("relay_post_responses", as: [Verdict].self))
    func aVerdictOfTheGatewayIsTold(vector: Verdict) async throws {
        let world = try await RelayWorld { $0.door.outcomeDeadline = .seconds(30) }
        let apple = "/v1/apns/device/" + String(repeating: "0a", count: 32)
        let google = "/v1/fcm/device/" + String(repeating: "t:-_", count: 30)
        let body = #"{"encrypted":"\#(String(repeating: "QUJD", count: 12))","isUrgent":true}"#
        let path: String
        switch vector.when {
        case "accepted": path = google
        case "APNs answers 410 Unregistered, with a timestamp":
            // 2026-03-01T10:15:30.123Z
            world.apple.faults = FaultScript([
                FaultRule(.answer(status: 410, reason: "Unregistered", timestamp: 1_772_360_130_123))
            ])
            path = apple
        case "APNs answers 400 BadDeviceToken":
            world.apple.faults = FaultScript([FaultRule(.answer(status: 400, reason: "BadDeviceToken"))])
            path = apple
        case "APNs answers 400 BadTopic":
            // Bisq's relay forgets it. This node keeps it until the operator has mended that, so it is not refused.
            world.apple.faults = FaultScript([FaultRule(.answer(status: 400, reason: "BadTopic"))])
            let answer = try await world.client().post(apple, body)
            #expect(answer?.status == 200 && world.dispatcher.waiting == 1)
            return await world.end()
        case "FCM answers UNREGISTERED with the text 'Requested entity was not found.'":
            world.google.faults = FaultScript([FaultRule(.answer(status: 404, reason: "UNREGISTERED"))])
            path = google
        case "the gateway cannot be reached (relay 2.0.0)":
            // Tested below: this node has taken responsibility and says so.
            return await world.end()
        case let unknown:
            Issue.record("no such case: \(unknown)")
            return await world.end()
        }
        let answer = try #require(await world.client().post(path, body))
        #expect(answer.status == vector.status)
        #expect(answer.text == vector.body)
        await world.end()
    }

    struct Pushes: Decodable, Sendable {
        struct Input: Decodable, Sendable {
            var encrypted: String
            var isUrgent: Bool
            var isMutableContent: Bool
        }
        struct Apple: Decodable, Sendable {
            var input: Input
            var path: String
            var headers: [String: String?]?
            var body: String
        }

        var apns_urgent: Apple
        var apns_mutable: Apple
        var apns_background: Apple
        var longest_encrypted_string_for_apns: Int
    }

    /// Byte for byte what Bisq's relay sends, with an own collapse id for each notification.
    @Test func whatApplesPhonesGetIsByteForByteTheRelays() async throws {
        let vectors = try Vectors.bisq("gateway", as: Pushes.self)
        for (index, vector) in [vectors.apns_urgent, vectors.apns_mutable, vectors.apns_background]
            .enumerated()
        {
            let world = try await RelayWorld { $0.door.bisq2.ios = "bisq1-ios" }
            let token = try #require(vector.path.components(separatedBy: "/").last)
            let input = vector.input
            let answer = try await world.client().post(
                "/v1/apns/device/\(token)",
                #"{"encrypted":"\#(input.encrypted)","isUrgent":\#(input.isUrgent),"isMutableContent":\#(input.isMutableContent)}"#
            )
            #expect(answer?.status == 200)
            let push = await world.pushes(1)[0]
            #expect(push.headers[":path"] == vector.path)
            let sent: [String: String?] = [
                "apns-topic": push.headers["apns-topic"], "apns-push-type": push.headers["apns-push-type"],
                "apns-priority": push.headers["apns-priority"],
            ]
            if let expected = vector.headers { #expect(sent.allSatisfy { expected[$0] == $1 }) }
            let expiration = try #require(push.headers["apns-expiration"].flatMap { Int64($0) })
            #expect(abs(expiration - (EventLoop.unixMilliseconds / 1000 + 28 * 86400)) <= 5)
            #expect(push.headers["apns-collapse-id"] == push.headers["apns-id"])
            if index < 2 {
                #expect(String(decoding: push.body, as: UTF8.self) == vector.body)
            } else {
                // A background push has no alert by Apple's rule; the relay's has one.
                let body = vector.body.replacing(#""alert":{"loc-key":"notification"},"#, with: "")
                #expect(String(decoding: push.body, as: UTF8.self) == body)
            }
            await world.end()
        }
    }

    @Test(arguments: [
        ("fcm_urgent_data_only", true, false), ("fcm_urgent_with_notification", true, true),
        ("fcm_normal_data_only", false, false),
    ])
    func whatAndroidPhonesGetIsTheRelaysMessage(name: String, isUrgent: Bool, withNotification: Bool)
        async throws
    {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Vectors/bisq-vectors.json")
        let expected = try #require(try JSON(Array(Data(contentsOf: file)))["gateway"]?[name])
        let world = try await RelayWorld { $0.withNotification = withNotification }
        let message = try #require(expected["message"])
        let token = try #require(message["token"]?.string)
        let encrypted = try #require(message["data"]?["encrypted"]?.string)
        let answer = try await world.client().post(
            "/v1/fcm/device/\(token)", #"{"encrypted":"\#(encrypted)","isUrgent":\#(isUrgent)}"#)
        #expect(answer?.status == 200)
        let push = await world.pushes(1)[0]
        #expect(try JSON(push.body) == expected)
        await world.end()
    }

    @Test func theLongestMessageThatApplesLimitLeavesRoomForIsPushed() async throws {
        let longest = try Vectors.bisq("gateway", as: Pushes.self).longest_encrypted_string_for_apns
        let world = try await RelayWorld()
        let client = try await world.client()
        let token = String(repeating: "0a", count: 32)
        // Base64 comes in fours: 4,015 characters are none of it, 4,012 are.
        for (count, status) in [(longest / 4 * 4, 200), (longest / 4 * 4 + 4, 413)] {
            let text = String(repeating: "QUJD", count: count / 4)
            let hex = text.utf8.map { String($0, radix: 16) }.joined()
            let get = await client.get("/relay?isAndroid=false&token=\(token)&msg=\(hex)")
            #expect(get?.status == status)
            let post = await client.post(
                "/v1/apns/device/\(token)", #"{"encrypted":"\#(text)","isUrgent":true}"#)
            #expect(post?.status == status)
            if status == 413 {
                #expect(get?.text == "MessageTooLarge")
                #expect(
                    post?.text
                        == #"{"wasAccepted":false,"errorCode":"MessageTooLarge","isUnregistered":false}"#)
            }
        }
        // Both forms brought the same message for the same app: one push.
        #expect(await world.pushes(1).map(\.body.count) == [4093])
        await world.end()
    }
}
