import Encodings

/// A fault that the operator has to mend before a lane's gateway takes anything.
package struct LaneBlock: Equatable, Sendable {
    /// The gateway's word for the fault.
    package var reason: String
    /// The time since when the lane is blocked: monotonic nanoseconds in a ``Lane``, milliseconds since 1970 in a
    /// ``LaneRecord``.
    package var since: Int64

    package init(reason: String, since: Int64) {
        self.reason = reason
        self.since = since
    }
}
