import HTTP1
import JSONCoding
import Lab
import LabParts
import Reactor
import Relay
import Testing

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

    @Test func aSealedMessageHasRoomForWhatTheServerShows() {
        let long = notification(message: String(repeating: "x", count: 4096)).content
        #expect(NtfyService(show: .sealed).payloadSize(of: long) == 4096)
        #expect(NtfyService(show: .bell).payloadSize(of: long) == BisqContent.bell.utf8.count)
        #expect(NtfyService().payloadLimit == 4096)
    }

    @Test func answersMeanWhatNtfyMeansByThem() {
        #expect(answer(200, #"{"id":"abc","event":"message"}"#).outcome == .accepted)
        #expect(answer(200, "<html>") == .deferred("WebPage", .host))
        for status in [301, 302, 307, 308, 401, 403, 404, 405] {
            #expect(answer(status) == .blocked("HTTP\(status)"))
        }
        #expect(answer(400, #"{"code":40009}"#) == .refused("HTTP400", .ownFault))
        #expect(answer(413, #"{"code":41301}"#) == .refused("HTTP413", .ownFault))
        #expect(answer(429, #"{"code":42901}"#) == .deferred("HTTP429", .host, after: .seconds(10)))
        #expect(answer(429, #"{"code":42908}"#) == .deferred("HTTP429", .host, after: .seconds(3600)))
        #expect(answer(429, after: .seconds(7)) == .deferred("HTTP429", .host, after: .seconds(7)))
        #expect(answer(507, #"{"code":50701}"#) == .deferred("HTTP507", .device))
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

@Suite(.serialized, .timeLimit(.minutes(2))) @EventLoop struct NtfyGatewayTests {
    private func gateway(
        _ server: SimulatedNtfy, token: String? = nil, show: NtfyApp.Show = .bell
    ) throws -> NtfyGateway {
        let gateway = try NtfyGateway(
            .init(url: GatewayURL(server.url), token: token, show: show), log: quiet)
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

    @Test func withoutItsTokenTheServerRefusesAll() async throws {
        let server = try SimulatedNtfy()
        server.accessToken = "tk_right"
        let wrong = try gateway(server, token: "tk_wrong")
        #expect(await wrong.deliver(many(1)[0]) == .blocked(reason: "HTTP401"))
        let none = try gateway(server)
        #expect(await none.deliver(many(1)[0]) == .blocked(reason: "HTTP403"))
        let right = try gateway(server, token: "tk_right")
        #expect(await right.deliver(many(1)[0]) == .accepted)
        for gateway in [wrong, none, right] { gateway.stop() }
        server.close()
    }

    @Test func aProbePublishesNothing() async throws {
        let server = try SimulatedNtfy()
        server.accessToken = "tk_right"
        let right = NtfyGateway.Settings(url: try GatewayURL(server.url), token: "tk_right")
        #expect(try await NtfyProbe.run(right) == .taken("success"))
        let wrong = NtfyGateway.Settings(url: try GatewayURL(server.url), token: "tk_wrong")
        #expect(try await NtfyProbe.run(wrong) == .refused(reason: "HTTP401"))
        server.answers = [HTTPResponse(status: 200, text: "<html>")]
        #expect(try await NtfyProbe.run(right) == .unclear(reason: "WebPage"))
        #expect(server.book == [])
        server.close()
        let gone = try await NtfyProbe.run(right)
        guard case .unreachable = gone else {
            Issue.record("\(gone)")
            return
        }
    }

    @Test func whatTheServerLimitsComesLater() async throws {
        let server = try SimulatedNtfy()
        server.rate = Rate(perSecond: 0.001, burst: 2)
        let gateway = try gateway(server)
        let outcomes = await gateway.deliverAll(many(3), window: 1, again: false)
        #expect(outcomes.filter { $0 == .accepted }.count == 2)
        #expect(
            outcomes.last
                == .deferred(Deferral(reason: "HTTP429", scope: .host, retryAfter: .seconds(10))))
        gateway.stop()
        server.close()
    }
}
