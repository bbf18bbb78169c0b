import Client
import Crypto
import Encodings
import HTTP2
import Reactor

/// Whose manners a simulated push server of browsers has.
package struct WebPushRules: Sendable {
    package enum Manner: String, CaseIterable, Sendable { case mozilla, google, apple, unifiedPush }

    package var manner: Manner
    package var streamLimit = 100
    /// Bytes of a message.
    package var longestBody = 4096

    package init(_ manner: Manner) { self.manner = manner }
}

/// A push server of browsers (RFC 8030, 8291, 8292) with the answers of one of the services that there are. The checks
/// are in the order in which Mozilla's makes them.
final class SimulatedWebPush: SimulatedService {
    private let rules: WebPushRules
    /// The application server's key of each path; `nil`: it is over.
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

    func streamLimit(hasCertificate: Bool) -> Int { rules.streamLimit }

    func call(_ request: GatewayRequest) -> GatewayCall {
        let path = request.headers[":path"]
        return GatewayCall(
            request: request, subject: path == SimulatedWebPush.pairing ? .token : .push, deviceToken: path)
    }

    private func pair(_ request: GatewayRequest) -> GatewayAnswer {
        let key = String(decoding: request.body, as: UTF8.self).filter { !$0.isWhitespace }
        guard let point = Base64.decodeFromURL(key), P256.isPoint(point) else {
            return GatewayAnswer(status: 400, body: Array("not a VAPID key\n".utf8))
        }
        let path = subscribe(for: key)
        guard let browser = try? Browser(at: "https://\(request.headers[":authority"] ?? "")", path: path),
            let phone = try? Phone.new(.android, descriptor: "Web", deviceToken: browser.token)
        else { return GatewayAnswer(status: 500) }
        pages[path] = (browser, phone)
        return GatewayAnswer(status: 201, body: Array((phone.pairingToken.text + "\n").utf8))
    }

    func judge(_ call: GatewayCall, on connection: inout ConnectionFacts, now: Int64) -> Verdict {
        let headers = call.request.headers
        if call.subject == .token { return .answered(pair(call.request)) }
        guard headers[":method"] == "POST", let path = call.deviceToken,
            let subscription = subscriptions[path]
        else {
            return refuse(
                404, errno: 102, "BadPath",
                "A valid push subscription endpoint should be specified in the URL as such: https://fcm.googleapis.com/wp/dHIoDxE7Hdg:APA91bH1Zj0kNa..."
            )
        }
        let key: String
        do throws(VAPIDHeader.Fault) {
            key = try VAPIDHeader(
                headers["authorization"], audience: "https://\(headers[":authority"] ?? "")",
                now: now / 1000, mustBeContactable: rules.manner == .apple
            ).key
        } catch {
            return refuse(
                rules.manner == .mozilla ? 401 : 403, errno: 109, "BadJwtToken",
                "invalid JWT provided: \(error.rawValue)")
        }
        guard let wanted = subscription else {
            return refuse(410, errno: 106, "Unregistered", "push subscription has unsubscribed or expired.\n")
        }
        guard key == wanted else { return refuseOtherKey() }
        guard call.request.body.count <= rules.longestBody else {
            return refuse(413, errno: 104, "PayloadTooLarge", "too large")
        }
        guard let ttl = headers["ttl"].flatMap(Int.init), rules.manner == .apple ? ttl > 0 : ttl >= 0 else {
            return refuse(400, errno: 111, "BadTtl", "ttl")
        }
        guard headers["content-encoding"] == "aes128gcm", call.request.body.count >= 103 else {
            return refuse(400, errno: 110, "BadWebPushRequest", "encoding")
        }
        if let topic = headers["topic"] {
            guard topic.utf8.count <= 32, rules.manner != .apple || topic.utf8.count % 4 != 1,
                topic.utf8.allSatisfy({
                    ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "-") | ASCII.equal($0, "_") == 1
                })
            else { return refuse(400, errno: 113, "BadWebPushTopic", "topic") }
        }
        if rules.manner == .apple, let urgency = headers["urgency"],
            !["very-low", "low", "normal", "high"].contains(urgency)
        {
            return refuse(400, errno: 110, "BadUrgency", "urgency")
        }
        return .accepted(deviceToken: path, accepted(ttl: ttl))
    }

    private func accepted(ttl: Int) -> GatewayAnswer {
        lastMessage += 1
        var answer = GatewayAnswer(status: rules.manner == .unifiedPush ? 200 : 201)
        switch rules.manner {
        case .mozilla:
            answer.headers.add("location", "/m/\(lastMessage)")
            answer.headers.add("ttl", String(ttl))
        case .google: answer.headers.add("location", "/m/\(lastMessage)")
        case .apple: answer.headers.add("apns-id", String(lastMessage))
        case .unifiedPush: answer.body = Array(#"{"id":"\#(lastMessage)","event":"message"}"#.utf8)
        }
        return answer
    }

    private func refuseOtherKey() -> Verdict {
        switch rules.manner {
        case .mozilla:
            .answered(
                json(
                    401,
                    #"{"code":401,"errno":109,"error":"Unauthorized","message":"VAPID public key mismatch"}"#)
            )
        case .apple: .answered(json(400, #"{"reason":"VapidPkHashMismatch"}"#))
        case .google, .unifiedPush:
            refuse(
                403, errno: 0, "",
                "the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.\n"
            )
        }
    }

    private func refuse(_ status: Int, errno: Int, _ apple: String, _ google: String) -> Verdict {
        let word =
            switch rules.manner {
            case .mozilla: String(errno)
            case .apple: apple
            case .google, .unifiedPush: google
            }
        return .answered(error(.push, status: status, reason: word, timestamp: nil, retryAfter: nil))
    }

    /// - Parameter reason: Mozilla's number, Apple's word, Google's text.
    func error(
        _ subject: FaultRule.Subject, status: Int, reason: String?, timestamp: Int64?, retryAfter: String?
    ) -> GatewayAnswer {
        var answer =
            switch rules.manner {
            case .mozilla:
                json(
                    status,
                    #"{"code":\#(status),"errno":\#(reason ?? "999"),"error":"Simulated","message":"Simulated","more_info":""}"#
                )
            case .apple: json(status, reason.map { #"{"reason":"\#($0)"}"# } ?? "")
            case .google, .unifiedPush:
                GatewayAnswer(status: status, body: Array((reason ?? "").utf8))
            }
        if let retryAfter { answer.headers.add("retry-after", retryAfter) }
        return answer
    }

    private func json(_ status: Int, _ text: String) -> GatewayAnswer {
        var answer = GatewayAnswer(status: status, body: Array(text.utf8))
        answer.headers.add("content-type", "application/json; charset=UTF-8")
        return answer
    }
}
