import Encodings
import JSONCoding
import Relay

/// The meaning of a gateway's answer: for its notification, and for all that goes the same way.
struct Verdict: Equatable, Sendable {
    enum Consequence: Equatable, Sendable {
        case none
        /// The request was not as the gateway's rules say: our fault, to be counted and logged.
        case ownFault
        /// The credential that the request bore is over: get another one, if the present one isn't newer already.
        case renewCredential
        /// The credential was changed too often: keep it.
        case keepCredential
        /// This connection is of no further use; another one may be.
        case reconnect
    }

    var outcome: Outcome
    var consequence = Consequence.none

    static func refused(
        _ reason: String, _ consequence: Consequence = .none, kind: FailureKind = .other,
        detail: String? = nil
    ) -> Verdict {
        Verdict(outcome: .refused(reason: reason, kind: kind, detail: detail), consequence: consequence)
    }

    static func blocked(_ reason: String, _ consequence: Consequence = .none) -> Verdict {
        Verdict(outcome: .blocked(reason: reason), consequence: consequence)
    }

    static func deferred(
        _ reason: String, _ scope: Deferral.Scope, after: Duration? = nil, isUnharmed: Bool = false,
        witnesses: Int = Deferral.fewWitnesses, _ consequence: Consequence = .none
    ) -> Verdict {
        Verdict(
            outcome: .deferred(
                Deferral(
                    reason: reason, scope: scope, retryAfter: after, isUnharmed: isUnharmed,
                    witnesses: witnesses)),
            consequence: consequence)
    }

    /// Makes the verdict that one device gets too much.
    static func throttled(_ reason: String, after: Duration?) -> Verdict {
        Verdict(
            outcome: .deferred(
                Deferral(reason: reason, scope: .device, retryAfter: after, isThrottle: true)))
    }
}

/// One answer to one notification, as it came over the connection.
struct GatewayAnswer: Equatable, Sendable {
    var status: Int
    /// `Retry-After`, if it could be read.
    var retryAfter: Duration?
    /// The body, at most ``bodyLimit`` bytes.
    var body: [UInt8]
    /// `Date`, as it came.
    var date: String?
    /// Seconds for which a push server of browsers keeps the notification: its `TTL`.
    var timeKept: Int64?
    /// `X-WNS-Status`: what a push server of Microsoft's does with the notification.
    var windowsStatus: String?
    /// Whether the answer bears `apns-id`, as each of Apple's does; `false` with a status of 2xx.
    var hasAppleID = false
    /// `Content-Type`, as it came; `nil` with a status of 2xx, where nobody asks for it.
    var contentType: String?
    /// `WWW-Authenticate`, as it came; `nil` with a status of 2xx.
    var challenge: String?

    /// Longer ones are cut off, and then read as no JSON. The gateways' own are a few hundred bytes.
    static let bodyLimit = 16_384

    /// Whether a program that stands before the gateway has written it: most write a page, and some of Go's this line.
    var isPage: Bool {
        guard !body.isEmpty else { return false }
        let text = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body[3...] : body[...]
        return text.first { !(9...32).contains($0) } == UInt8(ascii: "<")
            || text.starts(with: "404 page not found".utf8)
            // Google types answers without a body so, and servers in PHP what they say when they take a message.
            || !text.isEmpty && !(200..<300).contains(status)
                && GatewayAnswer.begins(contentType, with: "text/html")
    }

    /// Whether the answer asks for a login that is no push service's, such as a proxy's. Push services that name a login ask
    /// for `vapid` (RFC 8292, section 4.2).
    var wantsLogin: Bool { challenge != nil && !GatewayAnswer.begins(challenge, with: "vapid") }

    private static func begins(_ field: String?, with word: StaticString) -> Bool {
        guard let start = field?.utf8.prefix(word.utf8CodeUnitCount) else { return false }
        return word.withUTF8Buffer { start.map(ASCII.lowercased).elementsEqual($0) }
    }

    /// Returns a word of the gateway's that may go to senders, logs and metrics; `nil`: the text is no short
    /// word.
    static func word(_ text: String?) -> String? {
        guard let text, (1...64).contains(text.utf8.count) else { return nil }
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            case _: false
            }
        }
        return isPlain ? text : nil
    }

    /// Returns a gateway's text that may go to the sender: printable ASCII, cut to 256 characters; `nil` for
    /// a text that could hold a device token.
    static func detail(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }),
            !DeviceToken.couldBe(in: text)
        else { return nil }
        return String(decoding: text.utf8.prefix(256), as: UTF8.self)
    }

    /// Returns the word in a GOAWAY frame's debug data: APNs sends JSON with the `reason` of its answers,
    /// others plain text.
    static func word(inGoAway debugData: [UInt8]) -> String? {
        word((try? JSON(debugData))?["reason"]?.string) ?? word(String(decoding: debugData, as: UTF8.self))
    }

    /// The word that stands for a gateway's where it gave none.
    var statusWord: String { "HTTP\(status)" }
}
