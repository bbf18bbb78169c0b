import Crypto
import Dispatching
import Doors
import Foundation
import Gateways
import HTTP1
import Lab
import Logging
import Persistence
import Reactor
import Relay
import TLS
import Vectors
import WebPushIn

/// The HTTP door with everything behind it: outbox, dispatcher, and both gateways over TLS to simulators.
@EventLoop
package final class RelayWorld {
    package nonisolated static let bisq1Topic = "bisqremote.joachimneumann.com"
    package nonisolated static let bisq2Topic = "bisq.mobile.client.BisqConnect"
    /// Of the vectors.
    package nonisolated static let webPushTopic = "org.example.kacjdubq"

    package struct Options {
        package var door = BisqRelayDoorSettings()
        package var webPush = WebPushSettings()
        package var http = HTTPServerSettings()
        package var limits = Admission.Limits()
        package var withNotification = false
        /// Those of Apple's, with their topics.
        package var apps: [(name: String, topic: String)] = [
            ("bisq1-ios", RelayWorld.bisq1Topic), ("bisq2-ios", RelayWorld.bisq2Topic),
            ("web-push-ios", RelayWorld.webPushTopic),
        ]
        /// Those of Apple's without credentials.
        package var disabled: [String] = []
        /// The form of an app `stand-in`, which hands on to ``RelayWorld/relay``; `nil`: there is none.
        package var standIn: RelayForm?
        /// Further topics that Apple lets these apps push to.
        package var topics: [String] = []

        /// Both generations have their own apps; a token may have as many notifications as a test likes.
        package init() {
            door.bisq1.ios = "bisq1-ios"
            door.bisq2.ios = "bisq2-ios"
            webPush.relay.ios = "web-push-ios"
            webPush.relay.android = "android"
            webPush.pushApp = "web-push-ios"
            limits.tokenBurst = 100_000
            limits.waitingPerToken = 100_000
        }
    }

    package let apple: GatewaySimulator
    package let sandbox: GatewaySimulator
    package let google: GatewaySimulator
    package let relay: SimulatedRelay
    package let dispatcher: Dispatcher
    package let server: HTTPServer
    package let endpoint: Endpoint
    package let outbox: FailingOutbox
    /// Where the tables of doors are.
    package let store: OutboxStore
    package let log: Logger
    package let outboxPath: String
    private var pushes: [AcceptedPush] = []

    private static let lab = try! LabCredentials()

    package init(_ change: (inout Options) -> Void = { _ in }) async throws {
        var options = Options()
        change(&options)
        let lab = RelayWorld.lab
        let rules = lab.apnsRules(topics: Set(options.apps.map(\.topic) + options.topics))
        apple = try GatewaySimulator(.apns(rules), try lab.serverContext())
        sandbox = try GatewaySimulator(.apns(rules), try lab.serverContext())
        google = try GatewaySimulator(.fcm(lab.fcmRules()), try lab.serverContext())

        let withNotification = options.withNotification
        var apps = options.apps.map {
            App(
                name: $0.name, service: APNsService(), isEnabled: !options.disabled.contains($0.name))
        }
        relay = try SimulatedRelay()
        var standIn = RelayApp()
        standIn.urls = [try GatewayURL(relay.url)]
        if let form = options.standIn {
            standIn.form = form
            apps.append(App(name: "stand-in", service: standIn.service, isEnabled: true))
        }
        apps.append(
            App(
                name: "android", service: FCMService(withNotification: withNotification), isEnabled: true))
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-http-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        outboxPath = path + "/outbox.sqlite"
        store = try await OutboxStore(path: outboxPath)
        outbox = FailingOutbox(store)
        log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let dispatcher = Dispatcher(
            pipeline: Pipeline(
                validator: Validator(apps: apps, defaultIOS: "bisq1-ios", defaultAndroid: "android"),
                limits: options.limits),
            outbox: outbox, digester: SubmissionDigester(key: Secret([1, 2, 3])), log: log)
        let trust = TLSTrust.authorities(pem: try lab.authorityPEM())
        let key = try ProviderKey(keyID: lab.keyID, teamID: lab.teamID, p8: try lab.providerKeyPEM())
        var doubts: [LaneID: @EventLoop () -> Bool] = [:]
        for (name, topic) in options.apps {
            let both = try APNsGateway.both(
                APNsSettings(
                    topic: topic, credentials: .providerKey(key), productionURL: try GatewayURL(apple.url),
                    sandboxURL: try GatewayURL(sandbox.url), trust: trust), log: log)
            dispatcher.add(both.production, for: LaneID(app: name, host: .production))
            dispatcher.add(both.sandbox, for: LaneID(app: name, host: .sandbox))
            let (production, sandbox) = both
            doubts[LaneID(app: name, host: .production)] = { production.figures.isInDoubt }
            doubts[LaneID(app: name, host: .sandbox)] = { sandbox.figures.isInDoubt }
            both.production.start()
            both.sandbox.start()
        }
        let fcm = try FCMGateway(
            FCMSettings(
                account: try ServiceAccount(
                    file: try lab.serviceAccountFile(tokenURL: google.url + "/token")),
                baseURL: try GatewayURL(google.url), trust: trust, withNotification: withNotification),
            log: log)
        dispatcher.add(fcm, for: LaneID(app: "android", host: .production))
        fcm.start()
        if options.standIn != nil {
            for (host, gateway) in try standIn.open(by: .direct, reading: { _ in [] }, log: log).gateways {
                dispatcher.add(gateway, for: LaneID(app: "stand-in", host: host))
                gateway.start()
            }
        }
        try await dispatcher.start()

        let door = BisqRelayDoor(settings: options.door, dispatcher: dispatcher)
        let webPush = WebPushDoor(settings: options.webPush, dispatcher: dispatcher) { [doubts] lane in
            doubts[lane]?() ?? false
        }
        server = HTTPServer(settings: options.http, doors: [door, webPush])
        endpoint = try server.open(on: .host("127.0.0.1", port: 0))
        self.dispatcher = dispatcher
        for simulator in [apple, sandbox, google] {
            simulator.onAccepted = { [unowned self] in pushes.append($0) }
        }
    }

    /// All pushes, once there are so many.
    package func pushes(_ count: Int) async -> [AcceptedPush] {
        try? await EventLoop.until { self.pushes.count >= count }
        return pushes
    }

    package func client() async throws -> HTTPClient { try await HTTPClient(endpoint) }

    package func end() async {
        await server.close()
        await dispatcher.stop(deadline: .seconds(1))
        for simulator in [apple, sandbox, google] { simulator.close() }
        relay.close()
    }
}

/// A started dispatcher that has nothing to do.
@EventLoop
package func idleDispatcher() async throws -> Dispatcher {
    let path = FileManager.default.temporaryDirectory.path + "/onionbell-doors-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let dispatcher = Dispatcher(
        pipeline: Pipeline(
            validator: Validator(apps: [], defaultIOS: "", defaultAndroid: ""), limits: Admission.Limits()),
        outbox: try await OutboxStore(path: path + "/outbox.sqlite"),
        digester: SubmissionDigester(key: Secret([1])),
        log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await dispatcher.start()
    return dispatcher
}

extension Dispatcher {
    /// Notifications that came in by any door and were stored.
    package var stored: Int { doors.reduce(0) { $0 + $1.figures.stored } }
}
