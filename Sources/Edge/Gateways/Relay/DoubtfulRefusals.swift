import Clocks
import Relay

/// Refusals without a reason: Bisq's relay answers 400 for a dead device and for trouble of its own alike.
///
/// Notifications that are refused so are tried again. When the relay takes what is for other devices meanwhile, it is the
/// device; without that sign it is believed after a day.
struct DoubtfulRefusals: Sendable {
    enum Decision: Equatable {
        case again(after: Duration)
        case believed
    }

    /// The least number of tries. They are longer apart than Bisq's relay spares a failing gateway.
    static let tries = 4
    static let pauses = Backoff(first: .seconds(75), longest: .seconds(900))
    static let patience: Duration = .seconds(86400)
    /// The most notifications. With more the oldest is forgotten, and begins anew.
    static let most = 4096

    private struct Entry {
        var count = 0
        let since: MonotonicTime
        let accepted: Int
    }

    private var entries: [NotificationID: Entry] = [:]
    /// Oldest first, with those that have ended meanwhile.
    private var order: ArraySlice<NotificationID> = []
    private var accepted = 0

    mutating func accepted(_ id: NotificationID) {
        accepted += 1
        forget(id)
    }

    mutating func forget(_ id: NotificationID) { entries[id] = nil }

    mutating func refused(_ id: NotificationID, at time: MonotonicTime) -> Decision {
        if entries[id] == nil { add(id, at: time) }
        guard var entry = entries[id] else { return .believed }
        entry.count += 1
        let isTheDevice =
            accepted > entry.accepted || time - entry.since >= DoubtfulRefusals.patience
        guard entry.count < DoubtfulRefusals.tries || !isTheDevice else {
            forget(id)
            return .believed
        }
        entries[id] = entry
        return .again(after: DoubtfulRefusals.pauses.bound(doubled: entry.count - 1))
    }

    private mutating func add(_ id: NotificationID, at time: MonotonicTime) {
        if order.count >= DoubtfulRefusals.most {
            order = order.filter { entries[$0] != nil }
            if order.count >= DoubtfulRefusals.most { entries[order.removeFirst()] = nil }
        }
        entries[id] = Entry(since: time, accepted: accepted)
        order.append(id)
    }
}
