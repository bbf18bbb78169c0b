import Encodings

/// The part of a lane's state that outlives the process: a start asks nobody who has just asked to be left in peace. Times
/// are milliseconds since 1970.
package struct LaneRecord: Equatable, Sendable {
    /// A ``LaneBlock`` as it is written down.
    package struct Block: Equatable, Sendable {
        package var reason: String
        package var since: Int64

        package init(reason: String, since: Int64) {
            self.reason = reason
            self.since = since
        }
    }

    /// The time when the record was written.
    package var writtenAt: Int64
    /// The time since when the lane has not been open.
    package var pausedAt: Int64
    /// The time before which the lane sends nothing.
    package var pausedUntil: Int64
    /// The time before which the lane's gateway wants nothing.
    package var askedUntil: Int64
    /// Pauses in a row without an answer between them.
    package var failures: Int
    /// The fault that the operator has to mend; `nil`: there is none.
    package var block: Block?

    package init(
        writtenAt: Int64, pausedAt: Int64, pausedUntil: Int64, askedUntil: Int64, failures: Int,
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
