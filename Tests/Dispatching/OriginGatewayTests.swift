import Crypto
import Dispatching
import Encodings
import Figures
import Foundation
import Logging
import Outbound
import Reactor
import Relay
import Testing
import Vectors

@testable import Persistence

/// Gateways that are made when an address names their origin.
@EventLoop
@Suite struct OriginGatewayTests {
    private let path =
        FileManager.default.temporaryDirectory.path + "/onionbell-origin-\(UUID().uuidString)"

    private func submission(_ host: String, _ number: Int) -> Submission {
        Submission(
            platform: .android, deviceToken: "wp1:https://\(host)/\(number)",
            message: String(repeating: "QUJD", count: 12))
    }

    @Test func aGatewayComesWithItsOriginAndIsShownAsOneOfTheOthers() async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let app = App(
            name: "web", service: SampleService("web_push", for: [.android], prefix: "wp1:"), isEnabled: true)
        var made: [(lane: LaneID, gateway: HandGateway)] = []
        var surroundings = Dispatcher.Surroundings()
        surroundings.makeGateway = { lane in
            let gateway = HandGateway(capacity: 10)
            made.append((lane, gateway))
            return gateway
        }
        let dispatcher = Dispatcher(
            pipeline: Pipeline(
                validator: Validator(apps: [app], defaultIOS: "", defaultAndroid: ""), limits: .init(),
                originsPerApp: 2),
            outbox: try await OutboxStore(path: path + "/outbox.sqlite"),
            digester: SubmissionDigester(key: Secret([1, 2, 3])),
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, in: surroundings)
        try await dispatcher.start()
        let door = dispatcher.door("test")
        let receipts = Receipts()
        for (number, host) in ["a.example", "b.example", "a.example"].enumerated() {
            dispatcher.submit(submission(host, number), from: door, awaitsOutcome: true) { receipts.add($0) }
        }
        #expect(made.map(\.lane.host.name) == ["https://a.example", "https://b.example"])
        await made[0].gateway.wait(forSent: 2)
        await made[1].gateway.wait(forSent: 1)
        made[0].gateway.answer(0, .accepted)
        made[1].gateway.answer(0, .accepted)
        _ = await receipts.wait(for: 5)
        let shown = LaneID(app: "web", host: .others)
        #expect(dispatcher.lanesOfNow.overview.keys.sorted { $0.name < $1.name } == [shown])
        #expect(dispatcher.lanesOfNow.overview[shown]?.figures.delivered == 2)
        #expect(dispatcher.lanesOfNow.overview[shown]?.queue.waiting == 1)

        // The second has nothing left and goes for a third; what it counted stays.
        dispatcher.submit(submission("c.example", 9), from: door, awaitsOutcome: false) { receipts.add($0) }
        _ = await receipts.wait(for: 6)
        #expect(made.count == 3 && made[1].gateway.capacity == 0)
        #expect(dispatcher.lanesOfNow.overview[shown]?.figures.delivered == 2)
        #expect(dispatcher.laneTotals.reduce(0) { $0 + $1.delivered } == 2)
        await dispatcher.stop(deadline: .zero)
    }

    /// What a lane counted stays under the name that it was shown by, though another one has its place at once.
    @Test func aLaneThatMakesRoomLeavesItsFiguresUnderItsOwnName() async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let service = NamedService(named: "https://a.example")
        var made: [HandGateway] = []
        var surroundings = Dispatcher.Surroundings()
        surroundings.makeGateway = { _ in
            made.append(HandGateway(capacity: 10))
            return made[made.count - 1]
        }
        let dispatcher = Dispatcher(
            pipeline: Pipeline(
                validator: Validator(
                    apps: [App(name: "web", service: service, isEnabled: true)], defaultIOS: "",
                    defaultAndroid: ""), limits: .init(), originsPerApp: 1),
            outbox: try await OutboxStore(path: path + "/outbox.sqlite"),
            digester: SubmissionDigester(key: Secret([1, 2, 3])),
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, in: surroundings)
        try await dispatcher.start()
        let receipts = Receipts()
        let door = dispatcher.door("test")
        dispatcher.submit(submission("a.example", 1), from: door, awaitsOutcome: true) { receipts.add($0) }
        await made[0].wait(forSent: 1)
        made[0].answer(0, .accepted)
        _ = await receipts.wait(for: 2)
        dispatcher.submit(submission("b.example", 2), from: door, awaitsOutcome: false) { receipts.add($0) }
        _ = await receipts.wait(for: 3)
        let named = LaneID(app: "web", host: try #require(LaneHost(origin: "https://a.example")))
        #expect(dispatcher.lanesOfNow.overview[named]?.figures.delivered == 1)
        #expect(dispatcher.lanesOfNow.overview[LaneID(app: "web", host: .others)]?.figures.delivered == 0)
        await dispatcher.stop(deadline: .zero)
    }
}

/// One that shows one of its origins by name.
private struct NamedService: PushService {
    let named: String
    private let plain = SampleService("web_push", for: [.android], prefix: "wp1:")

    init(named: String) { self.named = named }

    var name: String { plain.name }
    var prefix: String? { plain.prefix }
    func shown(_ host: LaneHost) -> LaneHost { host.name == named ? host : .others }
    func serves(_ platform: Platform) -> Bool { plain.serves(platform) }
    func target(_ address: String, on platform: Platform) -> Target? { plain.target(address, on: platform) }
    func payloadSize(of content: Content) -> Int? { plain.payloadSize(of: content) }
    func nobody(on platform: Platform) -> DeviceToken { plain.nobody(on: platform) }
}
