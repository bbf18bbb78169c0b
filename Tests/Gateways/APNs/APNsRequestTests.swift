import Crypto
import Relay
import Testing
import Vectors

@testable import Gateways

@Suite struct APNsRequestTests {
    struct Vector: Decodable {
        struct Input: Decodable {
            let encrypted: String
            let isUrgent: Bool
            let isMutableContent: Bool
        }
        let input: Input
        let path: String
        let headers: [String: String?]?
        let body: String
    }

    struct Gateway: Decodable {
        let apns_urgent: Vector
        let apns_mutable: Vector
        let apns_background: Vector
        let apns_body_bytes: Int
        let apns_limit_bytes: Int
        let longest_encrypted_string_for_apns: Int
    }

    private static let token = "cce4ac59f9b90dd3abf495396fa78e2de71086fb109a743daf1a5ed746f0a537"

    private func sample(_ vector: Vector) -> Notification {
        notification(
            message: vector.input.encrypted, deviceToken: APNsRequestTests.token,
            isUrgent: vector.input.isUrgent,
            isMutableContent: vector.input.isMutableContent)
    }

    private func headers(_ notification: Notification, authorization: Secret? = nil) -> [String: String] {
        var heads = APNsHeads(authority: "api.push.apple.com", topic: "bisqremote.joachimneumann.com")
        let head = heads.head(of: notification, authorization: authorization)
        return Dictionary(uniqueKeysWithValues: head.all)
    }

    @Test func alertsAreByteForByteWhatBisqsPhonesRead() throws {
        let vectors: Gateway = try Vectors.bisq("gateway")
        for vector in [vectors.apns_urgent, vectors.apns_mutable] {
            #expect(text(APNsRequest.body(sample(vector))) == vector.body)
            #expect(headers(sample(vector))[":path"] == vector.path)
        }
        #expect(APNsRequest.payloadSize(sample(vectors.apns_urgent).bisq) == vectors.apns_body_bytes)
        for vector in [vectors.apns_urgent, vectors.apns_background] {
            let sent = headers(sample(vector))
            let expected = try #require(vector.headers)
            for name in ["apns-topic", "apns-push-type", "apns-priority"] {
                #expect(sent[name] == expected[name])
            }
        }
    }

    @Test func whatIsNotUrgentIsATrueBackgroundPush() {
        let body = APNsRequest.body(
            notification(message: "abcd", isUrgent: false, hasSound: true, isMutableContent: true))
        #expect(text(body) == #"{"encrypted":"abcd","aps":{"content-available":1}}"#)
    }

    @Test func soundAndContentAreAsAsked() {
        let all = APNsRequest.body(notification(message: "abcd", hasSound: true, isMutableContent: true))
        #expect(
            text(all)
                == #"{"encrypted":"abcd","aps":{"alert":{"loc-key":"notification"},"content-available":1,"sound":"default","mutable-content":1}}"#
        )
        let least = APNsRequest.body(notification(message: "abcd", isContentAvailable: false))
        #expect(text(least) == #"{"encrypted":"abcd","aps":{"alert":{"loc-key":"notification"}}}"#)
    }

    @Test(arguments: [true, false], [true, false])
    func thePayloadsSizeIsThatOfItsBody(isUrgent: Bool, isMutableContent: Bool) {
        let sample = notification(isUrgent: isUrgent, hasSound: isUrgent, isMutableContent: isMutableContent)
        #expect(APNsRequest.payloadSize(sample.bisq) == APNsRequest.body(sample).count)
    }

    @Test func theLongestTextFillsApplesLimit() throws {
        let vectors: Gateway = try Vectors.bisq("gateway")
        let longest = String(repeating: "A", count: vectors.longest_encrypted_string_for_apns)
        #expect(APNsRequest.payloadSize(notification(message: longest).bisq) == vectors.apns_limit_bytes)
        let tooLong = notification(message: longest + "A").bisq
        #expect(APNsRequest.payloadSize(tooLong) == vectors.apns_limit_bytes + 1)
    }

    @Test func eachNotificationHasItsOwnIdentifiers() {
        let sent = headers(
            notification(
                expiresAt: 1_800_000_000_999,
                id: NotificationID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)),
            authorization: Secret("bearer x.y.z"))
        #expect(sent["apns-id"] == "01234567-89ab-cdef-fedc-ba9876543210")
        #expect(sent["apns-collapse-id"] == sent["apns-id"])
        #expect(sent["apns-expiration"] == "1800000000")
        #expect(sent["authorization"] == "bearer x.y.z")
        #expect(sent[":method"] == "POST" && sent[":authority"] == "api.push.apple.com")
        #expect(headers(notification())["authorization"] == nil)
    }

    @Test func aPreparedPushGoesOutAsItsDoorMadeIt() {
        let push = PreparedPush(
            .object(#"{"aps":{"alert":"🎺"}}"#), isUrgent: false, collapseID: "topic")
        #expect(text(APNsRequest.body(notification(push))) == push.body)
        let sent = headers(notification(push))
        #expect(sent["apns-push-type"] == "alert" && sent["apns-priority"] == "5")
        #expect(sent["apns-collapse-id"] == "topic")
        #expect(sent["apns-id"] == NotificationID(high: 1, low: 2).uuid)
        let silent = headers(notification(PreparedPush(.object("{}", isAlert: false))))
        #expect(silent["apns-push-type"] == "background" && silent["apns-priority"] == "10")
        #expect(silent["apns-collapse-id"] == silent["apns-id"])
    }

    /// A field that belongs to no push is let go.
    @Test func anExactPushHasNothingOfOursBesideIt() {
        let plain = headers(
            notification(PreparedPush(exactly: "{}", fields: [.init("apns-push-type", "alert")])))
        #expect(plain["apns-topic"] == "bisqremote.joachimneumann.com" && plain["apns-push-type"] == "alert")
        for absent in ["apns-priority", "apns-expiration", "apns-id", "apns-collapse-id"] {
            #expect(plain[absent] == nil, "\(absent)")
        }
        let fields = [
            ("apns-topic", "own"), ("apns-priority", "5"), ("apns-expiration", "9"), ("apns-id", "x: y"),
            ("apns-collapse-id", "c"), ("apns-other", "z"),
        ].map { PreparedPush.Field($0.0, $0.1) }
        let sent = headers(notification(PreparedPush(exactly: "{}", fields: fields)))
        #expect(sent["apns-topic"] == "own" && sent["apns-id"] == "x: y" && sent["apns-other"] == nil)
        #expect(
            sent["apns-priority"] == "5" && sent["apns-expiration"] == "9" && sent["apns-collapse-id"] == "c")
    }

    @Test(
        arguments: [
            (PreparedPush.Expiry.withNotification, "1800000000"), (.atOnce, "1700000000"), (.unsaid, nil),
        ] as [(PreparedPush.Expiry, String?)])
    func appleIsToldHowLongToKeepIt(expiry: PreparedPush.Expiry, expected: String?) {
        let sent = headers(notification(PreparedPush(.object("{}"), expiry: expiry)))
        #expect(sent["apns-expiration"] == expected)
    }
}
