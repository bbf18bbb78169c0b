import Encodings
import HTTP1
import HTTP2
import Reactor

/// An event on a connection.
enum ExchangeEvent {
    case answered(tag: Int, GatewayAnswer)
    /// The request was surely not handled: it may be sent again at once.
    case unharmed(tag: Int)
    /// The request may have been handled.
    case unclear(tag: Int, ExchangeReason)
    /// The gateway has said how many requests it takes.
    case ready
    /// The gateway has answered a PING.
    case alive
    case goAway(debugData: [UInt8])
    /// Nothing more comes or goes; `nil` for an orderly end.
    case ended(ExchangeReason?)
}

/// The protocol that a connection speaks, without its socket and TLS. Each request ends in exactly one event.
///
/// Take the events after ``receive(_:)``, ``takeOutput(into:upTo:)`` and ``streamEnded()``.
protocol HTTPClientSession: AnyObject {
    /// Requests that may be sent now; below 0 when the gateway took back what it had allowed.
    var freeStreams: Int { get }
    func submit(_ head: HTTP2Headers, body: [UInt8], tag: Int)
    /// Gives a request up; it still ends in an event.
    func cancel(tag: Int)
    func ping()
    func receive(_ bytes: RawSpan)
    /// Called when the peer has closed, or the connection broke.
    func streamEnded()
    /// Appends some of what is to be sent, until there is about as much as `limit`.
    ///
    /// - Returns: Whether there is more.
    func takeOutput(into bytes: inout [UInt8], upTo limit: Int) -> Bool
    /// Hands over what happened since the last call, in order.
    func takeEvents(_ take: (ExchangeEvent) -> Void)
}

extension GatewayConnection.HTTPVersion {
    /// Returns a new session with this host.
    func session(host: String) -> any HTTPClientSession {
        switch self {
        case .http1: HTTP1ClientSession(host: host)
        case .peer(let network): PeerClientSession(network)
        case .http2:
            // Nothing is sent before the gateway's SETTINGS have come.
            HTTP2ClientSession(
                presumedStreams: 1, keeping: GatewayAnswer.fields, ofErrors: GatewayAnswer.fieldsOfErrors)
        }
    }
}

/// A session that gathers its output and its events until they are taken.
protocol GatheringClientSession: HTTPClientSession {
    /// The bytes to be sent.
    var output: [UInt8] { get set }
    /// The events that were not taken yet, in order.
    var events: [ExchangeEvent] { get set }
}

extension GatheringClientSession {
    func takeOutput(into bytes: inout [UInt8], upTo limit: Int) -> Bool {
        bytes += output
        output.removeAll(keepingCapacity: true)
        return false
    }

    func takeEvents(_ take: (ExchangeEvent) -> Void) {
        let taken = events
        events = []
        for event in taken { take(event) }
    }
}

extension HTTP2ClientSession: HTTPClientSession {
    func ping() { ping(payload: 0) }
    func streamEnded() { connectionLost() }

    func takeEvents(_ take: (ExchangeEvent) -> Void) {
        for event in takeEvents() { take(ExchangeEvent(event)) }
    }
}

extension ExchangeEvent {
    fileprivate init(_ event: HTTP2ClientEvent) {
        self =
            switch event {
            case .answered(let tag, let response): .answered(tag: tag, GatewayAnswer(response))
            case .failed(let tag, .refused): .unharmed(tag: tag)
            case .failed(let tag, .reset(let code)): .unclear(tag: tag, .reset(code.rawValue))
            case .failed(let tag, .answerTooLarge): .unclear(tag: tag, .own(.answerTooLarge))
            case .failed(let tag, .connectionLost): .unclear(tag: tag, .own(.connectionLost))
            case .connection(.settings): .ready
            case .connection(.goaway(_, _, let debug)): .goAway(debugData: debug)
            case .connection(.pingAcknowledged): .alive
            case .connection(.ended(let error)): .ended(error.map { .system("\($0)") })
            }
    }
}

/// HTTP/1.1: one request at a time.
final class HTTP1ClientSession: GatheringClientSession {
    private let host: String
    private var decoder = HTTPResponseDecoder(limits: HTTPLimits(body: GatewayAnswer.bodyLimit))
    var output: [UInt8] = []
    var events: [ExchangeEvent] = [.ready]
    private var tag: Int?
    private var hasEnded = false

    init(host: String) {
        self.host = host
    }

    var freeStreams: Int { tag == nil && !hasEnded ? 1 : 0 }

    func submit(_ head: HTTP2Headers, body: [UInt8], tag: Int) {
        guard freeStreams > 0 else {
            events.append(.unharmed(tag: tag))
            return
        }
        self.tag = tag
        var request = HTTPRequest(method: head[":method"] ?? "POST", path: head[":path"] ?? "/", body: body)
        for field in head.all where !field.name.hasPrefix(":") {
            request.fields.append(field.name, field.value)
        }
        output += request.encoded(host: host)
    }

    /// Gives the request up with its connection, which is of no further use: the answer could still come.
    func cancel(tag: Int) { end(.own(.answerTimeout)) }

    /// Does nothing: HTTP/1.1 has nothing of the kind, and requests' own deadlines must do.
    func ping() {}

    func receive(_ bytes: RawSpan) {
        guard !hasEnded else { return }
        decoder.append(bytes)
        do throws(HTTPFault) {
            while let response = try decoder.next() { take(response) }
        } catch {
            end(.system("\(error)"))
        }
    }

    func streamEnded() {
        guard !hasEnded else { return }
        if let response = try? decoder.end() { take(response) }
        end(tag == nil ? nil : .own(.connectionLost))
    }

    private func take(_ response: HTTPResponse) {
        guard let tag else { return end(.system("answer without a request")) }
        self.tag = nil
        events.append(.answered(tag: tag, GatewayAnswer(response)))
        if !response.isKeptAlive { end(nil) }
    }

    private func end(_ reason: ExchangeReason?) {
        guard !hasEnded else { return }
        hasEnded = true
        if let tag { events.append(.unclear(tag: tag, .own(.connectionLost))) }
        tag = nil
        events.append(.ended(reason))
    }
}

extension GatewayAnswer {
    init(_ response: HTTP2Response) {
        let isGood = (200..<300).contains(response.status)
        self.init(
            status: response.status,
            retryAfter: GatewayAnswer.wish(response.headers["retry-after"], date: response.headers["date"]),
            body: response.body.count <= GatewayAnswer.bodyLimit
                ? response.body : Array(response.body.prefix(GatewayAnswer.bodyLimit)),
            date: response.headers["date"], timeKept: GatewayAnswer.seconds(response.headers["ttl"]),
            windowsStatus: response.headers["x-wns-status"] ?? response.headers["x-wns-notificationstatus"],
            hasAppleID: !isGood && response.headers["apns-id"] != nil,
            contentType: isGood ? nil : response.headers["content-type"],
            challenge: isGood ? nil : response.headers["www-authenticate"])
    }

    init(_ response: HTTPResponse) {
        let isGood = (200..<300).contains(response.status)
        self.init(
            status: response.status,
            retryAfter: GatewayAnswer.wish(response.fields["retry-after"], date: response.fields["date"]),
            body: response.body, date: response.fields["date"],
            timeKept: GatewayAnswer.seconds(response.fields["ttl"]),
            windowsStatus: response.fields["x-wns-status"] ?? response.fields["x-wns-notificationstatus"],
            hasAppleID: !isGood && response.fields["apns-id"] != nil,
            contentType: isGood ? nil : response.fields["content-type"],
            challenge: isGood ? nil : response.fields["www-authenticate"])
    }

    /// The fields of an answer that are read. Microsoft gives the last two the same meaning ("Push notification service
    /// request and response headers").
    static let fields = [
        "retry-after", "date", "ttl", "x-wns-status", "x-wns-notificationstatus",
    ]
    /// The fields that tell whose an answer is that is no success.
    static let fieldsOfErrors = ["content-type", "www-authenticate", "apns-id"]

    private static func seconds(_ text: String?) -> Int64? {
        text.flatMap { $0.utf8.count <= 10 ? Int64($0) : nil }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private static func wish(_ text: String?, date: @autoclosure () -> String?) -> Duration? {
        text.flatMap { RetryAfter.duration($0, date: date(), now: EventLoop.unixMilliseconds / 1000) }
    }
}
