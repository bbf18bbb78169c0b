import Clocks

/// Counts of one door since the start of the process. Nothing here is about one device.
package struct DoorFigures: Equatable, Sendable {
    package var stored = 0
    /// The notifications that were sent at once, and were at
    /// their end before they were stored: they never are.
    package var unstored = 0
    /// Repetitions of what was stored before.
    package var duplicates = 0
    /// Submissions for whose device there was no room.
    package var busyDevice = 0
    /// Submissions that were turned away because the node was full, its outbox failed, or it was stopping.
    package var busyNode = 0
    /// Notifications for nobody, by which somebody sees whether the way works, that were refused here.
    package var probes = 0
    /// Submissions that were refused before anything was stored, by reason word.
    package var refused = WordCounts()
    /// The time from the submission to its first receipt, whatever that says.
    package var receiptTime = Histogram()
    /// Counts of its own protocol's events beside notifications, by the words of the article `Metrics`.
    package var events = WordCounts()

    package init() {}

    /// Notifications that the node took, stored or not.
    package var accepted: Int { stored + unstored }
    package var submitted: Int { accepted + duplicates + busyDevice + busyNode + probes + refused.total }
}

/// Counts of the notifications of one lane since the start of the process.
package struct LaneFigures: Equatable, Sendable {
    package var delivered = 0
    /// The notifications that the gateway keeps until their phones fetch them.
    package var kept = 0
    package var expired = 0
    /// Refusals, by the gateway's word.
    package var refused = WordCounts()
    /// Dead tokens, by the gateway's word; those that waited for such a token with it.
    package var tokensDead = WordCounts()
    /// Notifications for nobody, by which somebody sees whether the way works, that the gateway has refused as it should.
    package var probes = 0
    /// The time of the last notification for nobody; `nil`: none yet.
    package var lastProbe: MonotonicTime?
    /// Times that a notification was handed to the gateway.
    package var attempts = 0
    /// Attempts that have to be repeated, by reason.
    package var deferred = WordCounts()
    /// The reason of the newest of them; `nil`: none yet.
    package var lastDeferral: String?
    /// The time from the submission to the gateway's yes.
    package var deliveryTime = Histogram()
    /// The time of the last delivery; `nil`: none yet.
    package var lastDelivery: MonotonicTime?
    /// The time of the gateway's last word on any notification; `nil`: none yet.
    package var lastJudgement: MonotonicTime?

    package init() {}

    package mutating func add(_ other: LaneFigures) {
        delivered += other.delivered
        kept += other.kept
        expired += other.expired
        refused.add(other.refused)
        tokensDead.add(other.tokensDead)
        probes += other.probes
        lastProbe = [lastProbe, other.lastProbe].compactMap(\.self).max()
        attempts += other.attempts
        deferred.add(other.deferred)
        lastDeferral = other.lastDeferral ?? lastDeferral
        deliveryTime.add(other.deliveryTime)
        lastDelivery = [lastDelivery, other.lastDelivery].compactMap(\.self).max()
        lastJudgement = [lastJudgement, other.lastJudgement].compactMap(\.self).max()
    }
}

/// Counts of the outbox' commits since the start of the process.
package struct CommitFigures: Equatable, Sendable {
    package var done = 0
    package var failed = 0
    /// The time from the request to the answer, of the commits that were done.
    package var time = Histogram()
    package var recent = RecentTimes()
    /// The time of the last commit that was done, by the clock that stands while the machine sleeps; `nil`: there was none since
    /// the start.
    package var last: MonotonicTime?

    package init() {}
}
