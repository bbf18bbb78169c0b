import Clocks
import Glibc
import HTTP1
import Reactor
import Relay
import Testing

@testable import Gateways

func notification(
    message: String = "BisqMessageiOS|ed3ef74fcb5649ca|fB75OzFICZYLHL795jO1fg==",
    deviceToken: String = String(repeating: "ab", count: 32), host: LaneHost = .production,
    isUrgent: Bool = true,
    hasSound: Bool = false, isMutableContent: Bool = false, isContentAvailable: Bool = true,
    expiresAt: UnixTime = 1_800_000_000_999, id: NotificationID = NotificationID(high: 1, low: 2)
) -> Notification {
    Notification(
        id: id, lane: LaneID(app: "app", host: host), deviceToken: DeviceToken(deviceToken), message: message,
        isUrgent: isUrgent,
        hasSound: hasSound, isMutableContent: isMutableContent, isContentAvailable: isContentAvailable,
        expiresAt: expiresAt, acceptedAt: 0)
}

func answer(_ status: Int, _ body: String = "", retryAfter: Duration? = nil) -> GatewayAnswer {
    GatewayAnswer(status: status, retryAfter: retryAfter, body: Array(body.utf8))
}

/// A gateway's `Retry-After`: seconds, or a date.
enum Wait: Sendable {
    case seconds(Int64)
    case until(String)

    /// As it stands in the header.
    var text: String {
        switch self {
        case .seconds(let seconds): "\(seconds)"
        case .until(let date): date
        }
    }

    /// As it is obeyed: whenever it is read, as the dates are ``farAway`` and ``longAgo``.
    var duration: Duration? { RetryAfter.duration(text, now: EventLoop.unixMilliseconds / 1000) }
}

/// `seconds` since 1970 as HTTP writes dates.
func httpDate(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// A date that no test lives to see. It is obeyed for ``untilFarAway``: no gateway is waited for longer.
let farAway = "Fri, 31 Dec 2100 23:59:59 GMT"
let untilFarAway: Duration = .seconds(86_400)
let longAgo = "Sun, 06 Nov 1994 08:49:37 GMT"

/// Monotonic minutes and wall-clock minutes since 1970.
func instant(minutes: Int64, wall: Int64? = nil) -> Instant {
    Instant(
        unix: UnixTime(milliseconds: 1_795_000_000_000 + (wall ?? minutes) * 60_000),
        monotonic: MonotonicTime(nanoseconds: minutes * 60_000_000_000))
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// As `#expect`, for values that a `mutating` method returns: the macro takes none.
func expect<Value: Equatable>(
    _ value: Value, is expected: Value, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(value == expected, sourceLocation: sourceLocation)
}

/// A push that its door has made, on its way.
func notification(
    _ push: PreparedPush, expiresAt: UnixTime = 1_800_000_000_999, acceptedAt: UnixTime = 1_700_000_000_999
) -> Notification {
    Notification(
        id: NotificationID(high: 1, low: 2), lane: LaneID(app: "app", host: .production),
        deviceToken: DeviceToken(String(repeating: "ab", count: 32)), content: .prepared(push),
        expiresAt: expiresAt,
        acceptedAt: acceptedAt)
}

extension Notification {
    /// For those that ``notification(message:deviceToken:host:isUrgent:hasSound:isMutableContent:isContentAvailable:expiresAt:id:)``
    /// has made.
    var bisq: BisqContent {
        guard case .bisq(let content) = content else { preconditionFailure("a prepared push") }
        return content
    }
}
