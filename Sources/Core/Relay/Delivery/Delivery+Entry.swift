import Clocks

extension Delivery {
    mutating func setShelved(_ slot: Slot) { change(slot) { $0.whereabouts = .backlog } }
    mutating func setBody(_ body: Notification?, of slot: Slot) { change(slot) { $0.body = body } }

    /// Computes anew a deadline that was set while the clock was doubted. Called when the clock is doubted less, or no
    /// longer.
    mutating func settleDeadline(of slot: Slot, by now: Instant, isFinal: Bool) {
        guard let end = entries[slot].doubtedEnd else { return }
        change(slot) {
            $0.deadline = now.deadline(end, within: Validator.longestMilliseconds)
            if isFinal { $0.doubtedEnd = nil }
        }
    }

    mutating func countAttempt(of slot: Slot) {
        change(slot) {
            $0.attempts += 1
            $0.returns = 0
        }
    }

    mutating func countReturn(of slot: Slot) { change(slot) { $0.returns += 1 } }

    /// The notifications of one device, in their order.
    struct Queue: Sendable {
        var head: Slot
        var tail: Slot
        /// The time before which nothing goes to this device; 0: at any time. Forgotten with the queue: what
        /// a gateway has asked for is in ``wishes``.
        var notBefore: MonotonicTime
    }

    /// One notification, from its submission to its end.
    struct Entry: Sendable {
        /// The outbox gives it; 0 until then, since an optional makes each entry larger by 8 bytes.
        var sequence: Int64 = 0
        var token: Digest
        var lane: Int
        var size: Int
        /// The time of its submission; below 0 when the machine has started since.
        var submittedAt: MonotonicTime
        /// The time of a clock that nobody sets at which the notification expires. So a jump of the wall clock neither ends
        /// the notification early nor keeps it longer.
        var deadline: MonotonicTime
        var attempts = 0
        /// The time when the app last registered the token; 0: not known, as for
        /// all from before the start.
        var registeredAt: UnixTime = 0
        /// The time before which it is not sent, so that not all come at once; 0: at any time.
        var notBefore: MonotonicTime = 0
        /// How often in a row the gateway gave it back unhandled.
        var returns = 0
        /// The time that the deadline was made of while the clock was doubted; `nil`: it was not.
        /// The flags behind it share its last word: elsewhere an optional makes each entry larger.
        var doubtedEnd: UnixTime?
        var isUrgent: Bool
        /// The edge's number of the door where it came in.
        var door = Entry.noDoor
        var whereabouts = Whereabouts.window
        var state = State.storing
        var writing = Writing.first
        /// The notification behind this one in the queue of its token.
        var next: Slot?
        /// The notification; `nil` while it is only on disk.
        var body: Notification?

        static let size = MemoryLayout<Entry>.stride

        /// The number of no door: the notification came to another process, or to another node.
        static let noDoor = UInt8.max

        /// Whether a slot still holds what the heap `ready` of a lane says it does. What the operator has moved may lie in
        /// the same slot again, for another lane.
        func isReady(_ sequence: Int64, in lane: Int) -> Bool {
            guard case .ready = state else { return false }
            return self.sequence == sequence && self.lane == lane
        }

        /// Whether the slot still holds what the heap `postponed` of a lane says it does.
        func isPostponed(_ sequence: Int64, in lane: Int) -> Bool {
            state.isPostponed && self.sequence == sequence && self.lane == lane
        }
    }

    /// The memory, backlog or node in which a notification waits, or will when it is stored.
    enum Whereabouts: Equatable, Sendable {
        /// The notification is in memory, and in the outbox beside its backlog.
        case window
        /// The outbox has the notification in its backlog.
        case backlog
        /// Another node sends the notification.
        case elsewhere
    }

    /// The stage of a notification on its way.
    enum State: Equatable, Sendable {
        /// The outbox has not answered for it yet.
        case storing
        /// The notification is behind others of its token.
        case queued
        /// The notification is in its lane's heap of those that may go now.
        case ready
        /// The notification is put off, until the time that the queue of its token has.
        ///
        /// - isThrottled: Its gateway wants the device spared, or it is from before the start.
        case postponed(isThrottled: Bool)
        /// The body is being read from disk.
        case loading
        /// The gateway has the notification.
        ///
        /// - since: The time at which it was sent.
        /// - number: The number under which it was sent. The outbox may give it another one meanwhile.
        case inFlight(since: MonotonicTime, number: Int64)
        /// The end is on the way into the outbox.
        case ended
        /// The slot holds nothing.
        case free

        var isPostponed: Bool {
            if case .postponed = self { true } else { false }
        }

        var isInFlight: Bool {
            if case .inFlight = self { true } else { false }
        }
    }
}
