import Encodings
import HTTP1
import PushEndpoints
import Relay

/// The destination of a path at the Web Push door. Nothing is ever redirected: senders don't follow.
enum WebPushRoute: Equatable {
    /// `/relay-to/{environment}/{device-token}[/{extra}]`, as toot-relay, webpush-apn-relay and webpush-fcm-relay have
    /// it. The extra may have slashes; an empty one is none.
    case relay(Environment, token: String, extra: String?)
    /// `/push/{device-token}/{id}[?sandbox=true]`, as metatext-apns and feditext-apns have it.
    case push(token: String, id: String)
    /// `/relay-to/_state/{id}`: what became of a message.
    case state(NotificationID)
    /// `/relay-to/_health`.
    case health
    /// A path of this door that is no endpoint.
    case unknown

    enum Environment: Equatable { case production, development, fcm }

    /// Whether a path (as sent) is this endpoint's.
    static func isOurs(_ path: String) -> Bool {
        path.withBytes { $0.starts(with: relayPrefix) || PushPath.hasToken($0) }
    }

    private static let relayPrefix = "/relay-to/"

    /// Reads the route of a path; `nil`: the path is another door's.
    ///
    /// - Parameter path: The path as sent. It is decoded before it is split, so an escaped slash is a slash.
    init?(path: String) {
        guard WebPushRoute.isOurs(path) else { return nil }
        guard let decoded = try? String(percentEncoded: path) else {
            self = .unknown
            return
        }
        if decoded.hasPrefix(WebPushRoute.relayPrefix) {
            self = WebPushRoute.relay(
                WebPushRoute.parts(of: decoded, behind: WebPushRoute.relayPrefix, atMost: 3))
        } else if decoded.hasPrefix(PushPath.prefix) {
            let parts = WebPushRoute.parts(of: decoded, behind: PushPath.prefix, atMost: 2)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                self = .unknown
                return
            }
            self = .push(token: parts[0], id: parts[1])
        } else {
            self = .unknown
        }
    }

    /// Splits a path as bytes: a stranger's character may be as long as the path.
    private static func parts(of path: String, behind prefix: String, atMost count: Int) -> [String] {
        path.withBytes { parts(of: $0, behind: prefix, atMost: count) }
    }

    private static func parts(of path: Span<UInt8>, behind prefix: String, atMost count: Int) -> [String] {
        var parts: [String] = []
        var start = prefix.utf8.count
        while let end = parts.count < count - 1 ? path.firstIndex(of: UInt8(ascii: "/"), from: start) : nil {
            parts.append(text(path.extracting(start..<end)))
            start = end + 1
        }
        parts.append(text(path.extracting(droppingFirst: start)))
        return parts
    }

    /// Returns the text of whole characters, as slashes are ends of them.
    private static func text(_ bytes: Span<UInt8>) -> String {
        guard let valid = try? UTF8Span(validating: bytes) else {
            preconditionFailure("a part of a text is none")
        }
        return String(copying: valid)
    }

    private static func relay(_ parts: [String]) -> WebPushRoute {
        let word = parts[0].name()
        if parts.count == 1 { return word == "_health" ? .health : .unknown }
        guard !parts[1].isEmpty else { return .unknown }
        if word == "_state" {
            return parts.count == 2 ? NotificationID(uuid: parts[1]).map { .state($0) } ?? .unknown : .unknown
        }
        let environment: Environment =
            switch word {
            case "production": .production
            case "fcm": .fcm
            // As the original has it: every other word.
            case _: .development
            }
        return .relay(
            environment, token: parts[1], extra: parts.count == 3 && !parts[2].isEmpty ? parts[2] : nil)
    }

    /// Whether the query of a ``push(token:id:)`` asks for Apple's sandbox.
    static func isSandbox(_ query: String?) -> Bool {
        (try? HTTPQuery(query ?? ""))?["sandbox"]?.name() == "true"
    }

    static func path(ofState id: NotificationID) -> String { "/relay-to/_state/\(id.uuid)" }
}
