import HTTP1
import Relay

/// Where a path leads at the Web Push door. Nothing is ever redirected: senders don't follow.
enum WebPushRoute: Equatable {
    /// `/relay-to/{environment}/{device-token}[/{extra}]`, as toot-relay, webpush-apn-relay and webpush-fcm-relay have
    /// it. The extra may have slashes; an empty one is none.
    case relay(Environment, token: String, extra: String?)
    /// `/push/{device-token}/{id}[?sandbox=true]`, as metatext-apns and feditext-apns have it.
    case push(isSandbox: Bool, token: String, id: String)
    /// `/relay-to/_state/{id}`: what became of a message.
    case state(NotificationID)
    /// `/relay-to/_health`.
    case health
    /// Of this door, but no endpoint.
    case unknown

    enum Environment: Equatable { case production, development, fcm }

    /// Whether a path (as sent) is this door's. What Bitwarden's servers ask for begins with `/push/` as well, and has
    /// nothing behind it that could be an id, or `delete` where a token would be.
    static func isOurs(_ path: String) -> Bool {
        if path.hasPrefix(relayPrefix) { return true }
        guard path.hasPrefix(pushPrefix) else { return false }
        let rest = path.utf8.dropFirst(pushPrefix.utf8.count)
        return rest.contains(UInt8(ascii: "/")) && !rest.starts(with: "delete/".utf8)
    }

    private static let relayPrefix = "/relay-to/"
    private static let pushPrefix = "/push/"

    /// - Parameters: As sent. The path is decoded before it is split, so an escaped slash is a slash.
    init(path: String, query: String?) {
        guard let decoded = try? String(percentEncoded: path.utf8.span) else {
            self = .unknown
            return
        }
        if decoded.hasPrefix(WebPushRoute.relayPrefix) {
            self = WebPushRoute.relay(decoded.dropFirst(WebPushRoute.relayPrefix.count))
        } else if decoded.hasPrefix(WebPushRoute.pushPrefix) {
            let parts = decoded.dropFirst(WebPushRoute.pushPrefix.count)
                .split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                self = .unknown
                return
            }
            let sandbox = (try? HTTPQuery(query ?? ""))?["sandbox"]
            self = .push(isSandbox: sandbox == "true", token: String(parts[0]), id: String(parts[1]))
        } else {
            self = .unknown
        }
    }

    private static func relay(_ rest: Substring) -> WebPushRoute {
        let parts = rest.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        if parts == ["_health"] { return .health }
        guard parts.count >= 2, !parts[1].isEmpty else { return .unknown }
        if parts[0] == "_state" {
            return parts.count == 2 ? NotificationID(uuid: parts[1]).map { .state($0) } ?? .unknown : .unknown
        }
        let environment: Environment =
            switch parts[0] {
            case "production": .production
            case "fcm": .fcm
            // As the original has it: every other word.
            case _: .development
            }
        let extra = parts.count == 3 && !parts[2].isEmpty ? String(parts[2]) : nil
        return .relay(environment, token: String(parts[1]), extra: extra)
    }

    static func path(ofState id: NotificationID) -> String { "/relay-to/_state/\(id.uuid)" }
}
