import Clocks

/// The rule by which a check may say that a thing works.
package enum Proof: Equatable, Sendable {
    /// The thing is counted or measured when the question comes: what is said of it can't be old.
    case counted(String)
    /// The last event of this kind shows that the thing works, for this time.
    case event(String, holds: Duration)
}

/// The time since the last event that has shown a thing to work.
package struct ProofAge: Equatable, Sendable {
    package var time: Duration
    /// Whether there was such an event; else the time is that since the start.
    package var hasBeen: Bool

    package init(_ time: Duration, hasBeen: Bool = true) {
        (self.time, self.hasBeen) = (time, hasBeen)
    }

    /// Makes the age of an event.
    ///
    /// - Parameters:
    ///   - last: `nil`: there was none since the start.
    ///   - start: When somebody began to look.
    package init(of last: MonotonicTime?, since start: MonotonicTime, at now: MonotonicTime) {
        self.init(max(.zero, now - (last ?? start)), hasBeen: last != nil)
    }
}

extension CheckKind {
    /// The table of proofs: what has to have been seen before a check says ok, and how long that holds. Where a setting says
    /// how often the event comes, the check is given a time that follows it.
    package var proof: Proof {
        switch self {
        case .onion: .event("sign of a circuit with an introduction point", holds: .seconds(90))
        case .selfDial: .event("answer of the node's own address", holds: .seconds(720))
        case .front: .event("answer of the address that clients use", holds: .seconds(1440))
        case .tor: .event("answer of tor", holds: .seconds(90))
        case .outbox: .event("commit", holds: .seconds(600))
        case .nodes, .database: .event("commit", holds: .seconds(30))
        case .disk: .event("answer of the file system", holds: .seconds(45))
        case .certificate(of: CheckKind.https): .event("handshake with it", holds: .seconds(7200))
        case .certificate: .counted("its end is compared with the clock; it was read together with its key")
        case .backlog: .counted("what waits is counted for each app")
        case .connections: .counted("places that are taken are counted")
        case .circuits: .counted("circuits and peers that were lost within a minute are counted")
        case .loop: .counted("the last minute is measured")
        case .pushing: .counted("the ages of what is due are looked at")
        case .lane: .counted("its gateway's state and the age of what is due are looked at")
        case .settings: .counted("the settings that are in use are compared with those that were read last")
        }
    }

    /// The name under which the certificate of the node's own listeners stands among those of apps.
    package static let https = "https"
}

extension Check {
    /// Returns the check of a thing that an event shows to work: ok while the last one holds, after that a warning, and after
    /// as long again a failure. A thing of which no event was seen yet is a warning at once.
    ///
    /// - Parameter holds: `nil`: the time in the table of proofs.
    package static func proven(
        _ kind: CheckKind, _ state: String, _ age: ProofAge, holds: Duration? = nil, advice: String? = nil
    ) -> Check {
        guard case .event(let event, let usual) = kind.proof else { return counted(kind, state) }
        let holds = holds ?? usual
        guard !age.hasBeen || age.time > holds else { return Check(ok: kind, state) }
        let since =
            age.hasBeen
            ? "not known since the last \(event), \(Words.time(age.time)) ago: \(state)"
            : "not known since the start, without \(event.first.map(isVowel) == true ? "an" : "a") \(event) yet: \(state)"
        return Check(
            kind, level: age.time > holds + holds ? .failing : .warning, state: since,
            advice: advice
                ?? "wait a moment after a start; if it lasts, see the log and run onionbell doctor. To restart the node loses nothing"
        )
    }

    /// Returns ok for a thing that was counted or measured just now.
    package static func counted(_ kind: CheckKind, _ state: String) -> Check {
        guard case .counted = kind.proof else {
            preconditionFailure("\(kind.name) needs an event that shows it")
        }
        return Check(ok: kind, state)
    }

    /// Returns the check of a thing that its owner has switched off: the node does not look at it.
    package static func off(_ kind: CheckKind) -> Check { Check(ok: kind, "off") }

    private static func isVowel(_ letter: Character) -> Bool { "aeiou".contains(letter) }
}
