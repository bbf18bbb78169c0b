import Clocks
import Crypto
import HTTP1
import JSONCoding
import Lab
import LabParts
import Reactor
import Relay
import Testing
import Vectors

@testable import Gateways

private func answer(_ status: Int, _ body: String = "", after: Duration? = nil) -> Verdict {
    NtfyAnswer.verdict(GatewayAnswer(status: status, retryAfter: after, body: Array(body.utf8)))
}

@Suite struct NtfyTests {
    @Test func anAddressIsATopic() {
        let service = NtfyService()
        #expect(service.target("nt1:a", on: .android) != nil)
        #expect(service.target("nt1:" + String(repeating: "Az_-9", count: 12) + "1234", on: .android) != nil)
        let wrong = [
            "nt1:", "nt1:" + String(repeating: "a", count: 65), "nt1:a/b", "nt1:a b", "nt1:a.b", "nt1:ä",
            "nt2:a", "NT1:a", "a", "",
        ]
        for text in wrong { #expect(service.target(text, on: .android) == nil, "\(text)") }
    }

    /// What fills a short address up is no part of it, and a server is named as the settings name it.
    @Test func anAddressMayNameItsServer() throws {
        let service = NtfyService(server: "ntfy.example.org:8443")
        func spelled(_ address: String) -> String? { service.target(address, on: .android)?.deviceToken.text }
        #expect(spelled("nt1:bisq............................") == "nt1:bisq")
        #expect(spelled("nt1:ntfy.example.org:8443:bisq") == "nt1:ntfy.example.org:8443:bisq")
        #expect(spelled("nt1:NTFY.example.org:8443:bisq....") == "nt1:ntfy.example.org:8443:bisq")
        for other in [
            "nt1:ntfy.example.org:bisq", "nt1::bisq", "nt1:ntfy.example.org:8443:", "nt1:....", "nt1:a.b",
        ] {
            #expect(spelled(other) == nil, "\(other)")
        }
        #expect(NtfyService.topic(of: "nt1:ntfy.example.org:8443:bisq") == "bisq")
        #expect(try NtfyService.paired("nt1:b").utf8.count == 32)
        #expect(try NtfyService.paired("nt1:" + String(repeating: "b", count: 64)).utf8.count == 68)
        #expect(try NtfyService.paired("anything else") == "anything else")
        #expect(throws: NtfyService.AddressFault.self) { try NtfyService.paired("nt1:my topic") }
        let fault = #expect(throws: NtfyService.AddressFault.self) { try NtfyService.paired("nt1:my topic") }
        #expect(fault?.description.contains("\"my topic\" is no topic of ntfy: 1 to 64 letters") == true)
    }

    @Test func aSealedMessageHasRoomForWhatTheServerShows() {
        let long = notification(message: String(repeating: "x", count: 4096)).content
        #expect(NtfyService(show: .sealed).payloadSize(of: long) == 4096)
        #expect(NtfyService(show: .bell).payloadSize(of: long) == BisqContent.bell.utf8.count)
        #expect(NtfyService().payloadLimit == 4096)
    }

    /// Makes an error as ntfy's server writes it.
    private func own(_ code: Int) -> String { #"{"code":\#(code),"http":\#(code / 100),"error":"e"}"# }

    @Test func answersMeanWhatNtfyMeansByThem() {
        #expect(answer(200, #"{"id":"abc","event":"message"}"#).outcome == .accepted)
        for body in ["<html>", #"{"id":"abc"}"#, #"{"event":"message"}"#, #"{"id":"abc","event":"open"}"#] {
            #expect(answer(200, body) == .deferred("WebPage", .host))
        }
        for status in [301, 302, 307, 308, 401, 403, 404, 405] {
            #expect(answer(status) == .blocked("HTTP\(status)"))
        }
        #expect(answer(400, own(40009)) == .refused("HTTP400", .ownFault))
        #expect(answer(413, own(41301)) == .refused("HTTP413", .ownFault))
        #expect(answer(429, own(42901)) == .deferred("Ntfy42901", .host, after: .seconds(10)))
        #expect(answer(429, own(42908)) == .deferred("Ntfy42908", .host, after: .seconds(3600)))
        #expect(answer(429, after: .seconds(7)) == .deferred("HTTP429", .host, after: .seconds(7)))
        #expect(answer(507, own(50701)) == .deferred("HTTP507", .device))
        #expect(answer(502) == .deferred("HTTP502", .host, after: .seconds(10)))
    }

    @Test func theBodyIsJSONWhateverTheMessageIs() throws {
        guard
            case .bisq(let content) = notification(message: #"a"b\c"#, isUrgent: false, hasSound: true)
                .content
        else { return }
        let sealed = try JSON(NtfyRequest.body(to: "t", content, show: .sealed))
        #expect(sealed["message"]?.string == #"a"b\c"#)
        #expect(sealed["priority"]?.integer == 3 && sealed["topic"]?.string == "t")
        let bell = try JSON(NtfyRequest.body(to: "t", content, show: .bell))
        #expect(bell["message"]?.string == BisqContent.bell)
    }
}

@Suite(.serialized) @EventLoop struct NtfyGatewayTests {
    private func gateway(
        _ server: SimulatedNtfy, token: String? = nil, show: NtfyApp.Show = .bell
    ) throws -> NtfyGateway {
        let gateway = try NtfyGateway(
            .init(url: GatewayURL(server.url), login: token.map { .token(Secret($0)) }, show: show),
            log: quiet)
        gateway.start()
        return gateway
    }

    private func many(_ count: Int) -> [Notification] {
        (0..<count).map {
            notification(
                message: "sealed \($0)", deviceToken: "nt1:topic\($0)",
                id: NotificationID(high: 3, low: UInt64($0)))
        }
    }

    @Test(arguments: NtfyApp.Show.allCases) func eachIsPublishedOnce(show: NtfyApp.Show) async throws {
        let server = try SimulatedNtfy()
        let gateway = try gateway(server, show: show)
        let outcomes = await gateway.deliverAll(many(20))
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 20)
        #expect(Set(server.book.map(\.topic)).count == 20 && server.book.count == 20)
        #expect(server.book.allSatisfy { $0.title == "Bisq" && $0.priority == 4 })
        #expect(server.book.contains { $0.message == "sealed 3" } == (show == .sealed))
        #expect(Set(server.book.map(\.sequenceID)).count == 20)
        // A topic is as good as a password, and paths stand in logs.
        #expect(Set(server.paths) == ["/"])
        gateway.stop()
        server.close()
    }

    private static let topicRefused = Outcome.deferred(
        Deferral(reason: "HTTP403", scope: .device, retryAfter: RefusedPhones.pause))

    /// A phone that is served between them says that the account is good.
    @Test func onePhonesTopicIsNotTheApps() {
        var refused = RefusedPhones()
        func phone(_ number: Int) -> DeviceToken { DeviceToken("nt1:topic\(number)") }
        for _ in 0..<10 {
            expect(refused.refused(phone(1)), is: false)
            expect(refused.refused(phone(2)), is: false)
        }
        refused.accepted()
        expect(refused.refused(phone(3)), is: false)
        expect(refused.refused(phone(4)), is: false)
        expect(refused.refused(phone(5)), is: true)
        expect(refused.refused(phone(3)), is: true)
        refused.accepted()
        expect(refused.refused(phone(3)), is: false)
    }

    @Test func withoutItsTokenTheServerRefusesAll() async throws {
        let server = try SimulatedNtfy()
        server.accessToken = "tk_right"
        let wrong = try gateway(server, token: "tk_wrong")
        #expect(await wrong.deliver(many(1)[0]) == .blocked(reason: "HTTP401"))
        let none = try gateway(server)
        // One phone's topic may be closed to it; when several hear it, it is the app's.
        for one in many(2) {
            #expect(await none.deliver(one) == Self.topicRefused && none.fault == nil)
            #expect(await none.deliver(one) == Self.topicRefused)
        }
        for one in many(4)[2...] { #expect(await none.deliver(one) == .blocked(reason: "HTTP403")) }
        let right = try gateway(server, token: "tk_right")
        #expect(await right.deliver(many(1)[0]) == .accepted)
        for gateway in [wrong, none, right] { gateway.stop() }
        server.close()
    }

    @Test func aProbePublishesNothing() async throws {
        let server = try SimulatedNtfy()
        server.accessToken = "tk_right"
        let right = NtfySettings(url: try GatewayURL(server.url), login: .token(Secret("tk_right")))
        #expect(try await NtfyProbe.run(right) == .taken("success"))
        let wrong = NtfySettings(url: try GatewayURL(server.url), login: .token(Secret("tk_wrong")))
        #expect(try await NtfyProbe.run(wrong) == .refused(reason: "HTTP401"))
        // A token that may write and nothing else is a good one.
        server.isReadable = false
        #expect(try await NtfyProbe.run(right) == .unclear(reason: NtfyProbe.mayNotRead))
        #expect(NtfyApp.advice(for: NtfyProbe.mayNotRead)?.contains("not known whether") == true)
        server.answers = [HTTPResponse(status: 200, text: "<html>")]
        #expect(try await NtfyProbe.run(right) == .unclear(reason: "WebPage"))
        // Any program's errors may have a code.
        server.answers = [404, 403].map { HTTPResponse(status: $0, text: #"{"code":\#($0)}"#) }
        for status in [404, 403] {
            #expect(try await NtfyProbe.run(right) == .refused(reason: "HTTP\(status)"))
        }
        #expect(server.book == [])
        server.close()
        let gone = try await NtfyProbe.run(right)
        guard case .unreachable = gone else {
            Issue.record("\(gone)")
            return
        }
    }

    @Test func anAccountMayHaveAPassword() async throws {
        let server = try SimulatedNtfy()
        server.account = ("node", "päss:word")
        let gateway = try NtfyGateway(
            .init(url: GatewayURL(server.url), login: .password(user: "node", Secret("päss:word"))),
            log: quiet)
        gateway.start()
        #expect(await gateway.deliver(many(1)[0]) == .accepted)
        gateway.stop()
        server.close()
    }

    /// A healthy server answers 403 now and then to what it is asked at once: only what it says again counts.
    @Test func aPassingRefusalBlocksNothing() async throws {
        let server = try SimulatedNtfy()
        server.accessToken = "tk_right"
        let gateway = try gateway(server, token: "tk_right")
        let lone = Outcome.deferred(
            Deferral(reason: "HTTP403", scope: .device, retryAfter: LoneRefusals.pause))
        let refusal = HTTPResponse(status: 403, text: #"{"code":40301,"http":403,"error":"forbidden"}"#)
        for _ in 0..<3 {
            server.answers = [refusal]
            #expect(await gateway.deliver(many(1)[0]) == lone)
            #expect(await gateway.deliver(many(1)[0]) == .accepted)
        }
        #expect(gateway.figures.inFlight == 0)
        #expect(gateway.figures.connectionsOpened == 1)
        gateway.stop()
        server.close()
    }

    @Test func aRefusalThatStaysCounts() {
        var refusals = LoneRefusals()
        expect(refusals.noteRefusal(at: .second(5)), is: true)
        expect(refusals.noteRefusal(at: .second(6) - .nanoseconds(1)), is: true)
        expect(refusals.noteRefusal(at: .second(6)), is: false)
        refusals.accepted()
        expect(refusals.noteRefusal(at: .second(9)), is: true)
    }

    /// What the refused notification was for has ended otherwise; nothing was sent since.
    @Test func aRefusalOfLongAgoDoesNotCount() {
        var refusals = LoneRefusals()
        expect(refusals.noteRefusal(at: .second(5)), is: true)
        expect(refusals.noteRefusal(at: .second(5) + LoneRefusals.memory), is: true)
        expect(refusals.noteRefusal(at: .second(5) + LoneRefusals.memory + LoneRefusals.pause), is: false)
        // Nothing was taken since: the server means it.
        expect(refusals.noteRefusal(at: .second(5) + LoneRefusals.memory * 9), is: false)
        refusals.accepted()
        expect(refusals.noteRefusal(at: .second(6) + LoneRefusals.memory * 9), is: true)
    }

    /// The answer to what was sent with the login of before comes after another login was taken over.
    @Test(arguments: [(401, 40101), (403, 40301)])
    func whatIsSaidOfTheLoginBeforeSaysNothingOfThePresentOne(status: Int, code: Int) async throws {
        let server = try SimulatedNtfy()
        server.accessToken = "tk_right"
        let gateway = try gateway(server, token: "tk_right")
        #expect(await gateway.deliver(many(1)[0]) == .accepted)
        server.answers = [
            HTTPResponse(status: status, text: #"{"code":\#(code),"http":\#(status),"error":"x"}"#)
        ]
        let outcome = await withCheckedContinuation { continuation in
            gateway.send(many(2)[1]) { continuation.resume(returning: $0) }
            do {
                try gateway.use(.init(url: GatewayURL(server.url), login: .token(Secret("tk_right"))))
            } catch { Issue.record(error) }
        }
        #expect(
            outcome == .deferred(Deferral(reason: "HTTP\(status)", scope: .device, isUnharmed: true)))
        #expect(gateway.fault == nil)
        // Nor does it count as a first refusal of the present one.
        server.answers = [HTTPResponse(status: 403, text: #"{"code":40301,"http":403,"error":"forbidden"}"#)]
        #expect(
            await gateway.deliver(many(3)[2])
                == .deferred(Deferral(reason: "HTTP403", scope: .device, retryAfter: LoneRefusals.pause)))
        gateway.stop()
        server.close()
    }

    /// The end of it is told to who reads the status, whatever became of the connection.
    @Test func whatTheServerAskedForIsTold() async throws {
        let server = try SimulatedNtfy()
        server.rate = Rate(perSecond: 0.001, burst: 1)
        let gateway = try gateway(server)
        let before = EventLoop.now
        _ = await gateway.deliverAll(many(2), window: 1, again: false)
        let wish = try #require(gateway.figures.wish)
        #expect(wish.reason == "Ntfy42901" && wish.until >= before + .seconds(10))
        server.rate = nil
        #expect(await gateway.deliver(many(3)[2]) == .accepted)
        #expect(gateway.figures.wish == nil)
        gateway.stop()
        server.close()
    }

    @Test func whatTheServerLimitsComesLater() async throws {
        let server = try SimulatedNtfy()
        server.rate = Rate(perSecond: 0.001, burst: 2)
        let gateway = try gateway(server)
        let outcomes = await gateway.deliverAll(many(3), window: 1, again: false)
        #expect(outcomes.filter { $0 == .accepted }.count == 2)
        #expect(
            outcomes.last
                == .deferred(Deferral(reason: "Ntfy42901", scope: .host, retryAfter: .seconds(10))))
        gateway.stop()
        server.close()
    }
}
