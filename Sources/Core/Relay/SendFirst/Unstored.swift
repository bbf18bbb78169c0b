import Clocks

/// The notifications that went out before they were stored, and are not stored yet: see `Pipeline+SendFirst.swift`.
struct Unstored: Sendable {
    struct One: Sendable {
        let digests: SubmissionDigests
        /// The sender; `nil`: all that have no identity count as one here.
        let sender: SenderID?
        let patience: Patience
        let door: Int
        let reply: ReplyID
        var meanwhile = Meanwhile.nothing
    }

    /// The result of an attempt that its sender hears of, or that is written down, once the outbox has the
    /// notification.
    enum Meanwhile: Sendable {
        case nothing
        /// The operator has to mend something first, for a reason, or the notification is put off until a time,
        /// or both.
        case held(reason: String?, notBefore: UnixTime?)
        case ended(Ending)

        /// Whether the gateway has taken responsibility.
        var isDelivered: Bool { if case .ended(.delivered) = self { true } else { false } }

        /// Adds a reason or a time to those that are known.
        mutating func hold(reason: String?, notBefore: UnixTime?) {
            switch self {
            case .nothing: self = .held(reason: reason, notBefore: notBefore)
            case .held(let earlier, let before):
                self = .held(reason: reason ?? earlier, notBefore: notBefore ?? before)
            case .ended: break
            }
        }
    }

    /// A notification that has to be stored, and when.
    struct Due: Sendable {
        let time: MonotonicTime
        let number: Int64
        let slot: Delivery.Slot
    }

    /// The notifications that have to be stored, in the order in which they came. All of one patience wait
    /// equally long, so that the first is due first.
    struct Queues: Sendable {
        fileprivate var short: ArraySlice<Due> = []
        fileprivate var full: ArraySlice<Due> = []
    }

    private var ones = SequenceTable<One>()
    var due = Queues()
    /// Bytes of messages and tokens.
    private var bytes = 0
    private var bytesBySender: [SenderID?: Int] = [:]
    private(set) var lastNumber = Unstored.firstNumber - 1

    /// Bytes of messages and tokens that may be out and not stored.
    static let mostBytes = 4 << 20

    /// Numbers of the outbox stay below 2^40.
    private static let firstNumber: Int64 = 1 << 48

    var isEmpty: Bool { ones.isEmpty }
    subscript(number: Int64) -> One? { ones[number] }

    /// The time at which the next one has to be stored; it may have ended since.
    var wakeAt: MonotonicTime { min(due.short.first?.time ?? .max, due.full.first?.time ?? .max) }

    /// Whether a sender may have `size` bytes more. It may have as much as is free: alone half of it all.
    /// However much others take, what is free is as large as the share of each of them.
    func hasRoom(for size: Int, of sender: SenderID?) -> Bool {
        bytesBySender[sender, default: 0] + size <= Unstored.mostBytes - bytes
    }

    mutating func nextNumber() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ one: One, size: Int, slot: Delivery.Slot, dueAt time: MonotonicTime) {
        ones[lastNumber] = one
        bytes += size
        bytesBySender[one.sender, default: 0] += size
        let due = Due(time: time, number: lastNumber, slot: slot)
        if one.patience == .short { self.due.short.append(due) } else { self.due.full.append(due) }
    }

    mutating func remove(_ number: Int64, size: Int) -> One {
        guard let one = ones.removeValue(forKey: number) else {
            preconditionFailure("\(number) is stored, or has ended")
        }
        bytes -= size
        let others = bytesBySender[one.sender, default: 0] - size
        bytesBySender[one.sender] = others > 0 ? others : nil
        return one
    }

    mutating func change(_ number: Int64, _ change: (inout One) -> Void) {
        guard var one = ones[number] else { preconditionFailure("\(number) is stored, or has ended") }
        change(&one)
        ones[number] = one
    }

    /// Takes the next notification whose time has come, and removes those before it that have ended.
    mutating func takeDue(at time: MonotonicTime) -> Delivery.Slot? {
        Unstored.takeDue(of: &due.short, ones, at: time) ?? Unstored.takeDue(of: &due.full, ones, at: time)
    }

    private static func takeDue(
        of queue: inout ArraySlice<Due>, _ ones: SequenceTable<One>, at time: MonotonicTime
    ) -> Delivery.Slot? {
        while let first = queue.first {
            let isOut = ones[first.number] != nil
            guard !isOut || first.time <= time else { return nil }
            queue.removeFirst()
            if isOut { return first.slot }
        }
        queue = []
        return nil
    }

    func holds(_ identity: Digest) -> Bool {
        [due.short, due.full].joined().contains { ones[$0.number]?.digests.identity == identity }
    }
}

/// How long a sender that awaits the outcome may be left without a receipt.
package enum Patience: Sendable {
    /// The sender is answered only after the commit.
    case none
    /// ``Pipeline/shortWindow`` at most.
    case short
    /// The time that the operator has set.
    case full
}

/// How a notification came to be sent before it was stored, if it was.
enum Writing: Sendable {
    /// The notification was not sent before: the outbox has it, or gets it before anything is sent.
    case first
    /// The notification is nowhere but in memory and at its gateway.
    case behind
    /// The notification is nowhere but in memory and at its gateway, and is on its way into the outbox.
    case late
    /// The notification won't be in the outbox, which knew its identity after all. Its gateway has it still.
    case never
}

/// Whether a lane's gateway usually answers within the operator's time, and within ``Pipeline/shortWindow``.
struct LanePromptness: Sendable {
    private var full = Promptness()
    private var short = Promptness()

    func isUsual(_ patience: Patience) -> Bool { patience == .short ? short.isUsual : full.isUsual }

    /// Notes that the window is over, and that there was no answer.
    mutating func missed(_ patience: Patience) {
        if patience == .short { short.note(isInTime: false) } else { full.note(isInTime: false) }
    }

    /// Notes that the gateway has judged a notification after this time.
    mutating func answered(after time: Duration, within window: Duration) {
        full.note(isInTime: time <= window)
        short.note(isInTime: time <= min(window, Pipeline.shortWindow))
    }
}

/// Whether answers usually come within a time: from full trust that four misses take, and that a few good answers
/// bring back. Begins in the middle.
private struct Promptness {
    private var points = Promptness.trusted

    private static let most = 8
    private static let trusted = 4
    private static let miss = 3

    var isUsual: Bool { points >= Promptness.trusted }

    mutating func note(isInTime: Bool) {
        points = isInTime ? min(points + 1, Promptness.most) : max(points - Promptness.miss, 0)
    }
}
