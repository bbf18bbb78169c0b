import HTTP2
import JSONCoding
import Reactor

/// A push service's rules, and what it remembers between requests.
@EventLoop
protocol SimulatedService: AnyObject {
    /// Returns the limit of concurrent streams in the first SETTINGS of a connection.
    func streamLimit(hasCertificate: Bool) -> Int

    /// Parses the parts of a request by which faults are selected.
    func call(_ request: GatewayRequest) -> GatewayCall

    /// Judges a request by all rules of the service. `now` is in milliseconds since 1970.
    func judge(_ call: GatewayCall, on connection: inout ConnectionFacts, now: Int64) -> SimulatedVerdict

    /// Returns an error in the service's own form.
    func error(
        _ subject: FaultRule.Subject, status: Int, reason: String?, timestamp: Int64?,
        retryAfter: String?
    ) -> SimulatedAnswer
}

/// A request to a simulated gateway, over either version of HTTP.
struct GatewayRequest {
    /// The header fields with the pseudo-header fields of HTTP/2, whatever the request came by.
    let headers: HTTP2Headers
    let body: [UInt8]
}

/// A request, read as far as its kind and its device token.
struct GatewayCall {
    let request: GatewayRequest
    let subject: FaultRule.Subject
    /// The device token as the request names it; `nil` where it names none.
    let deviceToken: String?
    /// The body, where the service needs it read.
    var document: JSON?
}

struct SimulatedAnswer {
    var status: Int
    var headers = HTTP2Headers()
    var body: [UInt8] = []
    /// A change of the stream limit that goes with it.
    var streamLimit: Int?
}

enum SimulatedVerdict {
    /// The service takes responsibility for a push.
    case accepted(deviceToken: String, SimulatedAnswer)
    /// Anything else: errors, access tokens.
    case answered(SimulatedAnswer)
}

/// The state of a connection.
struct ConnectionFacts {
    /// Counts the simulator's connections from 1.
    let number: Int
    /// The UID of the client's certificate, if it showed one.
    var certificateTopic: String?
    /// The last provider token that was found good, as it came after `bearer `, and its key.
    var bearer: [UInt8] = []
    var keyID = ""
    /// Milliseconds since 1970.
    var bearerIssuedAt: Int64 = 0
    var bearerSince: Int64 = 0
    /// The fault with which it answers everything.
    var spoiled: GatewayFault?
    /// Whether a push under a provider token has opened the streams.
    var hasAcceptedPush = false
}

/// A push that a simulated gateway has taken responsibility for.
package struct AcceptedPush: Sendable {
    package let deviceToken: String
    /// The header fields, with the pseudo-header fields.
    package let headers: HTTP2Headers
    /// The JSON text as it came.
    package let body: [UInt8]
    /// Counts the simulator's connections from 1.
    package let connection: Int
    /// False for one that gets no answer, ever. One that gets its answer late, on a connection that then breaks, counts as
    /// answered: ``GatewaySimulator/onBreak`` tells of those.
    package let isAnswered: Bool

    package init(
        deviceToken: String, headers: HTTP2Headers, body: [UInt8], connection: Int, isAnswered: Bool
    ) {
        self.deviceToken = deviceToken
        self.headers = headers
        self.body = body
        self.connection = connection
        self.isAnswered = isAnswered
    }
}
