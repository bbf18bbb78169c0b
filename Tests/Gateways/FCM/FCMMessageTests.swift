import Clocks
import Foundation
import JSONCoding
import Relay
import Testing
import Vectors

@testable import Gateways

@Suite struct FCMMessageTests {
    struct Gateway: Decodable {
        struct Case: Decodable {
            let message: Message
        }
        struct Message: Decodable, Equatable {
            struct Android: Decodable, Equatable {
                let ttl: String
                let priority: String
            }
            let token: String
            let data: [String: String]
            let notification: [String: String]?
            let android: Android
        }
        let fcm_urgent_data_only: Case
        let fcm_urgent_with_notification: Case
        let fcm_normal_data_only: Case
    }

    @Test func messagesAreWhatBisqsPhonesRead() throws {
        let vectors: Gateway = try Vectors.bisq("gateway")
        let now: UnixTime = 1_795_000_000_000
        for vector in [
            vectors.fcm_urgent_data_only, vectors.fcm_urgent_with_notification, vectors.fcm_normal_data_only,
        ] {
            let expected = vector.message
            let sample = notification(
                message: try #require(expected.data["encrypted"]), deviceToken: expected.token,
                isUrgent: expected.android.priority == "high", expiresAt: now + .seconds(28 * 86_400))
            let body = FCMMessage.body(sample, withNotification: expected.notification != nil, now: now)
            let sent = try JSONDecoder().decode(Gateway.Case.self, from: Data(body))
            #expect(sent.message == expected)
            #expect(try JSON(body)["message"]?.object?.count == (expected.notification == nil ? 3 : 4))
        }
    }

    @Test(arguments: [
        (-1, "0s"), (0, "0s"), (1, "1s"), (1000, "1s"), (1001, "2s"), (2_419_200_000, "2419200s"),
        (2_419_201_000, "2419200s"),
    ])
    func itLivesAsLongAsItMay(left: Int64, expected: String) throws {
        let body = FCMMessage.body(
            notification(expiresAt: UnixTime(milliseconds: 5_000 + left)), withNotification: false, now: 5_000
        )
        #expect(try JSON(body)["message"]?["android"]?["ttl"]?.string == expected)
    }

    @Test func googleCountsKeysAndValues() {
        let content = notification(message: "abcd").bisq
        #expect(FCMMessage.payloadSize(content, withNotification: false) == 13)
        #expect(FCMMessage.payloadSize(content, withNotification: true) == 13 + 9 + 37 + 16)
    }

    @Test func anExactPushIsTheWholeRequest() {
        let push = PreparedPush(exactly: #"{"message":{"topic":"a"}}"#)
        #expect(text(FCMMessage.body(notification(push), withNotification: true, now: 5_000)) == push.body)
    }

    @Test func aPreparedPushHasTheMembersThatItsDoorMade() {
        let push = PreparedPush(
            .members(#""data":{"p":"x"}"#), isUrgent: false, collapseID: #"a"b"#)
        let token = String(repeating: "ab", count: 32)
        let body = FCMMessage.body(
            notification(push, expiresAt: 65_000), withNotification: true, now: 5_000)
        #expect(
            text(body)
                == #"{"message":{"token":"\#(token)","data":{"p":"x"},"android":{"priority":"normal","ttl":"60s","#
                + #""collapse_key":"a\"b"}}}"#)
    }

    @Test(
        arguments: [(PreparedPush.Expiry.withNotification, "60s"), (.atOnce, "0s"), (.unsaid, nil)]
            as [(PreparedPush.Expiry, String?)])
    func googleIsToldHowLongToKeepIt(expiry: PreparedPush.Expiry, expected: String?) throws {
        let push = PreparedPush(.members(#""data":{}"#), expiry: expiry)
        let body = FCMMessage.body(
            notification(push, expiresAt: 65_000), withNotification: false, now: 5_000)
        let android = try JSON(body)["message"]?["android"]
        #expect(android?["ttl"]?.string == expected)
        #expect(android?["priority"]?.string == "high")
        #expect(android?["collapse_key"] == nil)
    }
}
