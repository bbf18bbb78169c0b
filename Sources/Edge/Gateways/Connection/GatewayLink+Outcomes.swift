import Clocks
import Figures
import Logging
import Reactor
import Relay

/// The outcomes of requests.
extension GatewayLink {
    /// The outcome of what was sent while there is no connection: the operator's fault, or it comes back
    /// unharmed.
    var outcomeWithoutRoom: Outcome {
        fault.map { .blocked(reason: $0) }
            ?? .deferred(Deferral(.noConnection, scope: .device, isUnharmed: true))
    }

    /// Returns the outcome of a request that was surely not handled; a word in a GOAWAY may name what the
    /// operator must mend.
    func unharmed(_ reason: ExchangeReason) -> Outcome {
        if case .word(let word) = reason, isFault(word) { return .blocked(reason: word) }
        return .deferred(Deferral(reason: reason.text, scope: .device, isUnharmed: true))
    }

    /// Returns the outcome of a request that may have been handled: to be sent again under the same ids.
    func unclear(_ reason: ExchangeReason) -> Outcome {
        if reason == .own(.answerTimeout) { noteTimeout() }
        return .deferred(Deferral(reason: reason.text, scope: .device))
    }

    /// Notes what the gateway asks for, whichever device it is for.
    func note(wish deferral: Deferral) {
        guard let seconds = wished.asked(deferral, at: EventLoop.now) else { return }
        log.notice(
            "gateway.wants_a_pause",
            metadata: ["host": "\(name)", "reason": "\(deferral.reason)", "seconds": "\(seconds)"])
    }

    /// Notes that the gateway takes notifications.
    func noteAccepted() { wished.accepted() }

    /// Notes that a request had no answer in time.
    func noteTimeout() { counted.timeouts += 1 }

    /// Keeps the figures and alarms that depend on what became of a notification.
    ///
    /// - Parameter suspicious: Words for refused device tokens that, in bulk, mean a wrong configuration.
    func judge(_ verdict: Verdict, of notification: Notification, suspicious: [String]) {
        switch verdict.outcome {
        case .accepted, .kept: noteAcceptance(of: notification)
        case .refused(let reason, _, _):
            mended()
            if suspicious.contains(reason) { suspect(reason, of: notification) }
            if verdict.consequence == .ownFault {
                counted.ownFaults.add(reason)
                log.error("gateway.bad_request", metadata: ["reason": "\(reason)"])
            }
        case .tokenDead(let reason, _, _):
            mended()
            if suspicious.contains(reason) { suspect(reason, of: notification) }
        // Of one notification: whether it is the gateway's, its lane finds out.
        case .blocked: break
        case .deferred(let deferral): note(wish: deferral)
        }
    }

    /// Notes that the service has taken a notification.
    func noteAcceptance(of notification: Notification) {
        noteAccepted()
        refusedDevices.accepted(notification.deviceToken)
        counted.hasAccepted = true
        counted.refusedTokensInARow = 0
        mended()
    }

    private func suspect(_ reason: String, of notification: Notification) {
        refusedDevices.refused(notification.deviceToken, from: notification.sender)
        guard counted.refusedTokensInARow != refusedDevices.inARow else { return }
        counted.refusedTokensInARow = refusedDevices.inARow
        guard counted.refusedTokensInARow == GatewayFigures.suspiciousRefusals else { return }
        log.error(
            "gateway.tokens_refused",
            metadata: [
                "host": "\(name)", "reason": "\(reason)",
                "advice": "many device tokens refused in a row: check host, topic and project",
            ])
    }
}
