import Clocks
import Encodings

/// The part of a lane's state that is kept on disk. After a restart the node goes on waiting where a gateway has asked it to
/// wait.
package struct LaneRecord: Equatable, Sendable {
    /// A ``LaneBlock`` as it is written down.
    package struct Block: Equatable, Sendable {
        package var reason: String
        package var since: UnixTime

        package init(reason: String, since: UnixTime) {
            self.reason = reason
            self.since = since
        }
    }

    /// The time when the record was written.
    package var writtenAt: UnixTime
    /// The time since when the lane has not been open.
    package var pausedAt: UnixTime
    /// The time before which the lane sends nothing.
    package var pausedUntil: UnixTime
    /// The time before which the lane's gateway wants nothing.
    package var askedUntil: UnixTime
    /// Pauses in a row without an answer between them.
    package var failures: Int
    /// The fault that the operator has to mend; `nil`: there is none.
    package var block: Block?

    package init(
        writtenAt: UnixTime, pausedAt: UnixTime, pausedUntil: UnixTime, askedUntil: UnixTime, failures: Int,
        block: Block? = nil
    ) {
        self.writtenAt = writtenAt
        self.pausedAt = pausedAt
        self.pausedUntil = pausedUntil
        self.askedUntil = askedUntil
        self.failures = failures
        self.block = block
    }
}
