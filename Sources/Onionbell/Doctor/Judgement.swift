import Gateways
import Reactor
import Tor

/// What figures and answers mean for an operator: decisions without looking.
enum Judgement {
    /// - Parameters:
    ///   - free: bytes that the node's user may still write in its state directory.
    ///   - wanted: bytes that the outbox may come to hold.
    static func disk(_ path: String, free: Int64, wanted: Int64) -> Finding {
        let words = "\(size(free)) free for \(path)"
        let advice = "make room on that file system, or move state_directory to a larger one"
        // Below that SQLite's log and tor's files have no room.
        if free < 64 << 20 { return .fail("disk", words, advice) }
        if free < 2 * wanted + 256 << 20 {
            return .warn("disk", "\(words), and a full outbox takes up to \(size(2 * wanted))", advice)
        }
        return .pass("disk", words)
    }

    static func size(_ bytes: Int64) -> String {
        bytes < 10 << 30 ? "\(bytes >> 20) MiB" : "\(bytes >> 30) GiB"
    }

    /// - Parameters:
    ///   - limit: of open files, for the node.
    ///   - wanted: connections that it is to hold, and what it needs besides.
    static func files(limit: Int, wanted: Int, isOfNode: Bool) -> Finding {
        let whose = isOfNode ? "the node" : "a node started from here"
        let words = "\(whose) may open \(limit) files"
        guard limit < wanted else { return .pass("limits", words) }
        return .warn(
            "limits", "\(words), and peers.connections and http.connections together want \(wanted)",
            "raise LimitNOFILE in the unit (or ulimit -n), or set fewer connections; the node makes do with what it has"
        )
    }

    /// - Parameter now: seconds since 1970.
    static func clock(_ view: ClockView, now: Int64) -> Finding {
        let advice = "set the clock and keep it right: timedatectl set-ntp true"
        if let skew = view.skew {
            return .fail(
                "tor.clock", "tor's relays say that this machine's clock is \(distance(skew))", advice)
        }
        if let from = view.validFrom, now < from {
            return .fail(
                "tor.clock",
                "tor's present consensus begins in the future, so the clock is at least \(distance(Int(now - from)))",
                advice)
        }
        if let until = view.validUntil, now > until {
            return .fail(
                "tor.clock",
                "tor's consensus ended \(Age.text(1000 * (now - until))) ago: the clock is ahead, or tor is cut off",
                advice)
        }
        return .pass("tor.clock", "the clock agrees with what tor's relays say")
    }

    private static func distance(_ seconds: Int) -> String {
        "\(Age.text(1000 * Int64(abs(seconds)))) \(seconds > 0 ? "ahead" : "behind")"
    }

    /// - Parameters:
    ///   - end: seconds since 1970, as `now`.
    static func certificate(_ app: String, end: Int64, now: Int64) -> Finding {
        let words = CertificateAlarm.state(end: end, now: now)
        let advice =
            "make a new one at developer.apple.com (Certificates), export it as .p12 and put it in the old one's place"
        let check = "\(app).certificate"
        if end <= now || !CertificateAlarm.isWell(end: end, now: now) { return .fail(check, words, advice) }
        return end - now < CertificateAlarm.warning ? .warn(check, words, advice) : .pass(check, words)
    }

    /// What a gateway said to a request for a device that there isn't.
    static func gateway(_ check: String, host: String, _ finding: GatewayProbe.Finding) -> [Finding] {
        let tls = "\(check).tls"
        let credentials = "\(check).credentials"
        let connected = Finding.pass(tls, "\(host) is who it must be")
        return switch finding {
        case .taken(let word):
            [connected, .pass(credentials, "taken by \(host) (\(word) for a device that there isn't)")]
        case .refused(let reason):
            [connected, .fail(credentials, "\(host) says \(reason)", GatewayAdvice.text(for: reason))]
        case .unclear(let reason):
            [
                connected,
                .warn(
                    credentials, "\(host) says \(reason), which tells nothing of the credentials",
                    "try again in some minutes; if it stays so, something between here and there answers"),
            ]
        case .untrusted(let reason): [.fail(tls, "\(host): \(reason)", GatewayAdvice.text(forTLS: reason))]
        case .unreachable(let reason):
            [
                .fail(
                    tls, "\(host): \(reason)",
                    "let this machine reach \(host) (firewall, route, proxy); notifications wait meanwhile")
            ]
        }
    }
}

/// What an operator does about a gateway's word.
enum GatewayAdvice {
    static func text(for reason: String) -> String {
        switch reason {
        case "ExpiredProviderToken":
            "the token was signed a moment ago, so this machine's clock is wrong: timedatectl set-ntp true"
        case "InvalidProviderToken":
            "key_file, key_id and team_id must belong together (developer.apple.com, Keys and Membership), the key must not be revoked, and the clock must be right"
        case "TopicDisallowed", "BadTopic", "MissingTopic", "DeviceTokenNotForTopic":
            "topic must be the app's bundle id, and the app must be of the team whose key or certificate it is"
        case "BadCertificate", "BadCertificateEnvironment":
            "the certificate was revoked, has ended, or is for the other of Apple's two hosts: put in the right .p12"
        case "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken":
            "Apple made this key for the other of its two hosts: make one for both, or for this one"
        case "invalid_grant":
            "the service account's key was deleted or is another account's, or this machine's clock is wrong: make a new key in the Firebase console"
        case "UNAUTHENTICATED":
            "Google does not take its own token back: make a new key for the service account"
        case "PERMISSION_DENIED", "SENDER_ID_MISMATCH":
            "switch on the Firebase Cloud Messaging API (V1) for the project, and give the service account its role (Firebase Admin, or cloudmessaging.messages.create)"
        case "NOT_FOUND":
            "there is no such project: is the service account of the app's own Firebase project?"
        case _: "look the word up in the article about reason words"
        }
    }

    static func text(forTLS reason: String) -> String {
        if reason.contains("alert 45") || reason.contains("alert 44") || reason.contains("alert 42") {
            return "the push certificate has ended, was revoked or is not one: put in a new .p12"
        }
        if reason.contains("not yet valid") || reason.contains("expired") {
            return
                "this machine's clock is wrong (timedatectl set-ntp true), or something between here and there answers"
        }
        return
            "something between here and there answers in its place, or ca_file does not fit; without ca_file the system's authorities count (apt install ca-certificates)"
    }
}
