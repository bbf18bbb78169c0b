import Clocks
import Encodings

/// A fault that the operator has to mend before a lane's gateway takes anything.
package struct LaneBlock: Equatable, Sendable {
    /// The gateway's word for the fault.
    package var reason: String
    /// The time since when the lane is blocked.
    package var since: MonotonicTime
}
