import Clocks
import Encodings
import HTTP1
import JSONCoding
import Reactor
import Relay

/// A stand-in for Bisq's own relay on loopback: both of its forms in plain HTTP/1.1, the limits of the nginx in front of
/// it, its refusals, and faults on command.
///
/// It keeps a book of every push that it took responsibility for.
@EventLoop
package final class SimulatedRelay {
    /// A push that it took.
    package struct Push: Equatable, Sendable {
        package var isAndroid: Bool
        package var deviceToken: String
        package var message: String
        /// The target with the query, as it came.
        package var target: String
        package var body: [UInt8]
        package var hops: String?
        /// Counts connections from 1.
        package var connection: Int
        package var at: MonotonicTime
    }

    package struct Figures: Equatable, Sendable {
        package var requests = 0
        package var connections = 0
        package var openConnections = 0
        package var mostConnections = 0
        /// The requests that the limits of the nginx refused.
        package var limited = 0
    }

    package private(set) var book: [Push] = []
    package private(set) var figures = Figures()
    /// The faults that the next requests meet with, one each.
    package var faults: [RelayFault] = []
    /// The fault that every request meets with that none of ``faults`` is for.
    package var outage: RelayFault?
    /// Device tokens that its gateway refuses, and the code for it.
    package var refused: [String: String] = [:]
    /// Whether the gateways of the relay are spared: each push is refused with 400, or as ``isOld`` says.
    package var isBreakerOpen = false
    /// Whether a refusal is 200 with a text, as before the rewrite of 2024.
    package var isOld = false
    /// nginx: requests a second and at once, of one token and of all.
    package var tokenRate: Rate? = Rate(perSecond: 2, burst: 6)
    package var rate: Rate? = Rate(perSecond: 100, burst: 301)
    /// Sees each push that it takes.
    package var onPush: (@EventLoop (Push) -> Void)?
    /// Sees each push that meets with a fault, after ``onPush`` if it is taken all the same.
    package var onFault: (@EventLoop (Push, RelayFault) -> Void)?

    private var listener: Listener!
    private var deafPort: DeafPort?
    private var connections: [ObjectIdentifier: SimulatedRelayConnection] = [:]
    private var used = Rate.Use()
    private var usedByToken: [String: Rate.Use] = [:]

    package init(on endpoint: Endpoint = .host("127.0.0.1", port: 0)) throws(SystemError) {
        try listen(on: endpoint)
    }

    private func listen(on endpoint: Endpoint) throws(SystemError) {
        listener = try Listener(on: endpoint) { [unowned self] stream in accept(stream) }
    }

    package var endpoint: Endpoint { listener.endpoint }
    package var url: String { "http://\(endpoint)" }

    package func close() {
        listener.close()
        deafPort = nil
        for connection in connections.values { connection.breakOff() }
    }

    /// Answers no call any more, as a host whose packets are lost. Connections that stand go on.
    package func goDeaf() throws(SystemError) {
        listener.close()
        deafPort = nil
        deafPort = try DeafPort(at: endpoint)
    }

    /// Listens again after ``close()`` or ``goDeaf()``.
    package func listenAgain() throws(SystemError) {
        listener.close()
        deafPort = nil
        try listen(on: endpoint)
    }

    /// Breaks off every connection; new ones are accepted.
    package func breakConnections() {
        for connection in connections.values { connection.breakOff() }
    }

    private func accept(_ stream: Stream) {
        figures.connections += 1
        figures.openConnections += 1
        figures.mostConnections = max(figures.mostConnections, figures.openConnections)
        let connection = SimulatedRelayConnection(stream, number: figures.connections, self)
        connections[ObjectIdentifier(connection)] = connection
    }

    func forget(_ connection: SimulatedRelayConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        figures.openConnections -= 1
    }

    // MARK: Requests

    func handle(_ request: HTTPRequest, of connection: SimulatedRelayConnection) {
        figures.requests += 1
        let fault = faults.isEmpty ? outage : faults.removeFirst()
        guard let fault else { return connection.answer(answer(request, of: connection)) }
        defer { tell(request, of: connection, fault) }
        switch fault {
        case .answer(let status, let text, let fields):
            var response = HTTPResponse(status: status, text: text)
            for (name, value) in fields { response.fields.append(name, value) }
            connection.answer(response)
        case .delay(let delay): connection.answer(answer(request, of: connection), after: delay)
        case .silence(let isDelivered):
            if isDelivered { _ = answer(request, of: connection) }
        case .close(let isDelivered):
            if isDelivered { _ = answer(request, of: connection) }
            connection.breakOff()
        case .bytes(let bytes, let thenCloses): connection.say(bytes, thenCloses: thenCloses)
        case .drip(let bytes): connection.drip(bytes)
        }
    }

    private func tell(
        _ request: HTTPRequest, of connection: SimulatedRelayConnection, _ fault: RelayFault
    ) {
        guard let onFault, let asked = RelayCall(request) else { return }
        onFault(push(request, asked, of: connection, at: EventLoop.now), fault)
    }

    private func push(
        _ request: HTTPRequest, _ asked: RelayCall, of connection: SimulatedRelayConnection,
        at now: MonotonicTime
    ) -> Push {
        Push(
            isAndroid: asked.isAndroid, deviceToken: asked.deviceToken, message: asked.message,
            target: request.path + (request.query.map { "?" + $0 } ?? ""), body: request.body,
            hops: request.fields["onionbell-hops"], connection: connection.number, at: now)
    }

    private func answer(_ request: HTTPRequest, of connection: SimulatedRelayConnection) -> HTTPResponse {
        guard let asked = RelayCall(request) else {
            let knows = request.path == "/relay" || request.path.hasPrefix("/v1/")
            return HTTPResponse(status: knows ? 400 : 404)
        }
        // A newer one consumes JSON, whatever the method is.
        guard isOld || request.fields["content-type"] == "application/json" else {
            return HTTPResponse(status: 415)
        }
        let now = EventLoop.now
        if countPush(of: asked.deviceToken, at: now) {
            figures.limited += 1
            return HTTPResponse(status: 429)
        }
        if isBreakerOpen { return asked.refusal("ServiceUnavailable", isOld: isOld) }
        let nobody = [DeviceToken.opaqueOfNobody.text, DeviceToken.hexadecimalOfNobody.text]
        if let code = refused[asked.deviceToken]
            ?? (nobody.contains(asked.deviceToken) ? "INVALID_ARGUMENT" : nil)
        {
            return asked.refusal(code, isOld: isOld)
        }
        SentValues.shared.add(asked.deviceToken)
        let push = push(request, asked, of: connection, at: now)
        book.append(push)
        onPush?(push)
        return asked.success
    }

    /// Counts a push of a device token.
    ///
    /// - Returns: Whether the push is over one of the rates.
    private func countPush(of token: String, at now: MonotonicTime) -> Bool {
        if let rate, rate.take(from: &used, at: now) > .zero { return true }
        guard let tokenRate else { return false }
        return tokenRate.take(from: &usedByToken[token, default: Rate.Use()], at: now) > .zero
    }
}

/// A wrong behaviour of a simulated relay at a request.
package enum RelayFault: Equatable, Sendable {
    case answer(status: Int, String = "", fields: [String: String] = [:])
    case delay(Duration)
    /// No answer, ever.
    case silence(isDelivered: Bool)
    case close(isDelivered: Bool)
    /// Whatever bytes in place of an answer.
    case bytes([UInt8], thenCloses: Bool)
    /// These again and again, a few a second.
    case drip([UInt8])

    /// Returns the page of a proxy that has lost the relay.
    package static func page(status: Int) -> RelayFault {
        .answer(
            status: status, "<!DOCTYPE html><html><body><h1>\(status)</h1></body></html>",
            fields: ["content-type": "text/html"])
    }
}

/// A request, read as Bisq's relay does (`RelayController.java`).
private struct RelayCall {
    var isGet: Bool
    var isAndroid: Bool
    var deviceToken: String
    var message: String

    init?(_ request: HTTPRequest) {
        if request.method == "GET", request.path == "/relay" {
            guard let query = try? HTTPQuery(request.query ?? ""), let token = query["token"],
                let message = query["msg"].flatMap(Hex.decode)
            else { return nil }
            isGet = true
            isAndroid = query["isAndroid"] == "true"
            let text = Hex.decode(token).flatMap { bytes in
                bytes.allSatisfy { (0x20...0x7e).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
            }
            deviceToken = text ?? token
            self.message = String(decoding: message, as: UTF8.self)
            return
        }
        let path = request.path.split(separator: "/")
        guard request.method == "POST", path.count == 4, path[0] == "v1", path[2] == "device",
            path[1] == "apns" || path[1] == "fcm", let body = try? JSON(request.body),
            let message = body["encrypted"]?.string, !message.isEmpty,
            request.fields["content-type"] == "application/json"
        else { return nil }
        isGet = false
        isAndroid = path[1] == "fcm"
        deviceToken = String(path[3])
        self.message = message
    }

    var success: HTTPResponse {
        guard isGet else { return json(200, #"{"wasAccepted":true,"isUnregistered":false}"#) }
        return json(200, "success")
    }

    func refusal(_ code: String, isOld: Bool) -> HTTPResponse {
        guard isGet else {
            let isDead = ["UNREGISTERED", "Unregistered", "BadDeviceToken"].contains(code)
            return json(400, #"{"wasAccepted":false,"errorCode":"\#(code)","isUnregistered":\#(isDead)}"#)
        }
        guard !isOld else { return HTTPResponse(status: 200, text: "Error: \(code)") }
        return json(
            400,
            #"{"timestamp":"2026-11-22T00:00:00.000Z","status":400,"error":"Bad Request","path":"/relay"}"#)
    }

    private func json(_ status: Int, _ text: String) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: Array(text.utf8))
        response.fields.append("content-type", "application/json")
        return response
    }
}
