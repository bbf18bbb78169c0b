import Client
import Crypto
import HTTP2
import Reactor
import TLS
import Wire

/// A stand-in for APNs or FCM on loopback: TLS and HTTP/2 as they speak it, their rules, and faults on command.
///
/// It keeps a book of every push it took responsibility for, so that a test can compare it with what was sent. No task
/// and no lock per request: the same simulator serves the benchmarks.
@EventLoop
package final class GatewaySimulator {
    package enum Service: Sendable {
        case apns(APNsRules)
        /// Has Google's token endpoint too, at `/token`, also over HTTP/1.1.
        case fcm(FCMRules)
        /// A push server of browsers: see ``GatewaySimulator/subscribe(for:)``.
        case webPush(WebPushRules)
    }

    package struct Figures: Equatable, Sendable {
        /// Pushes that came, and those that were accepted.
        package var requests = 0
        package var accepted = 0
        package var connections = 0
        package var openConnections = 0
    }

    package var faults = FaultScript()
    /// Whether ``book`` is kept. Benchmarks go without.
    package var keepsBook = true
    package private(set) var book: [AcceptedPush] = []
    package private(set) var figures = Figures()
    /// Added to the clock by which tokens are judged.
    package var clockOffset = Duration.zero
    /// Sees each accepted push.
    package var onAccepted: (@EventLoop (AcceptedPush) -> Void)?
    /// Hears the number of a connection that is ended by the simulator with answers or requests on their way.
    package var onBreak: (@EventLoop (Int) -> Void)?

    let service: any SimulatedService
    private let context: TLSContext
    private var listener: Listener!
    private var connections: [ObjectIdentifier: SimulatedConnection] = [:]
    private var phones: [String: @EventLoop (AcceptedPush) -> Void] = [:]

    /// Opens the listener of a simulated gateway.
    ///
    /// - Parameter context: a server's, with the protocols it is to offer: ``LabCredentials/serverContext(protocols:)``.
    package init(
        _ service: Service, _ context: TLSContext, on endpoint: Endpoint = .host("127.0.0.1", port: 0)
    ) throws(SystemError) {
        self.service =
            switch service {
            case .apns(let rules): SimulatedAPNs(rules)
            case .fcm(let rules): SimulatedFCM(rules)
            case .webPush(let rules): SimulatedWebPush(rules)
            }
        self.context = context
        listener = try Listener(on: endpoint) { [unowned self] stream in accept(stream) }
    }

    package var endpoint: Endpoint { listener.endpoint }

    /// The base URL; FCM's token endpoint is `/token` below it.
    package var url: String { "https://\(endpoint)" }

    /// Access tokens handed out; FCM only.
    package var issuedTokens: Int { (service as? SimulatedFCM)?.issuedTokens ?? 0 }

    /// Makes a provider's key known, and those named unknown; APNs only.
    package func use(_ key: APNsRules.ProviderKey? = nil, revoking revoked: String? = nil) {
        guard let apns = service as? SimulatedAPNs else { return }
        apns.rules.keys.removeAll { $0.keyID == revoked }
        if let key { apns.rules.keys.append(key) }
    }

    /// Makes all access tokens bad at once; FCM only.
    package func revokeTokens() { (service as? SimulatedFCM)?.revokeTokens() }

    /// Makes a browser that has just subscribed here, for the application server with this key; web push
    /// only.
    ///
    /// - Parameter vapidKey: 87 characters of base64 for URLs.
    package func subscribe(for vapidKey: String) throws(CryptoError) -> Browser {
        guard let service = service as? SimulatedWebPush else {
            preconditionFailure("no push server of browsers")
        }
        return try Browser(at: url, path: service.subscribe(for: vapidKey))
    }

    /// Makes an endpoint for somebody who keeps his keys to himself, and returns its path; web push only.
    func newEndpoint(for vapidKey: String) -> String {
        guard let service = service as? SimulatedWebPush else {
            preconditionFailure("no push server of browsers")
        }
        return service.subscribe(for: vapidKey)
    }

    /// Subscribes a browser whose keys somebody else has, and returns its path and token; web push only.
    package func subscribe(
        for vapidKey: String, p256dh: String, auth: String
    ) throws -> (path: String, token: String) {
        guard let service = service as? SimulatedWebPush else {
            preconditionFailure("no push server of browsers")
        }
        let path = service.subscribe(for: vapidKey)
        guard let browser = Browser(at: url, path: path, p256dh: p256dh, auth: auth) else {
            throw CryptoError.notAuthentic
        }
        return (path, browser.token)
    }

    /// Returns the message that a browser's page shows of a push, if it was paired over HTTP: `POST /pair` with the node's
    /// VAPID key; web push only.
    package func shown(_ push: AcceptedPush) -> PhoneText? {
        guard let (browser, phone) = (service as? SimulatedWebPush)?.pages[push.deviceToken],
            let text = try? browser.open(push)
        else { return nil }
        return try? phone.open(text)
    }

    /// Unsubscribes a browser, as when the user has taken the permission back.
    package func unsubscribe(_ browser: Browser) { unsubscribe(browser.path) }

    func unsubscribe(_ path: String) { (service as? SimulatedWebPush)?.unsubscribe(path) }

    /// Hands each push that is accepted for this device token to its phone.
    package func onPush(to deviceToken: String, _ deliver: (@EventLoop (AcceptedPush) -> Void)?) {
        phones[deviceToken] = deliver
    }

    package func forgetBook() { book = [] }

    /// Breaks off every connection; new ones are accepted.
    package func breakConnections() {
        for connection in connections.values { connection.breakOff() }
    }

    package func close() {
        listener.close()
        breakConnections()
    }

    // MARK: Connections

    private func accept(_ stream: Stream) {
        figures.connections += 1
        figures.openConnections += 1
        let connection = SimulatedConnection(stream, number: figures.connections, context, self)
        connections[ObjectIdentifier(connection)] = connection
    }

    func forget(_ connection: SimulatedConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        figures.openConnections -= 1
    }

    func topic(ofCertificate pem: [UInt8]) -> String? { (try? Certificate(pem: pem))?.userID }

    // MARK: Requests

    func handle(_ request: GatewayRequest, of connection: SimulatedConnection, stream: Int32) {
        let call = service.call(request)
        if call.subject == .push { figures.requests += 1 }
        var fault =
            connection.facts.spoiled ?? faults.fault(for: call.subject, deviceToken: call.deviceToken)
        if case .spoilConnection(let lasting) = fault {
            fault = lasting
            connection.facts.spoiled = lasting
        }
        switch fault {
        case nil, .spoilConnection: connection.answer(answer(call, of: connection), on: stream)
        case .answer(let status, let reason, let timestamp, let retryAfter):
            let answer = service.error(
                call.subject, status: status, reason: reason, timestamp: timestamp, retryAfter: retryAfter)
            connection.answer(answer, on: stream)
        case .text(let status, let text, let retryAfter):
            var answer = SimulatedAnswer(status: status)
            if let retryAfter { answer.headers.add("retry-after", retryAfter) }
            answer.body = Array(text.utf8)
            connection.answer(answer, on: stream)
        case .page(let status):
            var answer = SimulatedAnswer(status: status)
            answer.headers.add("content-type", "text/html")
            answer.body = Array("<!DOCTYPE html><html><body><h1>\(status)</h1></body></html>".utf8)
            connection.answer(answer, on: stream)
        case .resetStream(let code): connection.reset(stream, code: code)
        case .closeConnection(.beforeDelivery): breakOff(connection)
        case .closeConnection(.beforeAnswer):
            _ = answer(call, of: connection, isAnswered: false)
            breakOff(connection)
        case .closeConnection(.afterAnswer):
            connection.answer(answer(call, of: connection), on: stream)
            connection.endWhenFlushed()
            onBreak?(connection.facts.number)
        case .silence(let isDelivered):
            if isDelivered { _ = answer(call, of: connection, isAnswered: false) }
        case .delay(let delay):
            connection.answer(answer(call, of: connection), on: stream, after: delay)
        case .goaway(let reason, isGraceful: true):
            connection.answer(answer(call, of: connection), on: stream)
            connection.goaway(after: stream, reason: reason)
        case .goaway(let reason, isGraceful: false):
            connection.goaway(after: max(0, stream - 2), reason: reason)
            connection.endWhenFlushed()
            onBreak?(connection.facts.number)
        case .goaways(let reason):
            connection.goaways(leavingOut: stream, reason: reason)
            onBreak?(connection.facts.number)
        case .limitStreams(let limit):
            connection.answer(answer(call, of: connection), on: stream)
            connection.limitStreams(limit)
        }
    }

    private func breakOff(_ connection: SimulatedConnection) {
        connection.breakOff()
        onBreak?(connection.facts.number)
    }

    /// Judges a request; a push that is accepted is delivered and written down.
    private func answer(
        _ call: GatewayCall, of connection: SimulatedConnection, isAnswered: Bool = true
    ) -> SimulatedAnswer {
        let realNow = EventLoop.unixMilliseconds
        let offset = clockOffset.components.seconds * 1000
        switch service.judge(call, on: &connection.facts, now: realNow + offset) {
        case .answered(let answer): return answer
        case .accepted(let deviceToken, let answer):
            figures.accepted += 1
            if keepsBook { SentValues.shared.add(deviceToken) }
            let phone = phones[deviceToken]
            if keepsBook || phone != nil || onAccepted != nil {
                let push = AcceptedPush(
                    deviceToken: deviceToken, headers: call.request.headers, body: call.request.body,
                    connection: connection.facts.number, isAnswered: isAnswered)
                if keepsBook { book.append(push) }
                phone?(push)
                onAccepted?(push)
            }
            return answer
        }
    }
}
