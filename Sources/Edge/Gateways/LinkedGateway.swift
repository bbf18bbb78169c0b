import Figures
import Outbound
import Reactor
import Relay

/// A gateway whose service takes one HTTP request for each notification at one host: what its folder adds are requests,
/// credentials and the meaning of answers.
@EventLoop
protocol LinkedGateway: Gateway {
    var link: GatewayLink { get }

    /// Words for refused device tokens that, in bulk, mean a wrong configuration.
    static var suspicious: [String] { get }

    /// The device token of no phone at the gateway's service.
    static var nobody: DeviceToken { get }

    /// Returns the meaning of an answer to a notification, which was sent under the credential of that generation.
    func verdict(
        _ answer: GatewayAnswer, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Verdict

    /// Called when the service says that the credential of that generation is over, for all that bears it.
    ///
    /// - Returns: `false` when no other credential helps: the operator must look.
    func renewCredential(_ generation: Int) -> Bool

    /// Called when the service wants the credential changed less often.
    func keepCredential()
}

extension LinkedGateway {
    package var onCapacity: (@EventLoop () -> Void)? {
        get { link.onRoom }
        set { link.onRoom = newValue }
    }

    package func noteBacklog() { link.noteBacklog() }
    package func retryNow() { link.retryNow() }
    package var timeTold: ToldTime? { link.date?.time }

    func renewCredential(_ generation: Int) -> Bool { false }
    func keepCredential() {}

    /// Returns the outcome of a notification.
    func outcome(
        of end: ExchangeEnd, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Outcome {
        switch end {
        case .unharmed(let reason):
            let outcome = link.unharmed(reason)
            return connection.isOutdated ? outcome.ofOtherCredentials : outcome
        case .unclear(let reason): return link.unclear(reason)
        case .answered(let answer):
            link.date = answer.date.map { AnswerDate($0) }
            var verdict = verdict(answer, over: connection, generation, notification)
            // Nearly all are. Of the others the verdict is copied.
            if case .accepted = verdict.outcome {
                link.noteAcceptance(of: notification)
                return .accepted
            }
            if connection.isOutdated { verdict.outcome = verdict.outcome.ofOtherCredentials }
            return settle(verdict, over: connection, generation, notification)
        }
    }

    private func settle(
        _ verdict: Verdict, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Outcome {
        let isOfNobody = notification.deviceToken == Self.nobody
        link.judge(verdict, of: notification, suspicious: isOfNobody ? [] : Self.suspicious)
        // That token can't die: it is to be refused each time anew.
        if isOfNobody, case .tokenDead(let reason, _, _) = verdict.outcome {
            return .refused(reason: reason)
        }
        switch verdict.consequence {
        case .none, .ownFault: break
        case .reconnect: connection.drain()
        case .keepCredential:
            keepCredential()
            // Nothing is let through on it for a while.
            connection.drain()
        case .renewCredential:
            guard !renewCredential(generation), case .deferred(let deferral) = verdict.outcome else {
                break
            }
            link.note(fault: deferral.reason)
            return .blocked(reason: deferral.reason)
        }
        return verdict.outcome
    }
}

extension Outcome {
    /// The outcome of a notification whose connection still had the replaced credentials: a refusal of these says nothing
    /// about the present ones, so the notification is sent again.
    fileprivate var ofOtherCredentials: Outcome {
        guard case .blocked(let reason) = self else { return self }
        return .deferred(Deferral(reason: reason, scope: .device, isUnharmed: true))
    }
}
