import Client
import Crypto
import Encodings
import HTTP2
import Reactor

/// The rules of one browser vendor's push server.
package struct WebPushRules: Sendable {
    package enum Manner: String, CaseIterable, Sendable { case mozilla, google, apple, unifiedPush }

    package var manner: Manner
    package var streamLimit = 100
    /// Bytes of a message.
    package var longestBody = 4096
    /// Seconds for which a message is kept, whatever its sender asks for.
    package var longestLife = Int.max
    /// An application server that is known at every path, as if each had a subscription for it: 87 characters.
    package var knownKey: String?

    package init(_ manner: Manner) { self.manner = manner }
}

/// A push server of browsers (RFC 8030, 8291, 8292) with the answers of one of the services that there are. The checks
/// are in the order in which Mozilla's makes them.
final class SimulatedWebPush: SimulatedService {
    private let rules: WebPushRules
    /// The application server's key of each path; `nil`: the subscription is over.
    private var subscriptions: [String: String?] = [:]
    /// Browsers that were paired over HTTP, by their paths.
    private(set) var pages: [String: (browser: Browser, phone: Phone)] = [:]
    private var lastMessage = 0

    /// A browser and the page in it: the body is a node's VAPID key, the answer a pairing token.
    private static let pairing = "/pair"

    init(_ rules: WebPushRules) { self.rules = rules }

    func subscribe(for vapidKey: String) -> String {
        let name = Base64.encodeForURL(randomBytes(rules.manner == .mozilla ? 137 : 48))
        let path =
            switch rules.manner {
            case .mozilla: "/wpush/v2/\(name)"
            case .google: "/fcm/send/\(name.prefix(11)):APA91b\(name)"
            case .apple: "/Q\(name)"
            case .unifiedPush: "/up\(name.prefix(12))?up=1"
            }
        subscriptions[path] = .some(vapidKey)
        return path
    }

    func unsubscribe(_ path: String) { subscriptions[path] = .some(nil) }

    private func subscription(at path: String) -> String?? {
        subscriptions[path] ?? rules.knownKey.map { .some($0) }
    }

    func streamLimit(hasCertificate: Bool) -> Int { rules.streamLimit }

    func call(_ request: GatewayRequest) -> GatewayCall {
        let path = request.headers[":path"]
        return GatewayCall(
            request: request, subject: path == SimulatedWebPush.pairing ? .token : .push, deviceToken: path)
    }

    private func pair(_ request: GatewayRequest) -> SimulatedAnswer {
        let key = String(decoding: request.body, as: UTF8.self).filter { !$0.isWhitespace }
        guard let point = Base64.decodeFromURL(key), P256.isPoint(point) else {
            return SimulatedAnswer(status: 400, body: Array("not a VAPID key\n".utf8))
        }
        let path = subscribe(for: key)
        guard let browser = try? Browser(at: "https://\(request.headers[":authority"] ?? "")", path: path),
            let phone = try? Phone.new(.android, descriptor: "Web", deviceToken: browser.token)
        else { return SimulatedAnswer(status: 500) }
        pages[path] = (browser, phone)
        return SimulatedAnswer(status: 201, body: Array((phone.pairingToken.text + "\n").utf8))
    }

    func judge(_ call: GatewayCall, on connection: inout ConnectionFacts, now: Int64) -> SimulatedVerdict {
        let headers = call.request.headers
        if call.subject == .token { return .answered(pair(call.request)) }
        guard headers[":method"] == "POST", let path = call.deviceToken,
            let subscription = subscription(at: path)
        else { return .answered(noSuchPath) }
        // A server of one's own takes any key, and a token or none.
        if rules.manner != .unifiedPush {
            let key: String
            do throws(VAPIDHeader.Fault) {
                key = try VAPIDHeader(
                    headers["authorization"], audience: "https://\(headers[":authority"] ?? "")",
                    now: now / 1000, mustBeContactable: rules.manner == .apple
                ).key
            } catch {
                return refuse(.badToken)
            }
            guard let wanted = subscription else { return refuse(.gone) }
            guard key == wanted else { return refuse(.otherKey) }
        } else if subscription == nil {
            return refuse(.gone)
        }
        guard call.request.body.count <= rules.longestBody else { return refuse(.tooLarge) }
        guard let ttl = headers["ttl"].flatMap(Int.init), rules.manner == .apple ? ttl > 0 : ttl >= 0 else {
            return refuse(.noTTL)
        }
        guard headers["content-encoding"] == "aes128gcm", call.request.body.count >= 103 else {
            return .answered(
                error(
                    .push, status: 400, reason: rules.manner == .mozilla ? "110" : "BadWebPushRequest",
                    timestamp: nil, retryAfter: nil))
        }
        if let topic = headers["topic"] {
            guard topic.utf8.count <= 32, rules.manner != .apple || topic.utf8.count % 4 != 1,
                topic.utf8.allSatisfy({
                    ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "-") | ASCII.equal($0, "_") == 1
                })
            else { return refuse(.badTopic) }
        }
        if rules.manner == .apple, let urgency = headers["urgency"],
            !["very-low", "low", "normal", "high"].contains(urgency)
        {
            return .answered(WebPushRules.json(400, #"{"reason":"BadUrgency"}"#))
        }
        return .accepted(deviceToken: path, accepted(ttl: ttl))
    }

    private func accepted(ttl: Int) -> SimulatedAnswer {
        lastMessage += 1
        var answer = SimulatedAnswer(status: rules.manner == .unifiedPush ? 200 : 201)
        switch rules.manner {
        case .mozilla:
            answer.headers.add("location", "/m/\(lastMessage)")
            answer.headers.add("ttl", String(min(ttl, rules.longestLife)))
        case .google: answer.headers.add("location", "/m/\(lastMessage)")
        case .apple: answer.headers.add("apns-id", String(lastMessage))
        case .unifiedPush: answer.body = Array(#"{"id":"\#(lastMessage)","event":"message"}"#.utf8)
        }
        return answer
    }

    private var noSuchPath: SimulatedAnswer {
        switch rules.manner {
        case .mozilla: error(.push, status: 404, reason: "102", timestamp: nil, retryAfter: nil)
        case .apple: WebPushRules.json(404, #"{"reason":"BadPath"}"#)
        case .google, .unifiedPush:
            SimulatedAnswer(
                status: 404,
                body: Array(
                    "A valid push subscription endpoint should be specified in the URL as such: https://fcm.googleapis.com/wp/dHIoDxE7Hdg:APA91bH1Zj0kNa...\n"
                        .utf8))
        }
    }

    private func refuse(_ refusal: WebPushRefusal) -> SimulatedVerdict {
        .answered(rules.manner.answer(refusal) ?? SimulatedAnswer(status: 400))
    }

    /// Returns an error in the service's own form.
    ///
    /// - Parameter reason: Mozilla's number, Apple's word, Google's text.
    func error(
        _ subject: FaultRule.Subject, status: Int, reason: String?, timestamp: Int64?, retryAfter: String?
    ) -> SimulatedAnswer {
        var answer =
            switch rules.manner {
            case .mozilla:
                WebPushRules.json(
                    status,
                    #"{"code":\#(status),"errno":\#(reason.flatMap(Int.init) ?? 999),"error":"Simulated","message":"Simulated","more_info":""}"#
                )
            case .apple: WebPushRules.json(status, reason.map { #"{"reason":"\#($0)"}"# } ?? "")
            case .google, .unifiedPush:
                SimulatedAnswer(status: status, body: Array((reason ?? "").utf8))
            }
        if let retryAfter { answer.headers.add("retry-after", retryAfter) }
        return answer
    }
}
