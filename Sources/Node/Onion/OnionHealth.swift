import Clocks
import Doors
import Overview
import Reactor
import Tor

/// The checks of tor and the onion service for `/healthz`.
package struct OnionHealth {
    package static let clockAdvice = "set the clock and keep it right: timedatectl set-ntp true"

    let state: OnionState
    let figures: TorFigures
    /// See ``Tor/OnionPresence/isCutOff``.
    let isCutOff: Bool
    let times: Times
    /// The node's start and the moment of the question, by the clock that stands while the machine sleeps.
    let begun: MonotonicTime
    let instant: MonotonicTime
    /// Milliseconds since 1970.
    let now: UnixTime
    /// See ``Tor/ClockSkew/offset``.
    let clockOffset: Int64
    /// Why tor does not reach its bridges; `nil`: nothing is known that would keep it.
    var bridgeFault: String?

    /// The settings that say how often something is to be seen.
    struct Times {
        /// The interval between calls; zero: the own address is not called.
        var interval: Duration
        /// The time that a call may take.
        var call: Duration
        /// The time that tor may take for an upload.
        var upload: Duration
        /// The time between two questions to tor.
        var heartbeat: Duration

        /// How long an answer of the own address holds: two calls may fail before the third has to be late.
        var callHolds: Duration { interval * 2 + call * 2 + .seconds(60) }
    }

    /// Seconds by which the clock may be wrong: tor's own limits are far wider, Apple's and Google's are not.
    private static let clockTolerance = 60

    var checks: [ManagementDoor.Check] { [onion, selfDial, front, tor].compactMap(\.self) }

    private var onion: ManagementDoor.Check {
        var words = state.description
        if state.isPublished {
            words += ", \(figures.introductionPoints) introduction points"
            if let client = figures.lastClient { words += ", last client \(age(client)) ago" }
        }
        if !state.isPublished, let bridgeFault { words += "; \(bridgeFault)" }
        // The state follows a lost connection a moment later.
        guard state.isPublished, figures.isConnected, !isCutOff else {
            return ManagementDoor.Check(.onion, level: .failing, state: words, advice: onionAdvice)
        }
        return .proven(
            .onion, words, age(ofEvent: figures.lastSign), holds: times.upload / 2,
            advice:
                "tor has no circuit or no introduction point, so nobody may reach the node: see whether this machine's network is up, and tor's log; if it lasts, run onionbell doctor"
        )
    }

    private func age(ofEvent last: MonotonicTime?) -> ProofAge {
        ProofAge(of: last, since: begun, at: instant)
    }

    private var onionAdvice: String {
        if !state.isPublished, bridgeFault != nil {
            return
                "do what is said of the bridges, then restart the node; onionbell check-config finds it as well"
        }
        return switch state {
        case .connecting, .bootstrapping, .publishing:
            "this takes a minute or two after a start; if it lasts, check the clock and whether a firewall blocks tor"
        case .lost: "the node repairs this by itself; if it lasts, run onionbell doctor"
        case .published:
            "tor is being started or reached again; if it lasts, see its log and run onionbell doctor"
        case .stopped: "the node is stopping: systemctl start onionbell starts it"
        }
    }

    private var selfDial: ManagementDoor.Check {
        let dial = figures.selfDial
        if times.interval == .zero { return .off(.selfDial) }
        if dial.isAnsweredByAnother {
            return ManagementDoor.Check(
                .selfDial, level: .failing,
                state: "another node answers under this address: the onion key is in use elsewhere",
                advice:
                    "stop the other node that has a copy of this key (an old machine, a restored copy), and wait for the next call; if there is none of yours, the key is stolen: with onion-key in another folder the next start makes a new address, which all senders have to be told"
            )
        }
        if dial.hasNoWay, !isCutOff {
            return ManagementDoor.Check(
                .selfDial, level: .warning,
                state: "the node can't call its own address: tor accepts no SOCKS connections",
                advice:
                    "let tor have a SocksPort, or name one in tor.socks: without it nobody notices when the address can't be reached; onion.self_dial_interval: 0 says that nobody shall"
            )
        }
        let words: String
        if let failure = dial.lastFailure {
            let calls = dial.failuresInARow == 1 ? "the last call" : "the last \(dial.failuresInARow) calls"
            words =
                "\(calls) to the node's own address failed: \(failure)"
                + (dial.lastSuccess.map { "; it answered \(age($0)) ago" } ?? "")
        } else if let success = dial.lastSuccess {
            words = "the node's own address answered \(age(success)) ago"
        } else {
            words = "the node has not called its own address yet"
        }
        let advice = "the node has tor publish its address again by itself; if it lasts, run onionbell doctor"
        guard !isCutOff else {
            return ManagementDoor.Check(.selfDial, level: .failing, state: words, advice: advice)
        }
        return .proven(
            .selfDial, words, age(ofEvent: dial.lastSuccessInstant), holds: times.callHolds, advice: advice)
    }

    /// The check of the address that clients use; `nil`: they use the node's own.
    private var front: ManagementDoor.Check? {
        guard let front = figures.selfDial.front else { return nil }
        var words = "the address that clients use has not answered yet"
        if let failure = front.lastFailure {
            let calls = front.failuresInARow == 1 ? "the last call" : "the last \(front.failuresInARow) calls"
            words = "\(calls) to the address that clients use failed: \(failure)"
            if let success = front.lastSuccess { words += "; it answered \(age(success)) ago" }
        } else if let success = front.lastSuccess {
            words = "the address that clients use answered \(age(success)) ago"
        }
        let advice =
            "see whether onionbalance runs, and whether its configuration names this node's own address: onionbell key show"
        guard !front.isFailing else {
            return ManagementDoor.Check(.front, level: .failing, state: words, advice: advice)
        }
        return .proven(
            .front, words, age(ofEvent: front.lastSuccessInstant), holds: times.callHolds * 2, advice: advice)
    }

    private var tor: ManagementDoor.Check {
        var words =
            figures.isConnected
            ? figures.version.map { "tor \($0)" } ?? "tor is connected" : "not connected"
        if figures.isConnected {
            // What was known of one that is gone says nothing.
            if let bootstrap = figures.bootstrap { words += ", bootstrap \(bootstrap.progress) %" }
            if figures.isNetworkLive == false { words += ", network dead" }
            if figures.hasCircuit == false { words += ", no circuit" }
        }
        let skew = figures.clockSkew?.seconds(at: clockOffset) ?? 0
        let isClockWell = skew.magnitude <= Self.clockTolerance
        if !isClockWell {
            words +=
                skew > 0
                ? ", this machine's clock is \(skew.magnitude) s ahead"
                : ", this machine's clock is \(skew.magnitude) s behind"
        }
        let advice =
            "see whether tor runs: journalctl -u onionbell, or -u onionbell-tor or tor@default where that runs it"
        guard isClockWell, figures.isConnected else {
            return ManagementDoor.Check(
                .tor, level: .failing, state: words, advice: isClockWell ? advice : Self.clockAdvice)
        }
        guard figures.hasCircuit != false, figures.isNetworkLive != false else {
            return ManagementDoor.Check(
                .tor, level: .warning, state: words,
                advice:
                    "see whether this machine's network is up, and tor's log: without a circuit nobody reaches the node"
            )
        }
        return .proven(
            .tor, words, age(ofEvent: figures.lastAnswer), holds: times.heartbeat * 3 + .seconds(30),
            advice: advice)
    }

    private func age(_ time: UnixTime) -> String { "\(max(.zero, now - time).milliseconds / 1000) s" }
}

extension OnionHealth.Times {
    init(_ settings: Settings) {
        self.init(
            interval: settings.onion.selfDial.interval, call: settings.onion.selfDial.timeout,
            upload: settings.onion.uploadTimeout, heartbeat: settings.tor.heartbeat)
    }
}
