/// The senders whose notifications went to an alias. Each phone of the alias has an outcome of its own; the sender hears one.
///
/// It is stored when one phone's is, delivered when the first phone has it, and dead only when all phones are.
struct AliasSenders: Sendable {
    struct News: Sendable {
        enum Word: Equatable, Sendable {
            case receipt(Receipt, isLast: Bool)
            case nothingMore
        }

        let sender: ReplyID
        let words: [Word]
    }

    /// The state of the phones of one notification.
    struct Group: Sendable {
        private enum Phone: Sendable {
            /// The commit has not ended.
            case unanswered
            case stored
            case held(reason: String)
            /// The notification is kept until it is fetched, which may be long.
            case kept
            case busy(Busy)
            case ended(Ending)
            /// The end goes to other senders.
            case lost
        }

        let awaitsOutcome: Bool
        private var phones: [Phone] = []
        private var hasReportedStored = false
        private var hasReportedHeld = false
        private var hasReportedKept = false

        init(awaitsOutcome: Bool) { self.awaitsOutcome = awaitsOutcome }

        /// Adds a phone whose answer is there at once.
        mutating func add(_ receipt: Receipt) {
            phones.append(.unanswered)
            note(receipt, of: phones.count - 1)
        }

        /// Adds a phone without an answer, and returns its place.
        mutating func addUnanswered() -> Int {
            phones.append(.unanswered)
            return phones.count - 1
        }

        mutating func note(_ receipt: Receipt, of place: Int) {
            phones[place] =
                switch receipt {
                case .stored: .stored
                case .kept: .kept
                case .held(let reason): .held(reason: reason)
                case .busy(let busy): .busy(busy)
                case .ended(let ending): .ended(ending)
                }
        }

        mutating func lose(_ place: Int) { phones[place] = .lost }

        /// Returns the news for the sender after a change at one place.
        mutating func words(afterChangeAt place: Int) -> [News.Word] {
            if case .ended(.delivered) = phones[place] {
                return [.receipt(.ended(.delivered), isLast: true)]
            }
            var live = 0
            var heldReason: String?
            var held = 0
            var kept = 0
            var lost = 0
            for phone in phones {
                switch phone {
                // The others come with the same commit.
                case .unanswered: return []
                case .stored: live += 1
                case .held(let reason):
                    live += 1
                    held += 1
                    heldReason = heldReason ?? reason
                case .kept:
                    live += 1
                    kept += 1
                case .lost: lost += 1
                case .busy, .ended: break
                }
            }
            guard live > 0 else { return lost > 0 ? [.nothingMore] : [.receipt(verdict, isLast: true)] }
            var words: [News.Word] = []
            if !hasReportedStored {
                hasReportedStored = true
                words.append(.receipt(.stored, isLast: !awaitsOutcome))
            }
            var isNews = !hasReportedHeld
            if case .held = phones[place] { isNews = true }
            if awaitsOutcome, held == live, isNews, let heldReason {
                hasReportedHeld = true
                words.append(.receipt(.held(reason: heldReason), isLast: false))
            }
            // None of the others may have it at once.
            if awaitsOutcome, kept > 0, kept + held == live, !hasReportedKept {
                hasReportedKept = true
                words.append(.receipt(.kept, isLast: false))
            }
            return words
        }

        /// The receipt when nothing waits any more: the best that became of one, and dead only if all are.
        var verdict: Receipt {
            var best: Receipt?
            for phone in phones {
                switch phone {
                case .ended(.delivered): return .ended(.delivered)
                case .busy(let busy): best = .busy(busy)
                case .ended(.tokenDead(let reason, let detail)):
                    if best == nil { best = .ended(.tokenDead(reason: reason, detail: detail)) }
                case .ended(let ending):
                    if case .busy? = best { continue }
                    best = .ended(ending)
                case .unanswered, .stored, .held, .kept, .lost: break
                }
            }
            return best ?? .refused(.internal)
        }
    }

    /// A sender whose phones are not all at their end, under a number that is never used again: its id is, while the
    /// other phones of its notification still wait.
    private var groups: [UInt64: (sender: ReplyID, group: Group)] = [:]
    /// The group to which a notification belongs, and its place there, until its last receipt.
    private var members: [ReplyID: (group: UInt64, place: Int)] = [:]
    private var lastGroup: UInt64 = 0

    var isEmpty: Bool { members.isEmpty }

    mutating func add(
        _ group: Group, of sender: ReplyID, waitingFor notifications: [(reply: ReplyID, place: Int)]
    ) {
        lastGroup += 1
        groups[lastGroup] = (sender, group)
        for notification in notifications { members[notification.reply] = (lastGroup, notification.place) }
    }

    /// Returns the news for a sender when one of its notifications, or the only one, has a receipt; `nil`: nothing yet.
    mutating func note(_ receipt: Receipt, from reply: ReplyID, isLast: Bool) -> News? {
        guard let member = members[reply] else {
            return News(sender: reply, words: [.receipt(receipt, isLast: isLast)])
        }
        if isLast { members[reply] = nil }
        return news(of: member) { $0.note(receipt, of: member.place) }
    }

    /// Notes that nothing more is heard of a notification, and returns the news for its sender.
    mutating func drop(_ reply: ReplyID) -> News? {
        guard let member = members.removeValue(forKey: reply) else {
            return News(sender: reply, words: [.nothingMore])
        }
        return news(of: member) { $0.lose(member.place) }
    }

    private mutating func news(
        of member: (group: UInt64, place: Int), after change: (inout Group) -> Void
    ) -> News? {
        // Without a group its sender has heard the last.
        guard let (sender, before) = groups[member.group] else { return nil }
        var group = before
        change(&group)
        let words = group.words(afterChangeAt: member.place)
        let isOver =
            switch words.last {
            case .receipt(_, let isLast): isLast
            case .nothingMore: true
            case nil: false
            }
        groups[member.group] = isOver ? nil : (sender, group)
        return words.isEmpty ? nil : News(sender: sender, words: words)
    }
}
