import Clocks

@testable import Relay

/// A wall clock that is set, and one that is wrong.
extension World {
    func pass(_ time: Duration) {
        now.monotonic = now.monotonic + time
        now.unix = now.unix + time
        if now.monotonic >= rightAt { putClockRight() }
        lived += time.milliseconds
        latestTruth = max(latestTruth, truth)
        if draw(4) > 0 { wake() }
    }

    func putClockRight() {
        now.unix.milliseconds -= clockError
        clockError = 0
        rightAt = .max
    }

    /// A process begins with a clock that is wrong by an hour to forty days, and somebody puts it right before the node
    /// would believe it. Only where the last process knew what time it was can the next one know better.
    func startWithWrongClock() {
        let last = outbox.clock?.trusted.milliseconds ?? 0
        guard hasFaults, draw(3) == 0, (0..<ClockWatch.far - 60_000).contains(truth - last) else { return }
        clockError = (3_600_000 + Int64(draw(40 * 86_400)) * 1000) * (draw(3) == 0 ? -1 : 1)
        now.unix.milliseconds += clockError
        rightAt = now.monotonic + .seconds(draw(600))
    }

    /// The wall clock is set, by up to forty days: not while the node doubts it, since what others tell it moves along.
    func jump() {
        guard clockError == 0, !pipeline.isClockDoubted else { return }
        now.unix.milliseconds +=
            Int64(draw(2) == 0 ? draw(7_200_000) : draw(40) * 86_400_000) * (draw(2) == 0 ? 1 : -1)
    }

    func noteSubmission(_ identity: Digest) {
        submittedAt[identity, default: [:]][pipeline.date(at: now).milliseconds] = (truth, lived)
    }

    /// The steps of the clock that are none, one at each start, and one that is told to a gateway.
    var clockSlack: Duration { .milliseconds(ClockWatch.step * Int64(crashes + 2)) }

    /// What a gateway gets is what was stored, and by the clock as it is now it has what it has left to live.
    func checkDates(_ sequence: Int64, _ told: Notification) {
        guard let stored = outbox.rows[sequence]?.notification,
            told.later(by: stored.acceptedAt - told.acceptedAt) == stored
        else { return fail("sent is not what was stored") }
        guard let entry = books.waiting[sequence], entry.deadline < .max, isNeverTold else { return }
        let life = told.expiresAt - now.unix
        let left = entry.deadline - now.monotonic
        if life + clockSlack < left {
            fail("\(sequence) goes out with \(life.milliseconds) of its \(left.milliseconds) ms to live")
        }
        if life > told.expiresAt - told.acceptedAt + clockSlack + overMoved {
            fail("\(sequence) goes out with \(life.milliseconds) ms to live, more than it ever had")
        }
    }

    /// A push service tells the time to the second, tor to about three hours.
    func hearTheTime() {
        guard !isNeverTold else { return }
        let age = Int64(draw(2) == 0 ? draw(1000) : draw(10_800_000))
        let told = canary == .asksItsOwnClock ? now.unix.milliseconds : truth - age
        pipeline.hear(
            ToldTime(
                unix: UnixTime(milliseconds: told), monotonic: now.monotonic, isExact: age <= 1000), at: now)
        carryOut()
    }

    /// What is forgotten because it is old is old.
    func checkLapsed() {
        for identity in outbox.lapsed {
            guard let stored = storedAt.removeValue(forKey: identity) else { continue }
            let age = max(latestTruth - stored.truth, lived - stored.lived)
            if age < World.memory.identities.milliseconds { fail("an identity is forgotten after \(age) ms") }
        }
        outbox.lapsed = []
    }
}
