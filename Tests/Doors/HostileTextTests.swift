import Encodings
import HTTP1
import JSONCoding
import PushEndpoints
import Relay
import Testing
import Vectors
import Wire

@testable import Bitwarden
@testable import Doors
@testable import Gorush
@testable import WebPushIn

/// A stranger's text costs what its length says, whatever is in it and at whichever door.
@Suite struct HostileTextTests {
    @Test func gorushsNamesAndTexts() {
        let ratio = HostileText.ratio { text in
            let body = #"""
                {"\#(text)":1,"\#(text)A":1,"notifications":[{"tokens":["\#(text)"],"platform":1,"message":"\#(text)",
                "priority":"\#(text)","topic":"\#(text)","Data":{"\#(text)":1,"a":"\#(text)"},"sound":"\#(text)"},
                {"to":"\#(text)","platform":2,"priority":"\#(text)","android":{"\#(text)":1,"priority":"\#(text)"}}]}
                """#
            guard let request = try? GorushRequest(Array(body.utf8), limit: 5) else {
                Issue.record("not read")
                return
            }
            var answer = GorushAnswer(hidesTokens: true)
            var apps = PushApps()
            apps.ios = [PushApps.Apple(name: "a", topic: "b")]
            for notification in request.notifications {
                _ = try? GorushApplePush(notification)
                _ = try? GorushGooglePush(notification)
                _ = apps.app(topic: notification.topic)
                answer.add(GorushAnswer.Push(notification, to: text), error: "")
            }
        }
        #expect(ratio < 20)
    }

    @Test func bitwardensNamesAndTexts() {
        let ratio = HostileText.ratio { text in
            #expect(throws: BitwardenTokenRequest.Fault.unsupportedGrantType) {
                try BitwardenTokenRequest(Array("\(text)=1&a=\(text)&\(text)a=2".utf8))
            }
            for name in ["grant_type", "client_id", "scope"] {
                _ = try? BitwardenTokenRequest(
                    Array(
                        "\(name)=\(text)&grant_type=client_credentials&client_id=installation.\(text)".utf8))
            }
            let body = try? BitwardenBody(
                Array(#"{"\#(text)":1,"\#(text)A":2,"Id":"\#(text)","Tags":["\#(text)"]}"#.utf8))
            _ = try? body?.text("Id", limit: 100_000)
            _ = try? body?.identifier("Id")
            _ = try? body?.texts("Tags", limit: 10, skipsEmpty: true)
            _ = try? BitwardenRequest(method: "POST", path: "delete/\(text)", body: [], installation: "")
            _ = try? BitwardenRequest(method: "POST", path: text, body: [], installation: "")
        }
        #expect(ratio < 20)
    }

    @Test(arguments: ["content-encoding", "crypto-key", "encryption", "ttl", "urgency", "topic"])
    func webPushsFields(name: String) {
        let ratio = HostileText.ratio { text in
            var request = HTTPRequest(method: "POST", path: "/relay-to/\(text)/\(text)/\(text)", body: [1])
            for value in [text, "\(text)=1", "dh=\(text)", "dh=\"\(text)\"", "dh;\(text)=\"=;dh=1"] {
                request.fields = HTTPFields()
                request.fields.append(name, value)
                request.fields.append("content-encoding", "aesgcm")
                _ = try? WebPushMessage(request)
            }
            _ = WebPushRoute(path: request.path)
            _ = WebPushRoute.isSandbox("sandbox=\(text)")
        }
        #expect(ratio < 20)
    }

    @Test func theRelaysParametersAndMembers() {
        let ratio = HostileText.ratio { text in
            for name in ["isAndroid", "token", "msg"] {
                if let query = try? HTTPQuery("\(name)=\(text)&token=a&msg=61") {
                    _ = RelayGetForm.submission(query, bisq1: PhoneApps(), bisq2: PhoneApps())
                }
            }
            let body = #"{"\#(text)":1,"encrypted":"\#(text)","deviceToken":"\#(text)"}"#
            _ = RelayPostForm.submission(
                HTTPRequest(method: "POST", path: "/", body: Array(body.utf8)), .ios, token: nil, app: "")
            _ = HTTPRequest.isJSON(text)
            _ = HTTPRequest.isJSON("application/json;\(text)")
        }
        #expect(ratio < 20)
    }

    /// It is told to whom it came from, and no more of it than a uid may have.
    @Test func ofALongUidNoMoreThan64BytesComeBack() throws {
        for uid in [
            HostileText.marks(bytes: 60_000), HostileText.ascii(bytes: 60_000),
            "a" + String(repeating: "ä", count: 100),
        ] {
            let response = try #require(MobileNotificationResponse(.stored, to: uid))
            #expect((61...64).contains(response.requestUid.utf8.count))
            #expect(uid.utf8.starts(with: response.requestUid.utf8))
        }
        let whole = String(repeating: "ä", count: 32)
        #expect(try #require(MobileNotificationResponse(.stored, to: whole)).requestUid == whole)
    }
}
