extension Delivery {
    mutating func setShelved(_ slot: Slot) { change(slot) { $0.isShelved = true } }
    mutating func setBody(_ body: Notification?, of slot: Slot) { change(slot) { $0.body = body } }

    /// The clock is doubted less, or no longer.
    mutating func settleDeadline(of slot: Slot, by now: Instant, isFinal: Bool) {
        change(slot) {
            $0.deadline = now.deadline($0.doubtedEnd, within: Validator.longestMilliseconds)
            if isFinal { $0.doubtedEnd = 0 }
        }
    }

    mutating func countAttempt(of slot: Slot) {
        change(slot) {
            $0.attempts += 1
            $0.returns = 0
        }
    }

    mutating func countReturn(of slot: Slot) { change(slot) { $0.returns += 1 } }

    /// One notification, from its submission to its end.
    struct Entry: Sendable {
        /// The outbox gives it; 0 until then.
        var sequence: Int64 = 0
        var token: Digest
        var lane: Int
        var size: Int
        /// Monotonic nanoseconds of its submission; below 0 when the machine has started since.
        var submittedAt: Int64
        /// Monotonic nanoseconds at which it expires: a wall clock that jumps ends nothing and keeps nothing.
        var deadline: Int64
        /// The time that the deadline was made of while the clock was doubted (ms since 1970); 0: it was not.
        var doubtedEnd: Int64 = 0
        var attempts = 0
        /// When the app last registered the token, in milliseconds since 1970; 0: not known, as for all from before the start.
        var registeredAt: Int64 = 0
        /// Monotonic nanoseconds before which its device gets it not, so that not all come at once; 0: at any time.
        var notBefore: Int64 = 0
        /// How often in a row the gateway gave it back unhandled.
        var returns = 0
        var isUrgent: Bool
        /// The outbox has it in its backlog, or will.
        var isShelved = false
        /// Postponed because its gateway wants the device spared, or from before the start.
        var isThrottled = false
        /// Another node sends it.
        var isElsewhere = false
        var state = State.storing
        var writing = Writing.first
        /// The number under which it went out before the outbox had given it one; 0: it didn't.
        var sentAs: Int64 = 0
        /// Monotonic nanoseconds of the last attempt.
        var sentAt: Int64 = 0
        /// The one behind it in the queue of its token.
        var next: Slot?
        /// `nil` while it is only on disk.
        var body: Notification?

        /// Whether a slot still holds what a heap of a lane says it does. What the operator has moved may lie in the same
        /// slot again, for another lane.
        func isCurrent(_ sequence: Int64, _ state: State, in lane: Int) -> Bool {
            self.sequence == sequence && self.state == state && self.lane == lane
        }

        /// Whether it is the one that was sent under this number.
        func isInFlight(_ number: Int64) -> Bool {
            state == .inFlight && (number == sequence || number == sentAs)
        }
    }
}
