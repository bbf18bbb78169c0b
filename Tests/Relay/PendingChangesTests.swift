import Clocks
import Testing

@testable import Relay

@Suite struct PendingChangesTests {
    private static let store = OutboxChange.store(
        StoreRequest(
            notification: Notification(
                id: NotificationID(high: 1, low: 2), lane: LaneID(app: "android", host: .production),
                deviceToken: DeviceToken(Sample.androidToken), message: Sample.message, isUrgent: false,
                hasSound: false,
                isMutableContent: false, isContentAvailable: false, expiresAt: 1, acceptedAt: 0),
            digests: SubmissionDigests(
                token: Sample.digest("t"), identity: Sample.digest("i"), content: Sample.digest("c"))))
    private static let bury = OutboxChange.buryToken(
        Sample.digest("t"), DeadToken(since: 5, buriedAt: 6))

    private func postpone(_ sequence: Int64, _ attempts: Int) -> OutboxChange {
        .postpone(sequence: sequence, attempts: attempts, notBefore: 0)
    }

    @Test func changesAreTakenOnceAndInTheirOrder() {
        var changes = PendingChanges()
        #expect(changes.isEmpty)
        changes.append(postpone(1, 1))
        changes.append(.finish(sequence: 1, .delivered))
        #expect(!changes.isEmpty)
        #expect(changes.take() == [postpone(1, 1), .finish(sequence: 1, .delivered)])
        #expect(changes.isEmpty)
        #expect(changes.take() == [])
    }

    @Test func whatACommitDidNotSaveGoesFirstIntoTheNextButForItsSubmissions() {
        var changes = PendingChanges()
        changes.append(.finish(sequence: 3, .expired))
        changes.putBack([.finish(sequence: 1, .delivered), Self.store, Self.bury])
        #expect(
            changes.take() == [.finish(sequence: 1, .delivered), Self.bury, .finish(sequence: 3, .expired)])
    }

    @Test func submissionsThatCameSinceStayInTheirPlace() {
        var changes = PendingChanges()
        changes.append(Self.store)
        changes.append(Self.bury)
        changes.putBack([.finish(sequence: 1, .delivered)])
        #expect(changes.take() == [.finish(sequence: 1, .delivered), Self.store, Self.bury])
    }

    @Test func aLongOutageKeepsNoMoreThanCounts() {
        var changes = PendingChanges()
        for round in 1...100 {
            changes.append(postpone(1, round))
            changes.append(postpone(2, round))
            changes.append(
                .forget(
                    acceptedBefore: UnixTime(milliseconds: Int64(round)),
                    buriedBefore: UnixTime(milliseconds: Int64(round))))
            changes.putBack(changes.take())
        }
        changes.append(.finish(sequence: 2, .expired))
        changes.putBack(changes.take())
        #expect(
            changes.take() == [
                .forget(acceptedBefore: 100, buriedBefore: 100), postpone(1, 100),
                .finish(sequence: 2, .expired),
            ])
    }

    /// A clock that was set ahead meanwhile makes what it accepts later than anything that a word of before knows.
    @Test func whatIsOverIsSaidBeforeWhatCameSince() {
        var changes = PendingChanges()
        let digests = SubmissionDigests(
            token: Sample.digest("t"), identity: Sample.digest("j"), content: Sample.digest("c"))
        changes.append(Self.bury)
        changes.append(.forget(acceptedBefore: 1, buriedBefore: 1, latest: 100))
        changes.remember(digests, acceptedAt: 900)
        changes.prepend([Self.store])
        #expect(
            changes.take() == [
                .forget(acceptedBefore: 1, buriedBefore: 1, latest: 100),
                .remember(digests, acceptedAt: 900), Self.store, Self.bury,
            ])
    }

    @Test func theLastWordAboutWhatIsOverCounts() {
        var changes = PendingChanges()
        let word = OutboxChange.forget(acceptedBefore: .min, buriedBefore: .min)
        changes.append(.forget(acceptedBefore: 1, buriedBefore: 1, latest: 100))
        let failed = changes.take()
        changes.append(word)
        changes.putBack(failed)
        #expect(!changes.isEmpty && changes.take() == [word])
        changes.putBack([word])
        #expect(!changes.isEmpty && changes.take() == [word])
        #expect(changes.isEmpty)
    }

    /// A repetition can be stored before the end of its first in one commit, or in the commit that ran meanwhile.
    @Test func anEndIsToldUntilTheCommitThatHoldsItIsOver() {
        var changes = PendingChanges()
        changes.append(.finish(sequence: 1, .delivered))
        #expect(changes.ending(of: 1) == .delivered)
        _ = changes.take()
        #expect(changes.ending(of: 1) == .delivered)
        _ = changes.take()
        #expect(changes.ending(of: 1) == nil)
    }
}
