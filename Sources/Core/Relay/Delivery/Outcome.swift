import Clocks
import Encodings

/// The outcome of one attempt to hand a notification to its gateway.
package enum Outcome: Equatable, Sendable {
    /// The gateway has taken responsibility.
    case accepted
    /// The notification lies in this node's store until its device fetches it, and left the outbox with the
    /// commit that put it there. Its end comes by ``Pipeline/keptEnded(_:_:)``.
    case kept
    /// The attempt is put off. The notification is tried again with back-off, no sooner than the gateway
    /// asked.
    case deferred(Deferral)
    /// The device token is dead, since then if the gateway says when. Never retried.
    ///
    /// `detail`: the gateway's own text, for the sender only: never logged.
    case tokenDead(reason: String, since: UnixTime?, detail: String? = nil)
    /// This notification can't be delivered, ever; `reason` is the gateway's word, `kind` its meaning for senders, `detail`
    /// as above.
    case refused(reason: String, kind: FailureKind = .other, detail: String? = nil)
    /// Credentials, topic or clock: nothing of this app can be delivered until the operator has mended it.
    /// The notification is kept.
    case blocked(reason: String)

    /// Whether the gateway has decided on this notification.
    var isJudgement: Bool {
        switch self {
        case .accepted, .kept, .refused, .tokenDead: true
        case .deferred, .blocked: false
        }
    }
}

/// Why an attempt is put off, and what else waits with it.
package struct Deferral: Equatable, Sendable {
    package enum Scope: Equatable, Sendable {
        /// The deferral is of this notification, and those behind it for the same device.
        case device
        /// The deferral is of this notification, and of all of the lane once ``witnesses`` devices have
        /// failed so: its host is overloaded or away.
        case host
        /// The deferral is of all of the app, at all its hosts, once ``witnesses`` devices have failed so:
        /// what its credentials may is used up for now.
        case app
    }

    package var reason: String
    package var scope: Scope
    /// The time that the gateway asked for, counted from its answer; `nil`: as the back-off says.
    package var retryAfter: Duration?
    /// Whether the gateway surely never handled the request: the attempt doesn't count, and it may be sent again at once.
    package var isUnharmed: Bool
    /// Whether the gateway only asks to leave this one device alone for a while: the gateway works, and our requests are
    /// right.
    package var isThrottle: Bool
    /// The number of different devices that must get this answer, with none answered otherwise between them, before all
    /// others wait too.
    package var witnesses: Int
    /// The gateway's way on which the notification must go, which is not open now: it waits until the gateway tells of room
    /// there (``Pipeline/pump(_:way:room:at:)``), or for its own time. `nil`: any way will do.
    package var way: Int?

    /// The usual number of witnesses: one device's failure may be its own fault, and two devices may have the same owner.
    package static let fewWitnesses = 3

    package init(
        reason: String, scope: Scope, retryAfter: Duration? = nil, isUnharmed: Bool = false,
        isThrottle: Bool = false, witnesses: Int = Deferral.fewWitnesses, way: Int? = nil
    ) {
        self.reason = reason
        self.scope = scope
        self.retryAfter = retryAfter
        self.isUnharmed = isUnharmed
        self.isThrottle = isThrottle
        self.witnesses = witnesses
        self.way = way
    }
}
