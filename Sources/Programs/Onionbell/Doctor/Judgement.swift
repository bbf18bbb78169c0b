import Gateways
import Node
import Overview
import Reactor
import Terminal
import Tor

/// The meaning of figures and answers for an operator: decisions without looking.
enum Judgement {
    /// Judges the free disk space for a path.
    ///
    /// - Parameters:
    ///   - free: bytes that the node's user may still write in its state directory.
    ///   - wanted: bytes that the outbox may come to hold.
    static func disk(_ path: String, free: Int64, wanted: Int64) -> Finding {
        let words = "\(size(free)) free for \(path)"
        let advice = "make room on that file system, or move state_directory to a larger one"
        // Below that the store's log and tor's files have no room.
        if free < 64 << 20 { return .fail("disk", words, advice) }
        if free < 2 * wanted + 256 << 20 {
            return .warn("disk", "\(words), and a full outbox takes up to \(size(2 * wanted))", advice)
        }
        return .pass("disk", words)
    }

    /// Judges the state directory.
    ///
    /// - Parameters:
    ///   - isReadOnly: whether its file system is.
    ///   - foreign: the files in it that belong to another user than the directory itself.
    static func state(_ path: String, isReadOnly: Bool, foreign: [String]) -> Finding {
        if isReadOnly {
            return .fail(
                "state", "the file system of \(path) is read-only",
                "mount it for writing (Linux mounts a disk with errors read-only: journalctl -k), or move state_directory"
            )
        }
        if let first = foreign.first {
            return .fail(
                "state", "\(path)/\(first) belongs to another user than \(path)",
                "chown -R --reference=\(path) \(path)")
        }
        return .pass("state", "\(path) and what a node keeps there belong to one user")
    }

    static func lostOutbox(_ path: String) -> Finding {
        .warn(
            "state", "a node was here before, and \(path) is gone or empty: what waited in it is lost",
            "if somebody has moved it, put it back with its -wal before the node starts")
    }

    static func size(_ bytes: Int64) -> String {
        bytes < 10 << 30 ? "\(bytes >> 20) MiB" : "\(bytes >> 30) GiB"
    }

    /// Judges the limit of open files.
    ///
    /// - Parameters:
    ///   - limit: of open files, for the node.
    ///   - wanted: connections that it is to hold, and what it needs besides.
    static func files(limit: Int, wanted: Int, isOfNode: Bool) -> Finding {
        let whose = isOfNode ? "the node" : "a node started from here"
        let words = "\(whose) may open \(limit) files"
        guard limit < wanted else { return .pass("limits", words) }
        return .warn(
            "limits",
            "\(words); the limits for connections need \(wanted)",
            "raise LimitNOFILE in the service unit (or ulimit -n), or allow fewer connections; until then the node lowers the limits"
        )
    }

    /// Whether the node's user may use tor's control socket; root always may.
    ///
    /// - Returns: `nil`: it may, or the socket is not there, for which there is another finding.
    static func control(_ path: String, for user: NodeUser, isInstance: Bool) -> Finding? {
        guard let socket = FileFacts(path) else { return nil }
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard FileFacts(directory)?.isEnterable(by: user) == false || !socket.isWritable(by: user) else {
            return nil
        }
        return .fail(
            "tor.control", "the node's user may not use tor's control socket \(path)",
            isInstance
                ? "both units must run as the same user: systemctl cat onionbell onionbell-tor"
                : "let the node's user into tor's group (Debian: adduser onionbell debian-tor), then systemctl restart onionbell"
        )
    }

    /// Judges the clock by what tor's relays and consensus say.
    ///
    /// - Parameter now: seconds since 1970.
    static func clock(_ view: ClockView, now: Int64) -> Finding {
        let advice = OnionHealth.clockAdvice
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
        guard view.validFrom != nil, view.validUntil != nil else {
            return .warn(
                "tor.clock", "not known: tor has no view of the network yet, and no relay has said the time",
                "run this again when tor is in the network")
        }
        return .pass("tor.clock", "the clock lies in the hours for which tor's view of the network holds")
    }

    /// Judges the answer to a request for `/` that went to the onion address.
    static func rootAnswer(_ status: Int, at port: UInt16) -> Finding {
        let words = "port \(port) answers HTTP (\(status) for /"
        // No door of a node sends elsewhere, or fails at that.
        guard (200..<300).contains(status) || (400..<500).contains(status) else {
            return .warn(
                "onion.http", "\(words)), which no node says",
                "see whether another program answers in the node's place")
        }
        return .pass("onion.http", "\(words))")
    }

    /// Judges the address of a private node, which only its own tor can dial.
    static func privateAddress(_ invited: Int, isSelfDialWell: Bool) -> Finding {
        let words = "private (\(invited) authorized), so no other tor can test it"
        guard isSelfDialWell else {
            return .warn(
                "onion", "\(words), and the node has not reached it itself lately",
                "see self_dial in onionbell status, which says since when")
        }
        return .pass("onion", "\(words); the node itself has reached it lately (self_dial)")
    }

    private static func distance(_ seconds: Int) -> String {
        "\(Age.text(1000 * Int64(clamping: min(seconds.magnitude, 1 << 40)))) \(seconds > 0 ? "ahead" : "behind")"
    }

    /// Judges a certificate by its end; `end` and `now` are seconds since 1970.
    static func certificate(_ app: String, end: Int64, now: Int64) -> Finding {
        let words = CertificateAlarm.state(end: end, now: now)
        let advice = CertificateAlarm.advice(for: app)
        let check = "\(app).certificate"
        if end <= now || !CertificateAlarm.isWell(end: end, now: now) { return .fail(check, words, advice) }
        return end - now < CertificateAlarm.warning ? .warn(check, words, advice) : .pass(check, words)
    }

    /// Judges what another relay said to a notification for a device that there isn't, and how long that took with the way
    /// to it.
    static func relay(
        _ check: String, host: String, _ finding: GatewayProbe.Finding, after time: Duration,
        advice: (String) -> String?
    ) -> Finding {
        switch finding {
        case .taken(let word):
            .pass(check, "\(host) answers in \(time.inWords) (\(word) for a nonexistent device)")
        case .refused(let reason):
            .fail(check, "\(host) says \(reason)", advice(reason) ?? GatewayAdvice.article)
        case .unclear(let reason):
            .warn(
                check, "\(host) answers in \(time.inWords), but says \(reason)",
                advice(reason) ?? "the other relay has a problem of its own: try again in some minutes")
        case .untrusted(let reason):
            .fail(check, "\(host): \(reason)", GatewayAdvice.text(forTLS: reason))
        case .unreachable(let reason):
            .fail(
                check, "\(host): \(reason)",
                "if other onion addresses can be reached, the other relay is down: notifications wait until it is back; a second relay in url would serve meanwhile"
            )
        }
    }

    /// Judges what a gateway said to a request for a device that there isn't.
    ///
    /// - Parameters:
    ///   - isSecure: it is no onion service, which is called without TLS.
    ///   - advice: the service's, by its reason code.
    static func gateway(
        _ check: String, host: String, isSecure: Bool = true, _ finding: GatewayProbe.Finding,
        advice: (String) -> String?
    ) -> [Finding] {
        let tls = "\(check).tls"
        let credentials = "\(check).credentials"
        let connected = Finding.pass(
            tls,
            isSecure
                ? "the certificate of \(host) is valid" : "\(host) was reached; its address proves who it is")
        return switch finding {
        case .taken(let word):
            [connected, .pass(credentials, "accepted by \(host) (\(word) for a nonexistent device)")]
        case .refused(let reason):
            [
                connected,
                .fail(credentials, "\(host) says \(reason)", advice(reason) ?? GatewayAdvice.article),
            ]
        case .unclear(let reason):
            [
                connected,
                .warn(
                    credentials, "\(host) says \(reason), which says nothing about the credentials",
                    advice(reason)
                        ?? "try again in some minutes; if it stays so, a device in between may answer"),
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
