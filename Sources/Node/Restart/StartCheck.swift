import Glibc
import Processes
import Reactor

/// The question whether a node would start with its settings, put to the program that would: before a restart in place the
/// running node asks it, as the same user and with the same environment.
package enum StartCheck {
    /// The time for an answer.
    private static let patience: Duration = .seconds(20)

    /// Prints each fault of the settings, of the files that they name, and of the program itself.
    ///
    /// - Returns: The exit status: 0 none, 78 settings.
    package static func run(configuration: String) async -> Int32 {
        let settings: Settings
        do {
            settings = try Settings(file: configuration, environment: environment)
        } catch {
            printError("\(error)")
            return 78
        }
        let faults = await faults(of: settings)
        for fault in faults { printError("\(configuration): \(fault)") }
        return faults.isEmpty ? 0 : 78
    }

    @EventLoop
    private static func faults(of settings: Settings) -> [String] {
        SettingsCheck(of: settings, on: SettingsCheck.Disk(of: settings)).faults.map { "\($0)" }
    }

    /// Asks the program that would start.
    ///
    /// - Returns: Why it would not; `nil`: it would.
    @EventLoop
    static func fault(of configuration: String) async -> String? {
        let program = ProgramBeside("onionbelld").path
        var lines: [String] = []
        var child: ChildProcess?
        let patience = Timer { child?.signal(SIGKILL) }
        defer { patience.stop() }
        let exit: ChildExit? = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                child = try ChildProcess(
                    [program, "--check-start", "--config", configuration],
                    onLine: { if lines.count < 20 { lines.append($0) } },
                    onExit: { continuation.resume(returning: $0) })
                patience.start(after: StartCheck.patience)
            } catch {
                lines = ["\(error)"]
                continuation.resume(returning: nil)
            }
        }
        guard let exit else { return lines[0] }
        guard exit != .exited(0) else { return nil }
        return lines.isEmpty ? "\(program): \(exit)" : lines.joined(separator: "; ")
    }
}
