/// What goes out before it is stored, and is not stored yet: see `Pipeline+AtOnce.swift`.
struct Unstored: Sendable {
    struct One: Sendable {
        let digests: SubmissionDigests
        /// `nil`: one of those that can't be told apart, who are as one here.
        let sender: SenderID?
        let patience: Patience
        let door: Int
        let reply: ReplyID
        /// What is to be told or written when the outbox has it.
        var heldReason: String?
        var notBefore: Int64?
        var ending: Ending?
    }

    /// When one has to be stored.
    struct Due: Comparable, Sendable {
        /// Monotonic nanoseconds.
        let time: Int64
        let number: Int64
        let slot: Delivery.Slot

        static func < (left: Due, right: Due) -> Bool {
            (left.time, left.number) < (right.time, right.number)
        }
    }

    private var ones = SequenceTable<One>()
    var due = Heap<Due>()
    /// Of messages and tokens.
    private var bytes = 0
    private var bytesBySender: [SenderID?: Int] = [:]
    private(set) var lastNumber = Unstored.firstNumber - 1

    /// Bytes of messages and tokens that may be out and not stored.
    static let mostBytes = 4 << 20

    /// Numbers of the outbox stay below 2^40.
    private static let firstNumber: Int64 = 1 << 48

    var isEmpty: Bool { ones.isEmpty }
    subscript(number: Int64) -> One? { ones[number] }

    /// Monotonic nanoseconds at which the next one has to be stored; it may have ended since.
    var wakeAt: Int64 { due.first?.time ?? .max }

    /// A sender may have as much as is free: alone half of it all. However much others take, what is free is as large as the
    /// share of each of them.
    func hasRoom(for size: Int, of sender: SenderID?) -> Bool {
        bytesBySender[sender, default: 0] + size <= Unstored.mostBytes - bytes
    }

    mutating func nextNumber() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ one: One, size: Int, slot: Delivery.Slot, dueAt time: Int64) {
        ones[lastNumber] = one
        bytes += size
        bytesBySender[one.sender, default: 0] += size
        due.insert(Due(time: time, number: lastNumber, slot: slot))
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

    /// The next one whose time has come, and those before it that have ended.
    mutating func takeDue(at time: Int64) -> Delivery.Slot? {
        while let first = due.first {
            guard ones[first.number] != nil else {
                _ = due.removeFirst()
                continue
            }
            guard first.time <= time else { return nil }
            return due.removeFirst().slot
        }
        return nil
    }

    func holds(_ identity: Digest) -> Bool {
        due.all.contains { ones[$0.number]?.digests.identity == identity }
    }
}

/// How long a sender that awaits the outcome may be left without a receipt.
package enum Patience: Sendable {
    /// It is stored first.
    case none
    /// ``Pipeline/shortWindow`` at most.
    case short
    /// As the operator has set.
    case full
}

/// How a notification came to be sent before it was stored, if it was.
enum Writing: Sendable {
    /// It was not: the outbox has it, or gets it before anything is sent.
    case first
    /// Nobody has it but the memory and its gateway.
    case behind
    /// The same, and it is on its way into the outbox.
    case late
    /// It won't be in the outbox, which knew its identity after all. Its gateway has it still.
    case never
}

/// Whether a lane usually answers within a time: from full trust that four misses take, and that a few good answers
/// bring back. Begins in the middle.
struct Promptness: Equatable, Sendable {
    private var points = Promptness.trusted

    private static let most = 8
    private static let trusted = 4
    private static let miss = 3

    var isUsual: Bool { points >= Promptness.trusted }

    mutating func note(isInTime: Bool) {
        points = isInTime ? min(points + 1, Promptness.most) : max(points - Promptness.miss, 0)
    }
}
