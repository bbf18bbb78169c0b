import Processes
import Reactor
import Tor

/// Why a part of the Lab could not be set up.
package enum LabError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A failure of tor or tor-gencert.
    case tool(ToolError)
    case files(SystemError)
    case control(ControlError)
    /// Something did not come about in time.
    case timedOut(String)
    /// A tool's output or a file had not the form it should have.
    case unreadable(String)
    /// A program of Debian's.
    case missing(String, package: String)
    /// A file that comes with the programs, as a sentence.
    case notInstalled(String)

    package var description: String {
        switch self {
        case .tool(.notStarted(let error)): "\(error) (for the private Tor network: apt install tor)"
        case .tool(let error): error.description
        case .files(let error): error.description
        case .control(let error): error.description
        case .timedOut(let what): "\(what) took too long"
        case .unreadable(let what): "\(what) can't be read"
        case .notInstalled(let sentence): sentence
        case .missing(let what, let package): "\(what) is not installed: apt install \(package)"
        }
    }
}
