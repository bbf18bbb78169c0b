/// Why the node can't run: one sentence for the operator, and the exit status of sysexits.h.
package enum NodeError: Error, CustomStringConvertible {
    /// Something has to be put right in the configuration or in a file it names.
    case configuration(String)
    /// Something outside of the configuration is missing or taken, perhaps only now.
    case unavailable(String)
    /// Asked to stop before it had started.
    case stopped
    /// The node's owner has asked for another start.
    case restarting

    package var exitStatus: Int32 {
        switch self {
        case .configuration: 78
        case .unavailable: 69
        case .stopped: 0
        case .restarting: 75
        }
    }

    package var description: String {
        switch self {
        case .configuration(let sentence), .unavailable(let sentence): sentence
        case .stopped: "stopped during the start"
        case .restarting: "the owner has asked for a restart"
        }
    }
}
