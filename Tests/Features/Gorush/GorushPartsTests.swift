import Encodings
import EndpointWorlds
import JSONCoding
import PushEndpoints
import Testing

@testable import Gorush

/// What gorush makes of a request, sentence by sentence, by value.
@Suite struct GorushPartsTests {
    /// One element of a request with these members.
    private func notification(_ members: String) throws -> GorushNotification {
        let body = Array(#"{"notifications":[{\#(members)}]}"#.utf8)
        return try #require(try GorushRequest(body, limit: 1).notifications.first)
    }

    private func apple(_ members: String) throws -> (aps: JSON?, body: JSON, fields: [String: String]) {
        let push = try GorushApplePush(try notification(#""platform":1,\#(members)"#))
        let body = try JSON(Array(push.body.utf8))
        return (body["aps"], body, Dictionary(uniqueKeysWithValues: push.fields.map { ($0.name, $0.value) }))
    }

    private func google(_ members: String) throws -> (push: GorushGooglePush, message: JSON?) {
        let push = try GorushGooglePush(try notification(#""platform":2,\#(members)"#))
        let body = push.body(for: try #require(push.targets.first))
        return (push, try JSON(Array(body.utf8))["message"])
    }

    private func json(_ text: String) throws -> JSON { try JSON(Array(text.utf8)) }

    // MARK: Reading

    /// One strange text spoils no other notification, as with gorush.
    @Test func aBatchIsNotLostForOneText() throws {
        let body =
            Array(
                #"{"notifications":[{"message":"a\ud83d"},{"message":"1","message":"b"},{"message":"c"#.utf8)
            + [0xFF] + Array(#""},{"message":"d"}]}"#.utf8)
        let read = try GorushRequest(body, limit: 9).notifications.map(\.message)
        #expect(read == ["a\u{FFFD}", "b", "c\u{FFFD}", "d"])
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "5", "hello", #"{"notifications":null}"#, #"{"notifications":{}}"#,
        #"{"notifications":[5]}"#, #"{"notifications":["a"]}"#, #"{"notifications":[{}]"#,
    ])
    func whatIsNoListOfElementsIsMissing(body: String) {
        #expect(throws: GorushFault.missing) { try GorushRequest(Array(body.utf8), limit: 1) }
    }

    @Test(arguments: [
        #""tokens":"a""#, #""tokens":[1]"#, #""tokens":{}"#, #""platform":"1""#, #""platform":1.0"#,
        #""platform":1e0"#, #""platform":true"#, #""message":5"#, #""title":[]"#, #""image":1"#,
        #""priority":10"#, #""content_available":1"#, #""content_available":"true""#, #""mutable_content":0"#,
        #""data":"a""#, #""data":[]"#, #""topic":1"#, #""to":[]"#, #""condition":{}"#, #""retry":"1""#,
        #""notif_id":7"#, #""expiration":"1""#, #""badge":"1""#, #""badge":1.5"#, #""apns_id":1"#,
        #""collapse_id":1"#, #""push_type":1"#, #""category":1"#, #""thread-id":1"#, #""url-args":"a""#,
        #""alert":"text""#, #""alert":{"title":1}"#, #""alert":{"loc-args":"1"}"#, #""production":1"#,
        #""development":"yes""#, #""name":1"#, #""volume":"1""#, #""interruption_level":1"#, #""event":1"#,
        #""timestamp":"1""#, #""content-state":[]"#, #""attributes":1"#, #""relevance-score":"1""#,
        #""notification":"a""#, #""android":[]"#, #""webpush":1"#, #""apns":"a""#, #""fcm_options":[]"#,
    ])
    func aValueOfAnotherTypeSpoilsTheRequest(member: String) {
        #expect(throws: GorushFault.missing) { try notification(member) }
    }

    /// As Go reads it: null is nothing, and the case of a name doesn't matter.
    @Test func namesAreTakenInAnyCaseAndNullIsNothing() throws {
        let body = #"{"Notifications":[{"TOKENS":["a"],"Platform":1,"Message":"m","Mutable_Content":true}]}"#
        let read = try #require(try GorushRequest(Array(body.utf8), limit: 1).notifications.first)
        #expect(read.tokens == ["a"] && read.platform == .ios && read.message == "m" && read.isMutableContent)
        let empty = try notification(
            #""tokens":null,"platform":null,"message":null,"data":null,"alert":null,"badge":null,"sound":null"#
        )
        #expect(empty.tokens.isEmpty && empty.platform == nil && empty.message.isEmpty && empty.data.isEmpty)
        #expect(try notification(#""unknown":{"a":[1]}"#).count == 0)
        #expect(
            try GorushRequest(Array(#"{"notifications":[null]} rest"#.utf8), limit: 1).notifications.count
                == 1)
    }

    @Test func elementsAreCountedBeforeAnythingIsMadeOfThem() throws {
        let body = Array(#"{"notifications":[{},{},{}]}"#.utf8)
        #expect(try GorushRequest(body, limit: 3).notifications.count == 3)
        #expect(throws: GorushFault.tooMany(count: 3, limit: 2)) { try GorushRequest(body, limit: 2) }
        #expect(GorushFault.tooMany(count: 3, limit: 2).message == "Number of notifications(3) over limit(2)")
        #expect(throws: GorushFault.empty) {
            try GorushRequest(Array(#"{"notifications":[]}"#.utf8), limit: 1)
        }
    }

    @Test(arguments: [("", 1000), (#","to":"a""#, 999)])
    func tokensOfAllElementsAreCountedTogether(more: String, most: Int) throws {
        func request(_ count: Int) throws -> GorushRequest {
            let (one, other) = (count / 2, count - count / 2)
            let lists = [one, other].map { Array(repeating: "\"\"", count: $0).joined(separator: ",") }
            let body = "{\"notifications\":[{\"tokens\":[\(lists[0])]\(more)},{\"tokens\":[\(lists[1])]}]}"
            return try GorushRequest(Array(body.utf8), limit: 2)
        }
        #expect(try request(most).notifications.count == 2)
        #expect(throws: GorushFault.self) { try request(most + 1) }
    }

    /// `to` and `condition` are not counted, a topic is, on either platform.
    @Test(arguments: [
        (#""tokens":["a","b"]"#, 2), (#""tokens":["a"],"topic":"t""#, 2), (#""topic":"t""#, 1),
        (#""tokens":[],"to":"a""#, 0), (#""condition":"c""#, 0), (#""tokens":["",null]"#, 2),
    ])
    func countsAreGorushs(members: String, count: Int) throws {
        #expect(try notification(members).count == count)
    }

    // MARK: Apple

    @Test(arguments: [
        (#""message":"m""#, #""m""#), (#""title":"t""#, #"{"title":"t"}"#),
        (#""message":"m","title":"t""#, #"{"title":"t","body":"m"}"#),
        (#""message":"m","alert":{"subtitle":"s"}"#, #"{"subtitle":"s"}"#),
        (#""message":"m","alert":{"body":"b"}"#, #"{"body":"b"}"#),
        (#""message":"m","title":"t","alert":{"title":"a","body":"b"}"#, #"{"title":"a","body":"b"}"#),
        (#""message":"m","alert":{"title":"","loc-args":[],"summary-arg-count":0}"#, #""m""#),
        (#""alert":{"loc-key":"k","loc-args":["1",""]}"#, #"{"loc-key":"k","loc-args":["1",""]}"#),
    ])
    func anAlertIsTextOrObject(members: String, alert: String) throws {
        #expect(try apple(members).aps?["alert"] == json(alert))
    }

    @Test func nothingIsShownOfNothing() throws {
        #expect(try apple(#""data":{}"#).body == json(#"{"aps":{}}"#))
    }

    @Test(
        arguments: [
            (#""priority":"normal""#, "apns-priority", "5"), (#""priority":"high""#, "apns-priority", "10"),
            (#""priority":"HIGH""#, "apns-priority", nil), (#""priority":"""#, "apns-priority", nil),
            (#""expiration":1"#, "apns-expiration", "1"), (#""expiration":0"#, "apns-expiration", nil),
            (#""expiration":-1"#, "apns-expiration", nil), (#""push_type":"""#, "apns-push-type", "alert"),
            (#""push_type":"voip""#, "apns-push-type", "voip"),
            (#""collapse_id":"c""#, "apns-collapse-id", "c"),
            (#""apns_id":"i""#, "apns-id", "i"), (#""apns_id":"""#, "apns-id", nil),
        ] as [(String, String, String?)])
    func headersAreSentWhereTheyAreSaid(members: String, name: String, value: String?) throws {
        #expect(try apple(members).fields[name] == value)
    }

    @Test(
        arguments: [
            (#""badge":0"#, "badge", "0"), (#""badge":-1"#, "badge", nil),
            (#""mutable_content":true"#, "mutable-content", "1"),
            (#""mutable_content":false"#, "mutable-content", nil),
            (#""content_available":true"#, "content-available", "1"), (#""sound":"a""#, "sound", #""a""#),
            (#""sound":"""#, "sound", nil), (#""sound":5"#, "sound", nil),
            (#""sound":{"critical":0,"name":"","volume":0}"#, "sound", "{}"),
            (#""sound":{"critical":1,"volume":1}"#, "sound", #"{"critical":1,"volume":1}"#),
            (#""name":"n""#, "sound", #"{"critical":1,"name":"n","volume":1}"#),
            (#""volume":0.5"#, "sound", #"{"critical":1,"name":"default","volume":0.5}"#),
            (#""url-args":[]"#, "url-args", nil), (#""thread-id":"t""#, "thread-id", #""t""#),
            (#""interruption_level":"passive""#, "interruption-level", #""passive""#),
            (#""relevance-score":0.5"#, "relevance-score", "0.5"), (#""timestamp":0"#, "timestamp", nil),
        ] as [(String, String, String?)])
    func applesDictionaryHasWhatIsSaid(members: String, key: String, value: String?) throws {
        #expect(try apple(members).aps?[key] == value.map { try json($0) })
    }

    @Test func dataStandsBesideApplesDictionaryAndNeverInItsPlace() throws {
        let push = try apple(#""message":"m","data":{"aps":{"badge":9},"n":2,"o":{"b":[null,1.5]}}"#)
        #expect(push.body == (try json(#"{"aps":{"alert":"m"},"n":2,"o":{"b":[null,1.5]}}"#)))
    }

    @Test(
        arguments: [
            ("", "one"), ("org.one", "one"), ("org.one.voip", "one"), ("org.one.push-type.widgets", "one"),
            ("org.two.pushkit.fileprovider", "two"), ("org.one.two", "three"),
            ("org.one.two.complication", "three"),
            ("org.one.", nil), ("org.one.x", nil), ("org.one.voip.x", nil), ("org.onevoip", nil),
            ("org", nil),
            (".voip", nil),
        ] as [(String, String?)])
    func aTopicIsAnAppsOrThatWithAnEndingOfApples(topic: String, app: String?) {
        var apps = PushApps()
        apps.ios = [("one", "org.one"), ("two", "org.two"), ("three", "org.one.two")].map {
            PushApps.Apple(name: $0, topic: $1)
        }
        #expect(apps.app(topic: topic) == app)
    }

    // MARK: Google

    @Test(arguments: [
        (#""a""#, "a"), ("5", "5"), ("5.0", "5"), ("1.5", "1.5"), ("-0.25", "-0.25"), ("true", "true"),
        ("null", "null"), (#"{"b":1,"a":"x"}"#, #"{"a":"x","b":1}"#), (#"["ü",null]"#, #"["ü",null]"#),
    ])
    func dataAreTexts(value: String, text: String) throws {
        let message = try google(#""tokens":["a"],"data":{"k":\#(value)}"#).message
        #expect(message?["data"] == ["k": .string(text)])
    }

    @Test(arguments: [
        (#""title":"t","image":"i""#, #"{"notification":{"title":"t","image":"i"}}"#),
        (
            #""message":"m","notification":{"title":"t","body":"b","color":"red"}"#,
            #"{"notification":{"title":"t","body":"m"}}"#
        ),
        (
            #""message":"m","mutable_content":true,"apns":{"headers":{"a":"b"}}"#,
            #"{"notification":{"body":"m"},"apns":{"payload":{"aps":{"mutable-content":1}}}}"#
        ),
        (#""mutable_content":true,"data":{"a":"b"}"#, #"{"data":{"a":"b"}}"#),
        (
            #""message":"m","mutable_content":true,"content_available":true"#,
            #"{"notification":{"body":"m"},"apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"content-available":1}}}}"#
        ),
        (
            #""sound":"s""#,
            #"{"android":{"notification":{"sound":"s"}},"apns":{"payload":{"aps":{"sound":"s"}}}}"#
        ),
        (
            #""sound":"s","android":{"ttl":"1s","unknown":1}"#,
            #"{"android":{"ttl":"1s"},"apns":{"payload":{"aps":{"sound":"s"}}}}"#
        ),
        (#""sound":{"name":"s"}"#, "{}"),
        (
            #""priority":"normal","android":{"priority":"high"},"webpush":{"data":{"a":"b"}}"#,
            #"{"android":{"priority":"high"},"webpush":{"data":{"a":"b"}}}"#
        ),
    ])
    func aMessageHasTheBlocksThatAreSaid(members: String, message: String) throws {
        var expected = try json(message).object ?? [:]
        expected["token"] = "a"
        #expect(try google(#""tokens":["a"],\#(members)"#).message == .object(expected))
    }

    @Test func aBroadcastGoesFirstAndEachTokenAfterIt() throws {
        let push = try google(#""topic":"/topics/x","tokens":["a","b"],"to":"c""#).push
        #expect(push.targets == [.topic("x"), .token("a"), .token("b"), .token("c")] && push.isBroadcast)
        #expect(try google(#""condition":"c""#).push.targets == [.condition("c")])
        #expect(try google(#""topic":"topics/x""#).push.targets == [.topic("topics/x")])
        #expect(try !google(#""to":"c""#).push.isBroadcast)
    }

    @Test(arguments: [
        (#""tokens":[]"#, "the message must specify at least one registration ID"),
        (#""tokens":["a"],"priority":"max""#, "priority must be 'normal' or 'high'"),
        (#""tokens":["a"],"android":{"priority":"low"}"#, "priority must be 'normal' or 'high'"),
        (
            #""to":"b","tokens":[\#(Array(repeating: #""a""#, count: 500).joined(separator: ","))]"#,
            "too many tokens"
        ),
    ])
    func whatItsLibraryRefusesIsRefused(members: String, reason: String) throws {
        #expect(throws: GorushRefusal(reason: reason)) { try google(members) }
    }

    @Test func fiveHundredTokensAreTaken() throws {
        let tokens = Array(repeating: #""a""#, count: 500).joined(separator: ",")
        #expect(try google(#""tokens":[\#(tokens)]"#).push.targets.count == 500)
    }
}
