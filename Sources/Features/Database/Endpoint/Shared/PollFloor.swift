import Clocks
import Relay

/// The sequence number up to which a node's poll skips what other nodes have stored for it.
///
/// While somebody holds a transaction open, as a backup does, rows that are gone stay in the index until that ends, and each
/// poll would walk over all of them. So once a minute a poll is a full one, and those between skip the numbers that were
/// given before the full poll before the last: a commit takes its numbers when it begins, and ends within seconds, so that
/// the last full poll has found them. A commit that waited longer for a standby server is found by the next full one.
struct PollFloor {
    /// The number up to which the running poll skips all; 0 in a full poll.
    private(set) var floor: Int64 = 0
    /// The floor of the polls until the next full one.
    private var partialFloor: Int64 = 0
    /// The highest number that was given to a notification when the last full poll was made.
    private var highestAtFullPoll: Int64 = 0
    /// The time from which on a poll is a full one.
    private var nextFullPollAt = MonotonicTime.longAgo
    /// Whether the running poll is a full one.
    private var isFull = true

    private static let fullPollInterval = Duration.seconds(60)

    mutating func begin(at time: MonotonicTime) -> Int64 {
        isFull = time >= nextFullPollAt
        if isFull { nextFullPollAt = time + PollFloor.fullPollInterval }
        floor = isFull ? 0 : partialFloor
        return floor
    }

    /// Ends the running poll.
    ///
    /// - Parameters:
    ///   - lowestFound: The lowest number that it has found.
    ///   - highestGiven: The highest number that was given to a notification.
    mutating func end(lowestFound: Int64?, highestGiven: Int64) {
        guard isFull else { return }
        partialFloor = min(highestAtFullPoll, lowestFound.map { $0 - 1 } ?? highestAtFullPoll)
        highestAtFullPoll = highestGiven
    }
}
