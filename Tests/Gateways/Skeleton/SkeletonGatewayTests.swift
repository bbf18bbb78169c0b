import HTTP1
import JSONCoding
import Lab
import Reactor
import Relay
import Testing

@testable import Gateways

/// The skeleton of a gateway, run as each real one is: its values, then the whole folder against a server on loopback.
@Suite struct SkeletonGatewayTests {
    @Test func anAddressIsAWord() {
        let service = SkeletonService()
        for address in ["sk1:a", "sk1:" + String(repeating: "Zz9", count: 21) + "a"] {
            #expect(service.target(address, on: .android)?.deviceToken.text == address)
        }
        let wrong = [
            "sk1:", "sk1:" + String(repeating: "a", count: 65), "sk1:a b", "sk1:ä", "SK1:a", "sk2:a", "a", "",
            String(repeating: "a", count: 1 << 20),
        ]
        for address in wrong {
            #expect(service.target(address, on: .android) == nil, "\(address.prefix(80))")
        }
        #expect(service.target(SkeletonRequest.nobody.text, on: .android) != nil)
    }

    @Test func answersMeanWhatTheServiceMeansByThem() {
        func verdict(_ status: Int, _ body: String = "") -> Verdict {
            SkeletonAnswer.verdict(answer(status, body))
        }
        #expect(verdict(204).outcome == .accepted)
        #expect(verdict(200, "<html>") == .deferred("WebPage", .host))
        for status in [401, 403] { #expect(verdict(status) == .blocked("HTTP\(status)")) }
        #expect(
            verdict(404, #"{"error":"NoSuchDevice"}"#).outcome
                == .tokenDead(reason: "NoSuchDevice", since: nil))
        #expect(verdict(410, #"{"error":"WrongProject"}"#) == .refused("WrongProject"))
        #expect(verdict(404) == .deferred("HTTP404", .host, after: .seconds(10)))
        #expect(verdict(404, "<html>") == .deferred("WebPage", .host))
        #expect(verdict(302) == .deferred("HTTP302", .host))
        #expect(verdict(429) == .throttled("HTTP429", after: .seconds(10)))
        #expect(verdict(400, #"{"error":"no plain word"}"#) == .deferred("WebPage", .host))
        #expect(verdict(400, #"{"error":"BadMessage"}"#) == .refused("BadMessage", .ownFault))
        #expect(verdict(503) == .deferred("HTTP503", .host, after: .seconds(10)))
    }

    @Test func eachFaultOfTheSettingsIsSaid() {
        let section = SampleSection([:])
        #expect(!SkeletonApp(section).hasCredentials)
        #expect(section.faults.map(\.key) == ["url"])
    }

    /// What is configured is what is sent: from the keys of an app to the bytes that its service reads.
    @Test @EventLoop func aNotificationGoesAllTheWay() async throws {
        var requests: [HTTPRequest] = []
        let site = try SimulatedSite { request in
            requests.append(request)
            guard request.fields["authorization"] == "Bearer key" else {
                return .answer(HTTPResponse(status: 401))
            }
            let device = (try? JSON(request.body))?["device"]?.string
            let isKnown = device == "sk1:alice"
            return .answer(
                HTTPResponse(
                    status: isKnown ? 200 : 404,
                    body: Array((isKnown ? #"{"push":"1"}"# : #"{"error":"NoSuchDevice"}"#).utf8)))
        }
        defer { site.close() }
        let app = SkeletonApp(
            SampleSection(["url": "http://\(site.endpoint)", "key_file": "key", "ca_file": ""]))
        let opened = try app.open(by: .direct, reading: { _ in Array("key\n".utf8) }, log: quiet)
        let gateway = opened.gateways[0].gateway
        gateway.start()
        #expect(await gateway.deliver(notification(message: #"a"b"#, deviceToken: "sk1:alice")) == .accepted)
        #expect(try JSON(requests[0].body)["message"]?.string == #"a"b"#)
        #expect(requests[0].path == "/push")
        let dead = await gateway.deliver(notification(deviceToken: "sk1:bob"))
        #expect(dead == .tokenDead(reason: "NoSuchDevice", since: nil))

        // Another key in the file: the gateway takes it over, and the service refuses it.
        try await opened.reload(app) { _ in Array("another\n".utf8) }
        #expect(await gateway.deliver(notification(deviceToken: "sk1:alice")) == .blocked(reason: "HTTP401"))
        gateway.stop()

        let probes = try app.probes(by: .direct, reading: { _ in Array("key\n".utf8) })
        #expect(try await probes[0].run() == .taken("NoSuchDevice"))
        let refused = try app.probes(by: .direct, reading: { _ in Array("another\n".utf8) })
        #expect(try await refused[0].run() == .refused(reason: "HTTP401"))
    }
}

/// An entry of `apps` as a test has it: texts by their keys, and the faults that were found.
private final class SampleSection: SettingsSection {
    private let texts: [String: String]
    private(set) var faults: [(key: String, problem: String)] = []

    init(_ texts: [String: String]) { self.texts = texts }

    var goesThroughTor: Bool { false }
    func mark(_ traits: SettingTraits) -> Self { self }
    func words(_ name: String) -> [String]? { oneOrMore(name) }
    func oneOrMore(_ name: String) -> [String]? { texts[name].map { [$0] } ?? [] }
    func path(_ name: String, _ value: inout String) { value = texts[name] ?? value }
    func credential(_ name: String, _ value: inout String) { path(name, &value) }
    func stateFile(_ name: String) -> String { name }
    func value<Value>(
        _ name: String, _ value: inout Value, _ kind: SettingKind, usual: String, expecting expected: String,
        parse: (String) -> Value?
    ) {
        guard let text = texts[name] else { return }
        guard let parsed = parse(text) else { return fault(name, "must be \(expected)") }
        value = parsed
    }
    func fault(_ name: String, _ problem: String) { faults.append((name, problem)) }
}
