import Clocks
import Encodings
import Testing
import Vectors

@testable import Relay

/// A clock that is wrong when something is accepted, and that is set: what was accepted keeps what it has left of its life.
@Suite struct SetClockTests {
    private static let hour = Duration.seconds(3600)
    private static let years = Duration.seconds(6 * 365 * 86_400)
    private static let life = Validator.longestLifetime

    /// A process whose clock is that far from what is right.
    private func node(off error: Duration, _ content: OutboxContent = OutboxContent()) -> Node {
        let node = Node()
        node.now.unix = node.now.unix + error
        node.pipeline.start(content, at: node.now, clockOffset: node.now.offset)
        _ = node.pipeline.add(Node.android)
        return node
    }

    /// A process whose clock was right when the last one ended a moment ago.
    private func confirmed(off error: Duration = .zero) -> Node {
        var content = OutboxContent()
        content.clock = ClockRecord(trusted: Sample.start.unix)
        content.lastSequence = 7
        return node(off: error, content)
    }

    private func set(_ node: Node, by step: Duration) { node.now.unix = node.now.unix + step }

    private func accept(_ node: Node) throws -> StoreRequest {
        let before = node.stores.count
        // Each for a phone of its own.
        let token = Sample.androidToken.dropLast() + "\(before)"
        #expect(node.accept(Sample.android("\(before)", token: String(token))) > 0)
        return try #require(node.stores.last)
    }

    /// What is known of the clock after the next housekeeping.
    private func record(_ node: Node) throws -> ClockRecord {
        node.pass(.seconds(15))
        node.pipeline.wake(at: node.now, clockOffset: node.now.offset)
        return try #require(
            node.take().compactMap { if case .clock(let record) = $0 { record } else { nil } }.last)
    }

    private func hear(_ node: Node, isExact: Bool = true, off error: Duration = .zero) {
        let now = node.now
        let told = ToldTime(unix: now.unix + error, monotonic: now.monotonic, isExact: isExact)
        node.pipeline.hear(told, at: now)
    }

    /// How long the gateway is told to keep what it gets next.
    private func told(_ node: Node) throws -> Duration {
        guard case .send(_, let notification) = node.next() else {
            Issue.record("nothing is sent")
            return .zero
        }
        return notification.expiresAt - node.now.unix
    }

    private func isWhole(_ life: Duration) -> Bool { life <= Self.life && life >= Self.life - .seconds(60) }

    /// A phone registers by a wrong clock, which is then set right. A gateway's word of an hour before is of the app that was
    /// there before; its word of an hour later is of this one, until it registers again.
    @Test(arguments: [years, .zero - years, .seconds(90), .seconds(-90)])
    func aRegistrationByAWrongClockIsComparedWithAGatewaysTime(off error: Duration) throws {
        let node = node(off: error)
        var submission = Sample.android("1")
        submission.registeredAt = node.pipeline.date(at: node.now)
        set(node, by: .zero - error)
        let registered = node.now.unix
        node.pass(Self.hour * 2)
        node.accept(submission)
        let before = Outcome.tokenDead(reason: "Unregistered", since: registered - Self.hour)
        #expect(node.end(try #require(node.send()), before) == [1: .refused(reason: "Unregistered")])
        submission.uid = "2"
        node.accept(submission)
        let after = Outcome.tokenDead(reason: "Unregistered", since: registered + Self.hour)
        #expect(node.end(try #require(node.send()), after) == [2: .tokenDead(reason: "Unregistered")])
        submission.uid = "3"
        guard case .answered(.ended(.tokenDead(_, let detail))) = node.submit(submission) else {
            Issue.record("it is not dead")
            return
        }
        let told = (registered + Self.hour).milliseconds
        #expect(detail == UTCTime.text(told).map { Ending.detail(deadSince: $0) })
        submission.registeredAt = node.pipeline.date(at: node.now)
        #expect(node.accept(submission) > 0)
    }

    /// A board without a battery: to Apple and Google it had no time left.
    @Test(arguments: [years, .zero - years, .seconds(90), .seconds(-90)])
    func whatWasAcceptedGoesOutWithItsLife(off error: Duration) throws {
        let node = node(off: error)
        let request = try accept(node)
        let dated = request.notification.acceptedAt
        set(node, by: .zero - error)
        _ = node.takeEffects()
        #expect(try isWhole(told(node)))
        node.pipeline.wake(at: node.now, clockOffset: node.now.offset)
        #expect(node.takeEffects().contains(.clockSet(by: .zero - error)))
        // What comes now is dated by the same clock, and has its life too.
        let next = try accept(node).notification
        #expect(next.acceptedAt - dated < .seconds(60) && next.expiresAt - next.acceptedAt == Self.life)
        #expect(try isWhole(told(node)))
    }

    /// What was accepted with the right time keeps its date, whatever the clock does afterwards and while it is wrong.
    @Test func whatCameBeforeAndWhileTheClockWasWrongKeepsItsLife() throws {
        let node = confirmed()
        _ = try accept(node)
        set(node, by: Self.years)
        #expect(try isWhole(told(node)))
        let meanwhile = try accept(node)
        #expect(meanwhile.notification.acceptedAt - Sample.start.unix < .seconds(60))
        let unsure = try record(node).unconfirmed
        #expect(unsure.map { $0.since - Sample.start.unix < .seconds(60) } == true)
        set(node, by: .zero - Self.years)
        #expect(try isWhole(told(node)))
        #expect(try record(node).unconfirmed == nil)
    }

    /// A time of the sender's own is by the clock that it and we have now.
    @Test func whatASenderWantsIsByTheClockAsItIs() throws {
        let node = node(off: .zero - Self.years)
        set(node, by: Self.years)
        var submission = Sample.android("1")
        submission.expiresAt = node.now.unix + Self.hour
        #expect(node.accept(submission) > 0)
        #expect(try told(node) == Self.hour)
        submission = Sample.android("2", token: String(Sample.androidToken.dropLast() + "2"))
        submission.expiresAt = node.now.unix - Self.hour
        #expect(node.submit(submission) == .answered(.refused(.badExpiry)))
    }

    /// The repetition memory goes by the clock of the dates: what was remembered a moment ago was called old.
    @Test func nothingIsForgottenForItsDate() throws {
        let node = node(off: .zero - Self.years)
        _ = try accept(node)
        set(node, by: Self.years)
        for _ in 0..<86_400 / 15 + 1 { _ = try record(node) }
        let late = try accept(node).notification.acceptedAt
        _ = try record(node)
        let words = node.changes.compactMap {
            if case .forget(let before, _, let latest) = $0 { (before, latest) } else { nil }
        }
        let (before, latest) = try #require(words.last)
        #expect(before > .min && before < late && latest > late)
    }

    // MARK: A restart between

    private func begun(after record: ClockRecord, off error: Duration) -> (ClockRecord, Redating?) {
        ClockRecord.begun(after: record, lastSequence: 9, at: Sample.start.unix + error)
    }

    /// It was over when the next process began, or lived on for as long as the clock had been ahead.
    @Test(arguments: [years, .zero - years, .seconds(90)])
    func datesGoWithAClockThatNobodyHasConfirmed(off error: Duration) throws {
        let (first, nothing) = ClockRecord.begun(
            after: nil, lastSequence: 0, at: Sample.start.unix + error)
        #expect(nothing == nil)
        var content = OutboxContent()
        content.clock = first
        let process = node(off: error, content)
        let date = try accept(process).notification.acceptedAt
        let (next, redating) = begun(after: try record(process), off: .zero)
        let moved = try #require(redating)
        #expect(moved.moves(date) && !moved.moves(Sample.start.unix + error - .seconds(1)))
        #expect(moved.behind == 0)
        // Fifteen seconds have passed on the first one's clock.
        #expect(moved.by == .zero - error - .seconds(15))
        // A third process knows that it is done.
        #expect(begun(after: next, off: .seconds(30)).1 == nil)
        content.clock = next
        content.redating = moved
        let second = node(off: .zero, content)
        #expect(second.takeEffects().contains(.clockSet(by: moved.by)))
    }

    /// The clock is set while the process runs, and then it ends: the next one moves the dates, whoever saw it.
    @Test func whatWasSetBeforeTheEndIsMovedToo() throws {
        var content = OutboxContent()
        content.clock =
            ClockRecord.begun(
                after: nil, lastSequence: 0, at: Sample.start.unix - Self.years
            ).0
        let process = node(off: .zero - Self.years, content)
        let date = try accept(process).notification.acceptedAt
        set(process, by: Self.years)
        let (_, redating) = ClockRecord.begun(
            after: try record(process), lastSequence: 9, at: process.now.unix)
        #expect(redating?.by == Self.years && redating?.moves(date) == true)
    }

    @Test func whatSomebodyHasConfirmedStays() throws {
        let node = node(off: .zero)
        _ = try accept(node)
        #expect(try record(node).unconfirmed != nil)
        hear(node)
        let known = try record(node)
        #expect(known.unconfirmed == nil)
        #expect(begun(after: known, off: Self.years).1 == nil)
    }

    /// Only what the process with the wrong clock accepts goes with it: those of before were dated by one that was right.
    @Test(arguments: [years, .zero - years]) func datesOfBeforeStay(off error: Duration) throws {
        let node = confirmed(off: error)
        let date = try accept(node).notification.acceptedAt
        let known = try record(node)
        let since = try #require(known.unconfirmed?.since)
        #expect(since >= Sample.start.unix && since <= date)
        #expect(known.unconfirmed?.behind == 7)
        #expect(node.pipeline.ownDates(at: node.now)?.since == since.milliseconds)
        let (_, redating) = begun(after: known, off: Self.hour)
        #expect(redating?.moves(date) == true && redating?.moves(Sample.start.unix - .seconds(1)) == false)
    }

    /// tor knows to three hours what time it is, and by what it kept from before it agrees with a clock that stood still.
    @Test func onlyWhoKnowsExactlyConfirms() {
        let node = node(off: .zero)
        hear(node, isExact: false)
        #expect(node.isClockToBeConfirmed)
        hear(node, off: Self.hour)
        #expect(node.isClockToBeConfirmed)
        hear(node)
        #expect(!node.isClockToBeConfirmed)
        #expect(node.pipeline.ownDates(at: node.now) == nil)
    }

    /// What confirms the clock as it is says nothing for what was dated before it was set.
    @Test func aClockThatWasSetConfirmsNothingOfBefore() throws {
        let node = node(off: .zero - Self.years)
        set(node, by: Self.years)
        hear(node)
        #expect(node.isClockToBeConfirmed)
        #expect(try record(node).unconfirmed != nil)
    }

    /// Other nodes write into the same store: whose clock it was is not known there.
    @Test func inASharedStoreDatesAreByTheWallClockThatWasCompared() throws {
        let node = Node(isShared: true)
        node.pipeline.start(OutboxContent(), at: node.now, clockOffset: node.now.offset)
        set(node, by: Self.years)
        #expect(node.pipeline.date(at: node.now) == node.now.unix - Self.years)
        // It was set while the others' clocks were asked for: what they say is of the one before.
        node.pipeline.divided(Share(), isOfThisClock: false, at: node.now)
        #expect(node.pipeline.date(at: node.now) == node.now.unix - Self.years)
        // Nobody else is there to ask.
        node.pipeline.divided(Share(), at: node.now)
        #expect(node.pipeline.date(at: node.now) == node.now.unix)
        #expect(!node.isClockToBeConfirmed)
    }

    /// Ten minutes were enough for all that waited to be called over.
    @Test func aClockThatIsYearsAheadIsNotBelievedAfterTenMinutes() {
        var watch = ClockWatch(offset: Self.years.milliseconds, at: 0, last: ClockRecord(trusted: 0))
        func isDoubted(after seconds: Int64) -> Bool {
            watch.look(
                offset: Self.years.milliseconds, at: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
            return watch.isDoubted
        }
        #expect(isDoubted(after: 600) && isDoubted(after: 86_399))
        #expect(!isDoubted(after: 86_400))
    }
}
