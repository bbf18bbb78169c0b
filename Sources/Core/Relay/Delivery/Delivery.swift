import Clocks
import Encodings

/// The life of every notification from its commit to its end: the next one to send, the meaning of an attempt's outcome, and
/// the order in which notifications wait.
///
/// Pure: facts in, decisions out. A notification is `storing`, then it stands in the queue of its device token. The head
/// of a token's queue is `ready` in its lane, `postponed` until a time, `inFlight`, or `ended` and on its way into the
/// outbox; those behind it wait for their turn, so the order per token is kept whatever fails. A lane (one app at one
/// host) is open, or pauses as a whole. After a pause a few notifications go ahead and try before the others follow; if
/// they fail, others are next.
struct Delivery: Sendable {
    /// Index of a notification in ``entries``. Reused after its end.
    typealias Slot = Int

    private(set) var entries: [Entry] = []
    private var free: [Slot] = []
    private var queues: [Digest: Queue] = [:]
    private(set) var lanes: [Lane] = []
    /// Indices in ``lanes`` that are free, since their lane has gone.
    private var freeLanes: [Int] = []
    /// The index of each lane in ``lanes``; empty while the lanes are so few that a search through all is cheaper.
    private var laneIndex: [LaneID: Int] = [:]
    private(set) var stirred: [Int] = []
    private(set) var slots = SequenceTable<Slot>()
    var wishes = Wishes()

    private static let fewLanes = 16

    // MARK: Lanes

    func lane(_ id: LaneID) -> Int? {
        guard lanes.count <= Delivery.fewLanes else { return laneIndex[id] }
        // A handful, as a rule: one for each app at each of its hosts. To a closure each would be copied.
        for index in lanes.indices where lanes[index].id == id && !lanes[index].stage.isGone { return index }
        return nil
    }

    /// Lanes that are there.
    var laneCount: Int { lanes.count - freeLanes.count }

    mutating func makeLane(_ lane: Lane) -> Int {
        let id = lane.id
        let index: Int
        if let free = freeLanes.popLast() {
            lanes[free] = lane
            index = free
        } else {
            lanes.append(lane)
            index = lanes.count - 1
            if lanes.count == Delivery.fewLanes + 1 {
                for (index, lane) in lanes.enumerated() where !lane.stage.isGone {
                    laneIndex[lane.id] = index
                }
            }
        }
        if lanes.count > Delivery.fewLanes { laneIndex[id] = index }
        return index
    }

    /// Removes a lane with neither gateway nor notifications, which makes room for another lane.
    mutating func tidyLane(_ lane: Int) {
        guard lanes[lane].isVacant else { return }
        laneIndex[lanes[lane].id] = nil
        lanes[lane].vacate()
        freeLanes.append(lane)
    }

    /// Marks a lane: something of it may be due now.
    mutating func stir(_ lane: Int) {
        guard !lanes[lane].isStirred, lanes[lane].stage.hasGateway else { return }
        lanes[lane].isStirred = true
        stirred.append(lane)
    }

    mutating func takeStirred(_ taken: inout [Int]) {
        swap(&taken, &stirred)
        for lane in taken { lanes[lane].isStirred = false }
    }

    // MARK: Entering

    mutating func insert(_ entry: Entry) -> Slot {
        let slot: Slot
        if let reused = free.popLast() {
            entries[reused] = entry
            slot = reused
        } else {
            entries.append(entry)
            slot = entries.count - 1
        }
        lanes[entry.lane].count += 1
        lanes[entry.lane].storing += 1
        lanes[entry.lane].idleSince = nil
        return slot
    }

    /// Gives a notification the number that the outbox has for it.
    mutating func number(_ slot: Slot, _ sequence: Int64) {
        entries[slot].sequence = sequence
        slots[sequence] = slot
    }

    mutating func change(_ slot: Slot, _ change: (inout Entry) -> Void) { change(&entries[slot]) }

    /// Puts a stored notification behind the others of its token.
    ///
    /// - Parameter notBefore: The time before which it is not sent; 0: at any time.
    mutating func enqueue(_ slot: Slot, notBefore: MonotonicTime = 0) {
        let token = entries[slot].token
        entries[slot].state = .queued
        lanes[entries[slot].lane].storing -= 1
        if let tail = queues[token]?.tail {
            entries[tail].next = slot
            queues[token]?.tail = slot
        } else {
            queues[token] = Queue(head: slot, tail: slot, notBefore: 0)
            var notBefore = max(notBefore, entries[slot].notBefore)
            if !wishes.isEmpty { notBefore = max(notBefore, wishes.until(token)) }
            if notBefore > 0 {
                postpone(slot, until: notBefore, isThrottled: true)
            } else {
                makeReady(slot)
            }
        }
    }

    mutating func makeReady(_ slot: Slot) {
        entries[slot].state = .ready
        let entry = entries[slot]
        tidy(entry.lane)
        lanes[entry.lane].addReady(slot, sequence: entry.sequence, isUrgent: entry.isUrgent)
        stir(entry.lane)
    }

    /// Notes that the gateway has judged a notification. Those that had failed before are as good as all
    /// others: an outage that is over makes nobody wait.
    mutating func answered(_ slot: Slot, at time: MonotonicTime) {
        let (lane, token) = (entries[slot].lane, entries[slot].token)
        if lanes[lane].answered(token, at: time) { release(lane, at: time) }
    }

    /// Resumes a lane, and what has failed in it, at once: the operator has mended something.
    mutating func resume(_ lane: Int, at time: MonotonicTime) {
        lanes[lane].resume(at: time)
        release(lane, at: time)
        for slot in takeWayfarers(in: lane, for: nil) { makeReady(slot) }
        stir(lane)
    }

    /// Suspends a notification by itself, and those behind it, until `due` or until the lane is known to
    /// work, and in any case until the gateway wants it.
    mutating func suspend(_ slot: Slot, until due: MonotonicTime, asked: MonotonicTime) {
        let lane = entries[slot].lane
        if lanes[lane].suspended.count >= Suspicion<Digest>.most {
            lanes[lane].suspended = lanes[lane].suspended.filter {
                head(of: $0.token, putOffUntil: $0.due) != nil
            }
        }
        lanes[lane].suspended.append(Lane.Suspended(token: entries[slot].token, due: due, asked: asked))
        postpone(slot, until: due, isThrottled: false)
    }

    /// Retries a notification now, whatever was asked for its device: the operator wants it.
    mutating func retryNow(_ slot: Slot) {
        let token = entries[slot].token
        wishes.end(token)
        queues[token]?.notBefore = 0
        makeReady(slot)
    }

    private mutating func release(_ lane: Int, at time: MonotonicTime) {
        let suspended = lanes[lane].suspended
        lanes[lane].suspended = []
        for one in suspended {
            guard let head = head(of: one.token, putOffUntil: one.due) else { continue }
            if one.asked > time {
                postpone(head, until: one.asked, isThrottled: false)
            } else {
                makeReady(head)
            }
        }
    }

    /// Returns the first notification of a device that was put off until a time: the one that failed, or the next one if that
    /// has ended unsent. `nil`: the device has been tried again since, or has nothing waiting.
    func head(of token: Digest, putOffUntil due: MonotonicTime) -> Slot? {
        guard let queue = queues[token], queue.notBefore == due, entries[queue.head].state.isPostponed
        else { return nil }
        return queue.head
    }

    /// Postpones a notification and all behind it until that time.
    mutating func postpone(_ slot: Slot, until time: MonotonicTime, isThrottled: Bool) {
        let entry = entries[slot]
        entries[slot].state = .postponed(isThrottled: isThrottled)
        queues[entry.token]?.notBefore = time
        tidy(entry.lane)
        lanes[entry.lane].postponed.insert(Lane.Postponed(due: time, sequence: entry.sequence, slot: slot))
        stir(entry.lane)
    }

    /// Removes from a lane's heaps the entries that left unsent, once there are too many. They stay there until they come
    /// to the top: a lane that is paused for days would gather without end what expires meanwhile.
    private mutating func tidy(_ lane: Int) {
        let entries = entries
        let bound = 2 * entries.count + 64
        if lanes[lane].ready.count > bound {
            lanes[lane].ready.keep { entries[$0.slot].isReady($0.sequence, in: lane) }
        }
        if lanes[lane].postponed.count > bound {
            lanes[lane].postponed.keep { entries[$0.slot].isPostponed($0.sequence, in: lane) }
        }
    }

    /// Gives a notification back: it is sent again as soon as its lane is open.
    mutating func giveBack(_ slot: Slot) { makeReady(slot) }

    // MARK: Leaving

    /// Takes a notification out of the books; the next one of its token becomes ready.
    mutating func remove(_ slot: Slot) {
        if entries[slot].sequence != 0 { slots[entries[slot].sequence] = nil }
        lanes[entries[slot].lane].count -= 1
        if entries[slot].state == .storing {
            lanes[entries[slot].lane].storing -= 1
        } else {
            unlink(slot)
        }
        entries[slot].state = .free
        entries[slot].body = nil
        entries[slot].next = nil
        free.append(slot)
        tidyLane(entries[slot].lane)
    }

    private mutating func unlink(_ slot: Slot) {
        let token = entries[slot].token
        guard var queue = queues[token] else { return }
        if queue.head == slot {
            guard let next = entries[slot].next else {
                queues[token] = nil
                return
            }
            queue.head = next
            queues[token] = queue
            // The gateway asked to spare the device, not this notification.
            if case .postponed(let isThrottled) = entries[slot].state {
                postpone(
                    next, until: max(queue.notBefore, entries[next].notBefore), isThrottled: isThrottled)
            } else if entries[next].notBefore > 0 {
                postpone(next, until: entries[next].notBefore, isThrottled: true)
            } else {
                makeReady(next)
            }
            return
        }
        var before = queue.head
        while let next = entries[before].next, next != slot { before = next }
        entries[before].next = entries[slot].next
        if queue.tail == slot {
            queue.tail = before
            queues[token] = queue
        }
    }

    /// Gives back the room of what has gone, if nearly all has. Called from time to time.
    mutating func giveBackRoom() {
        queues.giveBackRoom()
        slots.giveBackRoom()
        guard SpareRoom.isMuch(entries.capacity, for: count, of: Entry.size) else { return }
        for lane in lanes.indices {
            lanes[lane].ready.keep { [entries] in entries[$0.slot].isReady($0.sequence, in: lane) }
            forgetPostponed(in: lane)
        }
        while entries.last?.state == .free { entries.removeLast() }
        // The lowest comes first, so that what is at the end goes soon too.
        free = entries.indices.reversed().filter { entries[$0].state == .free }
        entries.giveBackRoom()
    }

    /// Notifications in memory.
    var count: Int { entries.count - free.count }

    /// Returns the first notification of a token's queue.
    func first(of token: Digest) -> Slot? { queues[token]?.head }

    func notBefore(of token: Digest) -> MonotonicTime { queues[token]?.notBefore ?? 0 }

    /// Removes from a lane the entries that left it unsent. The outbox may hand them out anew under their numbers, and
    /// they must not be taken for what they were before.
    mutating func forgetPostponed(in lane: Int) {
        let entries = entries
        lanes[lane].postponed.keep { entries[$0.slot].isPostponed($0.sequence, in: lane) }
    }

    /// Returns the notifications of a token, in order, that wait: neither in flight nor ended.
    func waiting(of token: Digest) -> [Slot] {
        var found: [Slot] = []
        var slot = queues[token]?.head
        while let current = slot {
            if !entries[current].state.isInFlight, entries[current].state != .ended { found.append(current) }
            slot = entries[current].next
        }
        return found
    }

    // MARK: Sending

    /// Takes the next notification of a lane, with or without its body; `nil` when none is due.
    mutating func takeNext(lane: Int, at time: MonotonicTime) -> Slot? {
        readyThoseDue(in: lane, at: time)
        while !lanes[lane].ready.isEmpty {
            let candidate = lanes[lane].ready.removeFirst()
            if entries[candidate.slot].isReady(candidate.sequence, in: lane) {
                return candidate.slot
            }
        }
        return nil
    }

    mutating func readyThoseDue(in lane: Int, at time: MonotonicTime) {
        while let first = lanes[lane].postponed.first, first.due <= time {
            let due = lanes[lane].postponed.removeFirst()
            if isCurrent(due, in: lane) { makeReady(due.slot) }
        }
    }

    /// Returns the time when the next postponed one of a lane is due.
    mutating func nextDue(lane: Int) -> MonotonicTime? {
        while let first = lanes[lane].postponed.first {
            if isCurrent(first, in: lane) { return first.due }
            _ = lanes[lane].postponed.removeFirst()
        }
        return nil
    }

    /// Whether a notification is still put off to the same time: it may have been put off anew since.
    private func isCurrent(_ postponed: Lane.Postponed, in lane: Int) -> Bool {
        let entry = entries[postponed.slot]
        return entry.isPostponed(postponed.sequence, in: lane)
            && queues[entry.token]?.notBefore == postponed.due
    }

    mutating func setState(_ state: State, of slot: Slot) { entries[slot].state = state }
    mutating func withLane<Result>(_ lane: Int, _ body: (inout Lane) -> Result) -> Result {
        body(&lanes[lane])
    }
}
