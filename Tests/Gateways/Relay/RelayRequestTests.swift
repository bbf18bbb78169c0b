import Encodings
import Foundation
import JSONCoding
import Relay
import Testing
import Vectors

@testable import Gateways

/// What goes to another relay is what Bisq itself sends there, byte for byte.
@Suite struct RelayRequestTests {
    struct Get: Decodable {
        struct Expected: Decodable {
            let provider: String?
            let isProduction: Bool?
            let isContentAvailable: Bool?
            let snd: Bool?
            let notification_token: String?
            let encrypted: String?
        }
        let name: String
        let path_and_query: String
        let expect: Expected?
    }

    struct Post: Decodable {
        struct Body: Decodable {
            let encrypted: String
            let isUrgent: Bool?
            let isMutableContent: Bool?
        }
        let path: String
        let body: Body
    }

    @Test func theGETIsBisqOnes() throws {
        var count = 0
        for vector in try Vectors.bisq("relay_get", as: [Get].self) {
            // The others are not Bisq 1's, or are to be refused.
            guard let expected = vector.expect, let isProduction = expected.isProduction,
                let token = expected.notification_token, let message = expected.encrypted,
                let isContentAvailable = expected.isContentAvailable, let hasSound = expected.snd,
                vector.path_and_query.hasPrefix("/relay?isAndroid=")
            else { continue }
            let platform: Platform =
                expected.provider == "fcm" ? .android : isProduction ? .ios : .iosDev
            let target = try #require(
                RelayService(form: .bisq1).target(token, on: platform))
            let sample = notification(
                message: message, deviceToken: target.deviceToken.text, host: target.host,
                hasSound: hasSound, isContentAvailable: isContentAvailable)
            let request = RelayRequest(sample, sample.bisq, on: platform, form: .bisq1, below: "/")
            #expect(request.method == "GET" && request.body.isEmpty)
            #expect(request.target == vector.path_and_query, "\(vector.name)")
            // A newer relay of Bisq's consumes JSON, whatever the method is.
            #expect(request.head(authority: "x.onion")["content-type"] == "application/json")
            count += 1
        }
        #expect(count >= 3)
    }

    @Test func thePOSTIsBisqTwos() throws {
        for vector in try Vectors.bisq("relay_post", as: [Post].self) {
            let isAndroid = vector.path.hasPrefix("/v1/fcm")
            let token = try #require(vector.path.split(separator: "/").last.map(String.init))
            let platform: Platform = isAndroid ? .android : .ios
            let target = try #require(RelayService(form: .bisq2).target(token, on: platform))
            let sample = notification(
                message: vector.body.encrypted, deviceToken: token, host: target.host,
                isUrgent: vector.body.isUrgent ?? false,
                isMutableContent: vector.body.isMutableContent ?? false)
            let request = RelayRequest(sample, sample.bisq, on: platform, form: .bisq2, below: "/base/")
            #expect(request.method == "POST" && request.target == "/base" + vector.path)
            let body = try JSONDecoder().decode(Post.Body.self, from: Data(request.body))
            #expect(body.encrypted == vector.body.encrypted)
            #expect(body.isUrgent == vector.body.isUrgent ?? false)
            #expect(body.isMutableContent == vector.body.isMutableContent ?? false)
            // Bisq's relay refuses keys that it doesn't know.
            #expect(try JSON(request.body).object?.count == 3)
            let head = request.head(authority: "x.onion:8021")
            #expect(head["content-type"] == "application/json" && head["onionbell-hops"] == "1")
        }
    }

    @Test func aPrefixOfOursIsNeverHandedOn() {
        let rest = String(repeating: "a", count: 200)
        for form in RelayForm.allCases {
            for prefix in ["wp1:", "mb1:", "al1:", "nt1:", "zz1:"] {
                #expect(RelayService(form: form).target(prefix + rest, on: .android) == nil)
            }
            #expect(RelayService(form: form).target("APA91:" + rest, on: .android) != nil)
        }
    }

    @Test func addressesHaveTheLengthThatPassesTheirProxy() {
        let service = RelayService(form: .bisq2)
        #expect(service.target(String(repeating: "a", count: 1024), on: .android) != nil)
        #expect(service.target(String(repeating: "a", count: 1025), on: .android) == nil)
        #expect(service.target(String(repeating: "ab", count: 32), on: .ios)?.host == .ios)
        #expect(service.target("xyz", on: .ios) == nil)
        #expect(!service.serves(.iosDev) && RelayService(form: .bisq1).serves(.iosDev))
    }

    @Test func itCarriesWhatAppleTakesAndNoPayloadsOfDoors() {
        let service = RelayService(form: .bisq1)
        func size(_ count: Int) -> Int? {
            service.payloadSize(of: notification(message: String(repeating: "a", count: count)).content)
        }
        #expect(size(3995) == 4096 && size(3996) == 4097)
        #expect(service.payloadSize(of: .prepared(PreparedPush(.object("{}")))) == nil)
        #expect(service.payloadSize(of: .prepared(PreparedPush(.members("")))) == nil)
    }
}
