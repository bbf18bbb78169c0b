import Clocks
import Relay

/// Limits how many requests a second are answered, in five shares: for readers with a token, for those who know a mailbox's
/// address or an open topic, for pushes to topics of apps, for publishers, and for everybody else.
///
/// No share takes from another. One reader, one mailbox, all topics of one reader, or one publisher, get at most an eighth of
/// their share.
struct MailboxShares {
    enum Owner: Hashable, Sendable {
        /// A reader, by its token.
        case reader(Digest)
        case mailbox(Int64)
        /// The topics of the reader of this token.
        case topics(of: Digest)
        /// A publisher, by its token.
        case publisher(Digest)
        /// A client without a token, address or topic that is known here.
        case stranger

        fileprivate var kind: Int {
            switch self {
            case .reader: 0
            case .mailbox: 1
            case .topics: 2
            case .publisher: 3
            case .stranger: 4
            }
        }
    }

    private let all: Rate
    /// The uses of the shares, by the kinds of their owners.
    private var used = [Rate.Use](repeating: Rate.Use(), count: 5)
    private var own: Rates<Owner>

    /// Makes the five shares.
    ///
    /// - Parameter rate: Requests a second of each share, on average; as many may come at once.
    init(rate: Int) {
        all = Rate(perSecond: Double(rate), burst: rate)
        let part = max(1, rate / 8)
        own = Rates(Rate(perSecond: Double(part), burst: part), most: .max)
    }

    /// Counts a request, if there is a place for it in its owner's share.
    mutating func take(by owner: Owner, at now: MonotonicTime) -> Bool {
        guard owner == .stranger || own.delay(for: owner, at: now) == .zero,
            all.take(from: &used[owner.kind], at: now) == .zero
        else { return false }
        return owner == .stranger || own.take(by: owner, at: now) == .zero
    }

    /// Forgets the owners that are as good as new: there are never more than the readers, mailboxes, topics
    /// and publishers.
    mutating func clean(at now: MonotonicTime) { own.clean(at: now) }
}
