import Clocks
import Doors
import Reactor
import Tor

/// The checks of tor and the onion service for `/healthz`.
package struct OnionHealth {
    package static let clockAdvice = "set the clock and keep it right: timedatectl set-ntp true"

    let state: OnionState
    let figures: TorFigures
    /// See ``Tor/OnionPresence/isCutOff``.
    let isCutOff: Bool
    /// The interval of the setting; zero: the own address is not called.
    let interval: Duration
    /// Milliseconds since 1970.
    let now: UnixTime
    /// See ``Tor/ClockSkew/offset``.
    let clockOffset: Int64
    /// Why tor does not reach its bridges; `nil`: nothing is known that would keep it.
    var bridgeFault: String?

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
        let isWell = state.isPublished && figures.isConnected && !isCutOff
        return ManagementDoor.Check(.onion, isWell: isWell, state: words, advice: onionAdvice)
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
        let words: String
        if interval == .zero {
            words = "off"
        } else if dial.isAnsweredByAnother {
            words = "another node answers under this address: the onion key is in use elsewhere"
        } else if let failure = dial.lastFailure {
            let calls = dial.failuresInARow == 1 ? "the last call" : "the last \(dial.failuresInARow) calls"
            words =
                "\(calls) to the node's own address failed: \(failure)"
                + (dial.lastSuccess.map { "; it answered \(age($0)) ago" } ?? "")
        } else if let success = dial.lastSuccess {
            words = "the node's own address answered \(age(success)) ago"
        } else {
            words = "the node has not called its own address yet"
        }
        return ManagementDoor.Check(
            .selfDial, isWell: !isCutOff && !dial.isAnsweredByAnother, state: words,
            advice: dial.isAnsweredByAnother
                ? "stop the other node that has a copy of this key; if it is not yours, the key is stolen: move onion-key away for a new address"
                : "the node has tor publish its address again by itself; if it lasts, run onionbell doctor")
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
        return ManagementDoor.Check(
            .front, isWell: !front.isFailing, state: words,
            advice:
                "see whether onionbalance runs, and whether its configuration names this node's own address: onionbell key show"
        )
    }

    private var tor: ManagementDoor.Check {
        var words = figures.isConnected ? "tor \(figures.version ?? "is connected")" : "not connected"
        if figures.isConnected {
            // What was known of one that is gone says nothing.
            if let bootstrap = figures.bootstrap { words += ", bootstrap \(bootstrap.progress) %" }
            if figures.isNetworkLive == false { words += ", network dead" }
            if figures.hasCircuit == false { words += ", no circuit" }
        }
        let skew = figures.clockSkew?.seconds(at: clockOffset) ?? 0
        let isClockWell = skew.magnitude <= Self.clockTolerance
        if !isClockWell {
            words += ", this machine's clock is \(skew.magnitude) s \(skew > 0 ? "ahead" : "behind")"
        }
        return ManagementDoor.Check(
            .tor, isWell: isClockWell && figures.isConnected, state: words,
            advice: isClockWell
                ? "see whether tor runs: journalctl -u onionbell, or -u onionbell-tor or tor@default where that runs it"
                : Self.clockAdvice)
    }

    private func age(_ time: UnixTime) -> String { "\(max(.zero, now - time).milliseconds / 1000) s" }
}
