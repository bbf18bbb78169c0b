import Clocks
import Encodings

/// The wishes of gateways and the states of lanes. They are written down with the commits of what they are about.
extension Pipeline {
    /// Notes that the gateway wants nothing for this device for a time.
    ///
    /// - Parameter asked: The time that it asked for; zero: it asked for none.
    mutating func note(wish asked: Duration, of slot: Int, at now: Instant) {
        guard asked > .zero else { return }
        let entry = delivery.entries[slot]
        let until = now.monotonic + asked
        let lane = delivery.lanes[entry.lane].id
        guard delivery.wishes.add(entry.token, of: lane, until: until) else { return }
        commits.append(
            .spare(
                DeviceWish(
                    token: entry.token, lane: lane, since: wallClock.steadyTime(at: now),
                    until: wallClock.steadyTime(ofMonotonic: until))))
    }

    /// Writes down the state of a lane, which has changed.
    mutating func writeDown(lane: Int, at now: Instant) {
        let record = delivery.lanes[lane].record(at: now.monotonic) {
            wallClock.steadyTime(ofMonotonic: $0)
        }
        guard record != nil || delivery.lanes[lane].isRecorded else { return }
        delivery.withLane(lane) { $0.isRecorded = record != nil }
        commits.note(delivery.lanes[lane].id, record)
    }

    /// Lets go of the wishes and lane records that are over.
    mutating func endWishes(at now: Instant) {
        // Not by their time on disk: that may be of a clock that has been set since.
        let over = delivery.wishes.endThose(until: now.monotonic)
        if !over.isEmpty { commits.append(.forgetWishes(over)) }
        for lane in delivery.lanes.indices
        where delivery.lanes[lane].isRecordOnly(at: now.monotonic) {
            forgetRecord(of: lane)
            delivery.tidyLane(lane)
        }
    }

    mutating func forgetRecord(of lane: Int) {
        guard delivery.lanes[lane].isRecorded else { return }
        delivery.withLane(lane) { $0.isRecorded = false }
        commits.note(delivery.lanes[lane].id, nil)
    }

    // MARK: At the start

    /// Returns the rest of a time that was asked for. However the wall clock was
    /// set, it is no longer than what was asked for then.
    private func rest(until end: UnixTime, since: UnixTime, at now: Instant) -> Duration {
        let longest = end.milliseconds.subtractingReportingOverflow(since.milliseconds)
        guard !longest.overflow else { return .zero }
        let rest = end.milliseconds.subtractingReportingOverflow(
            wallClock.lateTime(at: now).milliseconds)
        return policy.obeyed(
            .milliseconds(min(longest.partialValue, rest.overflow ? .max : rest.partialValue)))
    }

    mutating func restore(_ wishes: [DeviceWish], at now: Instant) {
        var left: [Digest] = []
        for wish in wishes {
            let rest = rest(until: wish.until, since: wish.since, at: now)
            let until = now.monotonic + rest
            if rest == .zero || !delivery.wishes.add(wish.token, of: wish.lane, until: until) {
                left.append(wish.token)
            }
        }
        if !left.isEmpty { commits.append(.forgetWishes(left)) }
    }

    mutating func restore(_ records: [LaneID: LaneRecord], at now: Instant) {
        let time = now.monotonic
        let steady = wallClock.steadyTime(at: now)
        let sorted = records.sorted { ($0.key.app, $0.key.host.name) < ($1.key.app, $1.key.host.name) }
        for (id, record) in sorted {
            let lane = lane(id)
            let paused = rest(until: record.pausedUntil, since: record.writtenAt, at: now)
            let asked = rest(until: record.askedUntil, since: record.writtenAt, at: now)
            func monotonic(_ past: UnixTime) -> MonotonicTime {
                let age = steady.milliseconds.subtractingReportingOverflow(past.milliseconds)
                return time - .milliseconds(min(max(0, age.overflow ? 0 : age.partialValue), 1 << 40))
            }
            let pausedAt = monotonic(record.pausedAt)
            let block = record.block.map { LaneBlock(reason: $0.reason, since: monotonic($0.since)) }
            delivery.withLane(lane) {
                $0.restore(
                    record, pausedUntil: time + paused, askedUntil: time + asked,
                    pausedAt: pausedAt, block: block, at: time)
            }
            if let block { effects.append(.blocked(lane: lane, reason: block.reason)) }
        }
    }
}

extension Lane {
    /// Returns the record of the lane's state; `nil`: it is that of a new lane.
    fileprivate func record(at time: MonotonicTime, steadyTime: (MonotonicTime) -> UnixTime) -> LaneRecord? {
        guard block != nil || failures > 0 || pause.askedUntil > time else { return nil }
        var pausedUntil = pause.askedUntil
        if case .paused(let until) = condition { pausedUntil = until }
        return LaneRecord(
            writtenAt: steadyTime(time), pausedAt: steadyTime(pause.beganAt),
            pausedUntil: steadyTime(pausedUntil), askedUntil: steadyTime(pause.askedUntil),
            failures: failures,
            block: block.map { LaneRecord.Block(reason: $0.reason, since: steadyTime($0.since)) })
    }

    /// Whether the lane exists only for its record, and the time is over for which its gateway wanted nothing.
    fileprivate func isRecordOnly(at time: MonotonicTime) -> Bool {
        guard isRecorded, !stage.isGone, !stage.hasGateway, isEmpty, !isLoading else { return false }
        return pause.askedUntil <= time
    }

    /// Restores the lane as it stood when the last process ended.
    ///
    /// A fault that the operator had to mend may be the reason for the start: our own pause for it is not kept.
    fileprivate mutating func restore(
        _ record: LaneRecord, pausedUntil: MonotonicTime, askedUntil: MonotonicTime, pausedAt: MonotonicTime,
        block: LaneBlock?,
        at time: MonotonicTime
    ) {
        restore(
            until: block == nil ? pausedUntil : askedUntil, asked: askedUntil,
            pausedAt: pausedAt, failures: max(0, record.failures), block: block, at: time)
        isRecorded = true
    }
}
