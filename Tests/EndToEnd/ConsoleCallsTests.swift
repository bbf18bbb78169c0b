import Client
import Foundation
import HTTP1
import JSONCoding
import Lab
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// What the owner does in the console, at the built node: each call with what it changes.
@EventLoop
@Suite(.serialized) struct ConsoleCallsTests {
    private func quoted(_ text: String) -> String { JSON.string(text).text }

    @Test func aPhoneIsAddedByItsTokenAndRung() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let phone = try Phone.new(.ios, descriptor: "iPhone <b>X</b>")
        let token = quoted(phone.pairingToken.text)
        let (status, added) = try await owner.json(
            "POST", "/api/v1/phones", #"{"name":"alice","pairing_token":\#(token)}"#)
        #expect(status == 201)
        let number = try #require(added?["number"]?.integer)
        // At once: the book is taken over without a wait.
        let waiter = stage.world.nextPush(to: phone)
        let (rungStatus, rung) = try await owner.json(
            "POST", "/api/v1/phones/\(number)/ring", #"{"pairing_token":\#(token)}"#)
        #expect(rungStatus == 200 && rung?["outcome"]?.string == "delivered")
        let push = try JSON(try #require(await waiter.wait(for: theRun)).push.body)
        let text = try #require((push["message"]?["data"]?["encrypted"] ?? push["encrypted"])?.string)
        #expect(try phone.open(text).title == "Onionbell")
        let stranger = quoted(try Phone.new(.ios, descriptor: "").pairingToken.text)
        let (foreign, refusal) = try await owner.json(
            "POST", "/api/v1/phones/\(number)/ring", #"{"pairing_token":\#(stranger)}"#)
        #expect(foreign == 422 && refusal?["code"]?.string == "foreign_token")

        let answer = try await owner.send("GET", "/api/v1/phones")
        let listed = String(decoding: answer.body, as: UTF8.self)
        #expect(!listed.contains(phone.pairingToken.key) && !listed.contains(phone.pairingToken.deviceToken))
        #expect(try JSON(answer.body)["phones"]?.array?.first?["name"]?.string == "alice")
        // What the page does, the commands see, and the other way round.
        let words = [program, "phones", "list", "--config", stage.configuration]
        let list = try await Task.detached { try run(words).output }.value
        #expect(list == "name\tphones\talias\nalice\t1\tno\n")

        let known = try await owner.json(
            "POST", "/api/v1/phones", #"{"name":"alice","pairing_token":\#(token)}"#)
        #expect(known.0 == 409 && known.1?["code"]?.string == "phone_known")
        #expect(try await owner.send("PUT", "/api/v1/names/alice", #"{"name":"bob"}"#).status == 204)
        #expect(try await owner.send("DELETE", "/api/v1/phones/\(number)").status == 204)
        #expect(try await owner.send("DELETE", "/api/v1/phones/\(number)").status == 404)
        #expect(try await owner.send("DELETE", "/api/v1/names/bob").status == 404)
        await stage.close()
    }

    /// Each with its own answer, and all with one key.
    @Test func allPhonesOfANameAreRung() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let first = try Phone.new(.android, descriptor: "Pixel")
        let device = try Phone.new(.android, descriptor: "").pairingToken.deviceToken
        let second = Phone(
            try PairingToken(
                platform: .android, descriptor: "", key: first.pairingToken.key, deviceToken: device))
        let token = quoted(first.pairingToken.text)
        let ring = "/api/v1/names/alice/ring"
        #expect(try await owner.send("POST", ring, "{}").status == 404)
        for body in [
            #"{"name":"alice","pairing_token":\#(token)}"#,
            #"{"name":"alice","device_token":"\#(device)","platform":"android"}"#,
        ] {
            let added = try await owner.json("POST", "/api/v1/phones", body)
            #expect(added.0 == 201 && added.1?["address"] == .null, "\(added.1?.text ?? "")")
        }
        let waiters = [first, second].map { stage.world.nextPush(to: $0) }
        let rung = try await owner.json("POST", ring, #"{"pairing_token":\#(token)}"#).1
        #expect(rung?["phones"]?.array?.map { $0["outcome"]?.string } == ["delivered", "delivered"])
        #expect(rung?["owner"]?.integer == 1)
        for (waiter, phone) in zip(waiters, [first, second]) {
            let push = try JSON(try #require(await waiter.wait(for: theRun)).push.body)
            let text = try #require((push["message"]?["data"]?["encrypted"] ?? push["encrypted"])?.string)
            #expect(try phone.open(text).title == "Onionbell")
        }
        let stranger = quoted(try Phone.new(.android, descriptor: "").pairingToken.text)
        let foreign = try await owner.json("POST", ring, #"{"pairing_token":\#(stranger)}"#)
        #expect(foreign.0 == 422 && foreign.1?["code"]?.string == "foreign_token")
        for (body, status) in [
            (#"{"key":"AA=="}"#, 422), (#"{"key":"AA==","pairing_token":\#(token)}"#, 400),
            (#"{"key":1}"#, 400),
        ] { #expect(try await owner.send("POST", ring, body).status == status, "\(body)") }
        for body in [
            #"{"name":"bob","device_token":"x"}"#, #"{"name":"bob","device_token":"x","platform":"PC"}"#,
            #"{"name":"bob","device_token":"x","platform":"iOS","pairing_token":\#(token)}"#,
        ] { #expect(try await owner.send("POST", "/api/v1/phones", body).status == 400, "\(body)") }
        await stage.close()
    }

    /// Page by page; what has no body has its members in the query.
    @Test func registrationsAreListedAndForgotten() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let token = quoted(try Phone.new(.ios, descriptor: "").pairingToken.text)
        let body = #"{"name":"alice","pairing_token":\#(token)}"#
        #expect(try await owner.send("POST", "/api/v1/phones", body).status == 201)
        #expect(
            try await owner.json("GET", "/api/v1/registrations").1?["kinds"]?.array?.contains("phone") == true
        )
        let page = try await owner.json("GET", "/api/v1/registrations/phone").1
        #expect(page?["fields"]?.array?.prefix(2) == ["id", "name"] && page?["more"]?.bool == false)
        #expect(page?["rows"]?.array?.first?.array?.prefix(2) == ["1", "alice"])
        #expect(
            try await owner.json("GET", "/api/v1/registrations/phone?after=1").1?["rows"]?.array?.isEmpty
                == true)
        let one = try await owner.json("GET", "/api/v1/registrations/%70hone/%31").1
        #expect(one?["rows"] == page?["rows"])
        for (path, status) in [
            ("phone?after=1&more=1", 400), ("phone?after=%", 400),
            ("phone?after=\(String(repeating: "9", count: 300))", 400),
            ("nothing", 404), ("phone/2", 404), ("phone/%", 404), ("phone/1?after=1", 400),
            ("installation", 200),
        ] {
            let answer = try await owner.send("GET", "/api/v1/registrations/\(path)")
            #expect(answer.status == status, "\(path): \(answer.status)")
        }
        #expect(try await owner.send("DELETE", "/api/v1/registrations/phone/1").status == 204)
        #expect(try await owner.send("DELETE", "/api/v1/registrations/phone/1").status == 404)
        // At once: the node's book has no phone that could be rung.
        #expect(try await owner.send("POST", "/api/v1/phones/1/ring", "{}").status == 404)
        let key = try await owner.json("GET", "/api/v1/keys/onion").1
        #expect(key?["address"]?.string?.hasSuffix(".onion") == true && key?.object?.count == 2)
        #expect(try await owner.json("GET", "/api/v1/keys/vapid").0 == 404)
        await stage.close()
    }

    @Test func oneAddressStandsForAllPhonesOfAName() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let phone = try Phone.new(.android, descriptor: "Pixel")
        let token = quoted(phone.pairingToken.text)
        #expect(try await owner.send("PUT", "/api/v1/names/alice/address", "{}").status == 404)
        #expect(
            try await owner.send("POST", "/api/v1/phones", #"{"name":"alice","pairing_token":\#(token)}"#)
                .status == 201)
        let given = try await owner.json("PUT", "/api/v1/names/alice/address", "{}")
        let address = try #require(given.1?["address"]?.string)
        #expect(given.0 == 200 && address.hasPrefix("al1:"))
        let body = #"{"pairing_token":\#(token)}"#
        let paired = try await owner.json("PUT", "/api/v1/names/alice/address", body).1?["pairing_token"]
        let shared = try PairingToken(paired?.string ?? "")
        #expect(shared.deviceToken == address && shared.key == phone.pairingToken.key)
        #expect(
            try await owner.json("GET", "/api/v1/phones").1?["aliases"]?.array?.compactMap(\.string)
                == ["alice"])
        let new = try await owner.json("PUT", "/api/v1/names/alice/address", #"{"new":true}"#).1
        #expect(new?["address"]?.string.map { $0 != address } == true)
        #expect(try await owner.send("DELETE", "/api/v1/names/alice/address").status == 204)
        #expect(try await owner.send("DELETE", "/api/v1/names/alice/address").status == 404)
        #expect(try await owner.json("GET", "/api/v1/page").1 == ["link": .null])
        await stage.close()
    }

    /// Bisq 2 takes 300 characters, and a browser's address is longer: what stands for it is told at once.
    @Test func aLongAddressGetsOneThatStandsForIt() async throws {
        let (stage, owner) = try await LoopbackStage.owned(withWebPush: true)
        let browser = try Browser(
            at: "https://\(stage.world.webPushHosts[0])",
            path: "/wpush/v2/" + String(repeating: "a", count: 600))
        let token = try Phone.new(.android, descriptor: "Web", deviceToken: browser.token).pairingToken
        let added = try await owner.json(
            "POST", "/api/v1/phones", #"{"name":"web","pairing_token":\#(quoted(token.text))}"#)
        #expect(added.0 == 201, "\(added.1?.text ?? "")")
        let standIn = try PairingToken(added.1?["stand_in"]?.string ?? "")
        #expect((100...300).contains(standIn.deviceToken.utf8.count) && standIn.key == token.key)
        let phone = try Phone.new(.android, descriptor: "Pixel").pairingToken
        let short = try await owner.json(
            "POST", "/api/v1/phones", #"{"name":"bob","pairing_token":\#(quoted(phone.text))}"#)
        #expect(short.1?["stand_in"] == .null)
        await stage.close()
    }

    @Test func eachMistakeInATokenHasItsWord() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let good = try Phone.new(.android, descriptor: "Pixel").pairingToken.text
        for (text, word) in [
            ("", "token_sections"), ("android|x", "token_sections"),
            ("Android" + good.dropFirst(7), "token_magic"),
            ("android|Pixel|short|" + String(repeating: "a", count: 140), "token_key"),
            (String(good.prefix(60)), "token_device"),
            ("android|x|\(String(repeating: "k", count: 32))|nt1:a!b", "bad_topic"),
        ] {
            let (status, answer) = try await owner.json(
                "POST", "/api/v1/phones", #"{"name":"alice","pairing_token":\#(quoted(text))}"#)
            #expect(status == 422 && answer?["code"]?.string == word, "\(text): \(answer?.text ?? "")")
        }
        for body in [
            "[]", "{", #"{"name":5}"#, #"{"name":"alice"}"#,
            #"{"name":"alice","pairing_token":"x","more":1}"#,
            #"{"name":"\#(String(repeating: "a", count: 300))","pairing_token":"x"}"#,
        ] {
            #expect(try await owner.send("POST", "/api/v1/phones", body).status == 400, "\(body)")
        }
        let named = try await owner.json(
            "POST", "/api/v1/phones", #"{"name":"a\u0007b","pairing_token":\#(quoted(good))}"#)
        #expect(named.0 == 422 && named.1?["code"]?.string == "bad_phone_name")
        #expect(try await owner.send("POST", "/api/v1/phones/0/ring", "{}").status == 404)
        #expect(try await owner.send("GET", "/api/v1/phones/1").status == 405)
        #expect(try await owner.send("GET", "/api/v1/none").status == 404)
        await stage.close()
    }

    @Test func theLineForEachBisqHasTheNodesAddress() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        let (status, point) = try await owner.json("GET", "/api/v1/point")
        #expect(status == 200)
        let address = try #require(point?["address"]?.string)
        let words = [program, "point", "bisq1", "--config", stage.configuration]
        let printed = try await Task.detached { try run(words).output }.value
        let bisq1 = try #require(point?["clients"]?.array?.first)
        #expect(bisq1["advice"]?.string == printed)
        #expect(bisq1["lines"]?.array?.first?.string?.hasSuffix(" \(address)") == true)
        await stage.close()
    }

    @Test func aPeerIsInvitedAndRevoked() async throws {
        let (stage, owner) = try await LoopbackStage.owned()
        #expect(try await owner.json("GET", "/api/v1/peers").1?["private"]?.bool == false)
        let (status, invited) = try await owner.json("POST", "/api/v1/peers", #"{"name":"carol"}"#)
        #expect(status == 201)
        #expect(invited?["file"]?.string?.contains(":descriptor:x25519:") == true)
        let peers = try await owner.json("GET", "/api/v1/peers").1
        #expect(peers?["private"]?.bool == true)
        #expect(peers?["clients"]?.array?.compactMap(\.string) == ["carol"])
        await stage.logged("peers.authorized")
        #expect(try await owner.send("POST", "/api/v1/peers", #"{"name":"carol"}"#).status == 409)
        #expect(try await owner.send("POST", "/api/v1/peers", #"{"name":"a b"}"#).status == 422)
        #expect(try await owner.send("DELETE", "/api/v1/peers/carol").status == 204)
        #expect(try await owner.send("DELETE", "/api/v1/peers/carol").status == 404)
        #expect(try await owner.send("DELETE", "/api/v1/peers/..").status == 422)
        #expect(try await owner.json("GET", "/api/v1/peers").1?["private"]?.bool == true)
        #expect(try await owner.send("DELETE", "/api/v1/peers").status == 204)
        #expect(try await owner.json("GET", "/api/v1/peers").1?["private"]?.bool == false)
        await stage.close()
    }

    @Test func aMailboxIsMadeAndRemoved() async throws {
        let port = try freePort()
        let stage = try LoopbackStage {
            $0.replacing("apps:\n", with: "apps:\n  - {name: box, gateway: mailbox}\n")
                + "console: {listen: [\"127.0.0.1:\(port)\"]}\ndoors: {mailbox: {listen: [\"onion:80\"]}}\n"
        }
        try await stage.start()
        let owner = try await stage.owner(at: port)
        let (status, made) = try await owner.json(
            "POST", "/api/v1/mailboxes", #"{"name":"me","readers":["phone","desk"]}"#)
        #expect(status == 201, "\(made?.text ?? "")")
        #expect(throws: Never.self) { try PairingToken(made?["pairing_token"]?.string ?? "") }
        #expect(made?["url"]?.string?.hasSuffix(".onion/\(made?["topic"]?.string ?? "?")") == true)
        #expect(made?["readers"]?.array?.count == 2)
        let listed = try await owner.json("GET", "/api/v1/mailboxes").1?["mailboxes"]?.array
        #expect(listed?.first?["readers"]?.array?.compactMap(\.string) == ["phone", "desk"])
        #expect(listed?.first?["waiting"]?.integer == 0)
        #expect(try await owner.send("POST", "/api/v1/mailboxes", #"{"name":"me"}"#).status == 409)
        #expect(
            try await owner.send("POST", "/api/v1/mailboxes", #"{"name":"x","readers":["a","a"]}"#).status
                == 422)
        let publishers = "/api/v1/mailboxes/me/publishers"
        let published = try await owner.json("POST", publishers, #"{"name":"cron"}"#)
        #expect(published.0 == 201 && published.1?["token"]?.string?.isEmpty == false)
        #expect(
            try await owner.json("POST", publishers, #"{"name":"cron"}"#).1?["code"]?.string == "name_taken")
        #expect(try await owner.send("POST", publishers, #"{"name":"a b"}"#).status == 422)
        #expect(try await owner.json("GET", publishers).1 == ["names": .array(["cron"])])
        #expect(try await owner.send("GET", "/api/v1/mailboxes/you/publishers").status == 404)
        #expect(try await owner.send("DELETE", publishers + "/cron").status == 204)
        #expect(try await owner.send("DELETE", publishers + "/cron").status == 404)
        let same = try await owner.json(
            "POST", "/api/v1/mailboxes", #"{"name":"you","readers":["phone"],"tokens_of":"me"}"#)
        #expect(same.1?["readers"]?.array?.first?["token"] == .null, "\(same.1?.text ?? "")")
        #expect(
            try await owner.send("POST", "/api/v1/mailboxes", #"{"name":"x","tokens_of":"nobody"}"#).status
                == 404)
        #expect(try await owner.send("DELETE", "/api/v1/mailboxes/me").status == 204)
        #expect(try await owner.send("DELETE", "/api/v1/mailboxes/me").status == 404)
        await stage.close()
    }

    /// Over the socket in the state directory, without a login; at the management listener not at all.
    @Test func theSocketOfTheStateDirectoryHasTheSameCalls() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        let (state, management) = (stage.world.state + "/status", stage.world.directory.path + "/management")
        func status(_ socket: String, _ path: String) async throws -> String {
            let words = [
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", socket,
                "http://localhost\(path)",
            ]
            return try await Task.detached { try run(words).output }.value
        }
        for path in ["/api/v1/phones", "/api/v1/point", "/api/v1/state", "/api/v1/openapi.json"] {
            #expect(try await status(state, path) == "200", "\(path)")
            #expect(try await status(management, path) == "404", "\(path)")
        }
        #expect(try await status(state, "/api/v1/mailboxes") == "200")
        #expect(try await status(state, "/api/v1/session") == "404")
        await stage.close()
    }
}
