import Logging
import Processes
import Reactor

/// The program that this process becomes at a restart in place: the one that lies where this one was started from, with the
/// same options and environment. It has the same process id, and is handed what must not break.
struct Successor: Sendable {
    /// The name under which the text of the settings with which this node works is handed on.
    private static let settingsName = "settings"
    private static let longestSettings = 1 << 20

    let configuration: String
    /// The environment that this program was given: a service manager's variables are the successor's too.
    let environment: [String: String]

    /// Takes the text of the settings with which the node before this one worked; `nil`: this is no restart in place.
    static func takeWorkingSettings() -> String? {
        Handover.shared.takeBytes(settingsName, limit: longestSettings).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Becomes the successor.
    ///
    /// - Parameter text: The text of the settings with which this node works.
    /// - Returns: Only if that is impossible, with the reason.
    @EventLoop
    func become(after text: String) -> SystemError {
        Handover.shared.keep(Successor.settingsName, Array(text.utf8))
        return Handover.shared.become(
            ProgramBeside("onionbelld").path, arguments: ["--config", configuration], environment: environment
        )
    }
}
