import Glibc
import Node
import Processes
import Reactor

/// The unit of a tor for the node alone, as it is installed beside the node's.
enum TorUnit {
    private static let name = "onionbell-tor.service"

    /// Whether a new node has this tor where nobody says otherwise: where systemd runs, it outlives the node's restarts.
    static func isUsual(for command: InitCommand) -> Bool {
        let places = ["/etc", "/usr/local/lib", "/usr/lib", "/lib"]
        return hasUnits(command.config.config) && command.stateDirectory == nil && command.torControl == nil
            && !command.others.contains { $0.hasPrefix("tor.") || $0.hasPrefix("state_directory=") }
            && places.contains { access("\($0)/systemd/system/\(name)", F_OK) == 0 }
    }

    /// Lets the unit start with the node, or no more, as the settings that were written have it.
    ///
    /// - Returns: Whether it starts with the node.
    @EventLoop
    static func follow(_ mode: Settings.Tor.Mode?, of file: String) async -> Bool {
        guard hasUnits(file) else { return false }
        let verb = mode == .instance ? "enable" : "disable"
        guard (try? await Tool(["systemctl", verb, "--quiet", name]).finish()) != nil else { return false }
        return mode == .instance
    }

    /// Whether a configuration is that of the units.
    private static func hasUnits(_ file: String) -> Bool {
        geteuid() == 0 && NodeUnit.isSystemdRunning && file == Settings.standardFile
    }
}
