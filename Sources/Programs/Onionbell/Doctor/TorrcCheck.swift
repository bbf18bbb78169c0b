import Glibc
import Node
import Processes
import Reactor

/// Lets tor look at its own configuration, without starting it.
@EventLoop
enum TorrcCheck {
    /// How long the program may take, if it is tor at all.
    private static let patience = Duration.seconds(10)

    /// Returns the fault that tor finds in the torrc of an own tor; `nil`: none, or it could not be asked.
    static func fault(in settings: Settings) async -> SettingsFault? {
        guard settings.tor.mode == .own, let torrc = try? TorConfiguration.path(setting: settings.tor.torrc),
            access(torrc, R_OK) == 0, let directory = try? TemporaryDirectory()
        else { return nil }
        var words: String?
        do throws(ToolError) {
            let tool = try Tool([
                settings.tor.binary, "-f", torrc, "--defaults-torrc", directory.path + "/none",
                "--ignore-missing-torrc", "--DataDirectory", directory.path, "--verify-config",
            ])
            let timer = Timer { tool.kill() }
            timer.start(after: patience)
            defer { timer.stop() }
            _ = try await tool.finish()
        } catch {
            if case .ended(_, _, let output) = error { words = complaint(in: output) }
        }
        await directory.remove()
        return words.map { SettingsFault(key: "tor.torrc", problem: "tor refuses \(torrc): \($0)") }
    }

    /// Returns what tor's output says of its configuration, as `Unknown option 'FooBar'`; `nil`: the output
    /// does not speak of it.
    nonisolated static func complaint(in output: String) -> String? {
        let mark = "Failed to parse/validate config: "
        guard let start = output.firstRange(of: mark)?.upperBound else { return nil }
        let rest = output[start...]
        let end = (rest.firstRange(of: "  Failing.") ?? rest.firstRange(of: " / "))?.lowerBound
        let words = String(rest[..<(end ?? rest.endIndex)].prefix(300))
        // Another user's directory is none of the torrc's faults.
        return words.contains("ermission denied") ? nil : words
    }
}
