import Glibc
import Node
import Processes
import Reactor
import Terminal

/// The node's unit, where systemd runs and the configuration is the unit's.
struct NodeUnit {
    /// The properties that `systemctl show` tells.
    let properties: [String: String]
    /// The last line that it wrote before it ended with a failure.
    var lastError: String?

    static let isSystemdRunning = access("/run/systemd/system", F_OK) == 0

    @EventLoop
    static func find(for file: String) async -> NodeUnit? {
        guard isSystemdRunning, file == Settings.standardFile,
            let lines = try? await Tool([
                "systemctl", "show", "onionbell.service", "--property",
                "LoadState,ActiveState,SubState,NRestarts,User,Group,SupplementaryGroups,NFileDescriptorStore",
            ]).finish()
        else { return nil }
        var unit = NodeUnit(properties: properties(of: lines))
        guard unit.properties["LoadState"] == "loaded" else { return nil }
        if unit.isFailing {
            let journal = try? await Tool([
                "journalctl", "--unit", "onionbell.service", "--priority", "err", "--lines", "1", "--output",
                "cat",
                "--no-pager", "_COMM=onionbelld",
            ]).finish()
            unit.lastError = journal?.last
        }
        return unit
    }

    static func properties(of lines: [String]) -> [String: String] {
        Dictionary(
            lines.compactMap { line in
                line.firstIndex(of: "=").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
            }, uniquingKeysWith: { $1 })
    }

    /// Whether the unit ends again and again, or has given up.
    var isFailing: Bool {
        properties["ActiveState"] == "failed" || properties["SubState"] == "auto-restart"
    }

    var finding: Finding? {
        guard isFailing else { return nil }
        let count = properties["NRestarts"].flatMap { Int($0) } ?? 0
        let words = "the node ends at each start (restarted \(count) times)"
        guard let lastError else {
            // Not every user may read the journal.
            return .fail("node", words, "see why: sudo journalctl -u onionbell")
        }
        return .fail(
            "node", "\(words): \(lastError)", "do what that line says; all of them: journalctl -u onionbell")
    }

    /// Returns the finding on what a restart by systemd and a crash leave of the node; `nil`: it doesn't run.
    func restartFinding(_ mode: Settings.Tor.Mode) -> Finding? {
        guard properties["ActiveState"] == "active" else { return nil }
        guard let kept = properties["NFileDescriptorStore"].flatMap({ Int($0) }), kept > 0 else {
            return .warn(
                "restart", "systemd keeps no sockets of the node: whoever connects during a crash is refused",
                "compare the unit with the installed one: systemctl cat onionbell; it needs FileDescriptorStoreMax= and FDSTORE"
            )
        }
        switch mode {
        case .own:
            return .pass(
                "restart",
                "onionbell restart keeps tor; systemctl restart and a crash end it, and senders fail until it is back. With tor.mode: instance tor stays (RunningForReal.md, Which tor)"
            )
        case .instance, .system:
            return .pass(
                "restart",
                "systemd keeps \(kept) descriptors over restarts and crashes: whoever connects meanwhile waits"
            )
        }
    }
}
