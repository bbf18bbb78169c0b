import Clocks

/// Notifications that wait for one of their gateway's ways, because no other will do (``Deferral/way``). The gateway gets
/// other notifications meanwhile.
extension Delivery {
    /// Lets a notification wait until its way is open, but no longer than until `due`.
    mutating func putOff(_ slot: Slot, forWay way: Int, until due: MonotonicTime) {
        let lane = entries[slot].lane
        var all = lanes[lane].wayfarers
        if all.count >= Lane.mostWayfarers {
            all = all.filter { head(of: $0.token, putOffUntil: $0.due) != nil }
        }
        all.append(Lane.Wayfarer(way: way, token: entries[slot].token, due: due))
        withLane(lane) { $0.wayfarers = all }
        postpone(slot, until: due, isThrottled: false)
    }

    /// Takes the notifications that wait for a way, or for any if `way` is `nil`, in the order in which they came to wait.
    ///
    /// - Parameter most: How many to take. The others go on waiting.
    mutating func takeWayfarers(in lane: Int, for way: Int?, upTo most: Int = .max) -> [Slot] {
        guard !lanes[lane].wayfarers.isEmpty else { return [] }
        var taken: [Slot] = []
        let left = lanes[lane].wayfarers.filter { one in
            guard let slot = head(of: one.token, putOffUntil: one.due) else { return false }
            guard taken.count < most, way == nil || one.way == way else { return true }
            taken.append(slot)
            return false
        }
        withLane(lane) { $0.wayfarers = left }
        return taken
    }
}

extension Lane {
    /// A device whose next notification waits for a way of the lane's gateway.
    struct Wayfarer: Sendable {
        let way: Int
        let token: Digest
        /// The time at which the notification is tried again in any case.
        let due: MonotonicTime
    }

    /// The number of wayfarers from which on the list is cleared of entries that wait no longer.
    static let mostWayfarers = 4096
}

extension Pipeline {
    /// Sends the notifications that wait for a way of a lane's gateway, also while the lane pauses: a pause holds up only
    /// notifications that may go by any way.
    ///
    /// - Parameters:
    ///   - way: The way, by the number that its notifications were put off with: see ``Deferral/way``.
    ///   - room: How many the way takes now.
    /// - Returns: Whether more wait for it, and could be sent. One that is sent need not take the way: the gateway decides anew.
    package mutating func pump(_ lane: Int, way: Int, room: Int, at now: Instant) -> Bool {
        guard !delivery.lanes[lane].wayfarers.isEmpty, maySend(in: lane, at: now) else { return false }
        var room = room
        while room > 0, let slot = delivery.takeWayfarers(in: lane, for: way, upTo: 1).first {
            guard let step = begin(slot, in: lane, at: now) else {
                // Too many bodies are in memory: it comes back as one that any pump sends.
                delivery.makeReady(slot)
                continue
            }
            guard case .send(let handle, let notification) = step else { continue }
            effects.append(.send(handle, notification, lane: lane))
            room -= 1
        }
        return delivery.lanes[lane].wayfarers.contains { $0.way == way }
    }

    /// Tries at once what a lane's gateway has put off for all of the lane: another of its ways takes it. What one device
    /// alone waits for holds.
    package mutating func tryAnew(_ lane: Int, at now: Instant) {
        let heads = delivery.lanes[lane].suspended.compactMap {
            delivery.head(of: $0.token, putOffUntil: $0.due)
        }
        _ = retryNow(heads: heads, at: now)
        resume(delivery.lanes[lane].id, at: now)
    }

    /// Lets a notification that could not be sent wait for its way, counted as an attempt. No other of its device waits for
    /// longer than it does, nor does it after a start.
    mutating func putOff(_ slot: Int, forWay way: Int, _ delay: Duration, at now: Instant) {
        delivery.countAttempt(of: slot)
        delivery.putOff(slot, forWay: way, until: now.monotonic + delay)
        writeDown(slot, notBefore: 0, sparesBody: false)
    }
}
