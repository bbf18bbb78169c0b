import Glibc
import Persistence
import Processes
import Reactor
import Tor

/// The question whether a node would start with its settings. Before a restart in place the running node puts it to the
/// program that would start, as the same user and with the same environment.
package enum StartCheck {
    /// The time for an answer.
    private static let patience: Duration = .seconds(20)
    /// Open files that a node with a few connections has, and as many again.
    private static let fewestFiles = 128
    /// Bytes that a start needs on the disk, about.
    private static let room = 128 << 10

    /// Prints each fault of the settings, of the files that they name, of the store, of the places at which the node would
    /// listen, and of the program itself.
    ///
    /// - Parameter serving: Places that the running node has already.
    /// - Returns: The exit status: 0 none, 78 settings.
    package static func run(
        configuration: String, serving: [String], features: Features
    ) async -> Int32 {
        let settings: Settings
        do {
            settings = try Settings(file: configuration, environment: environment, features: features)
        } catch {
            printError("\(error)")
            return 78
        }
        let faults = await faults(of: settings, serving: serving.compactMap { Endpoint($0) })
        for fault in faults { printError("\(configuration): \(fault)") }
        return faults.isEmpty ? 0 : 78
    }

    @EventLoop
    private static func faults(of settings: Settings, serving: [Endpoint]) -> [SettingsFault] {
        var faults = SettingsCheck(of: settings, on: SettingsCheck.Disk(of: settings)).faults
        // This user starts the node: a file that it may not read is a fault.
        for file in settings.closedCredentials {
            faults.append(SettingsFault(key: "", problem: "\(file) can't be read by this user"))
        }
        for (key, endpoint) in settings.listeners {
            if let fault = Listener.trialFault(at: endpoint, besides: serving) {
                faults.append(SettingsFault(key: key, problem: "\(fault)"))
            }
        }
        let directory = settings.stateDirectory
        for path in [StateDirectory.peers(in: directory), StateDirectory.consoleClients(in: directory)] {
            do {
                _ = try Invitations(path: path).load()
            } catch {
                faults.append(SettingsFault(key: "", problem: "\(error)"))
            }
        }
        if let fault = storeFault(of: settings) ?? roomFault(in: directory) { faults.append(fault) }
        let files = ThisProcess.raiseFileLimit()
        if files < fewestFiles {
            faults.append(
                SettingsFault(
                    key: "",
                    problem: "the limit of open files is \(files), and a node needs \(fewestFiles) at least"))
        }
        return faults
    }

    /// Returns the fault of the store, which may be of another version of this program. One that is not there is made.
    private static func storeFault(of settings: Settings) -> SettingsFault? {
        do {
            let place = try settings.store()
            if let file = place.file {
                guard access(file, F_OK) == 0, !StateDirectory.hasLostOutbox(in: settings.stateDirectory)
                else { return nil }
            }
            _ = try RegistrationFile(place, isReadOnly: true)
            return nil
        } catch {
            return SettingsFault(key: "storage", problem: "\(error)")
        }
    }

    /// Returns the fault of a state directory that takes nothing: no store can be opened there, while the running node has
    /// its own, and goes on when there is room again. A directory that is not there is made.
    private static func roomFault(in directory: String) -> SettingsFault? {
        guard access(directory, F_OK) == 0 else { return nil }
        let file = directory + "/start-check"
        defer { unlink(file) }
        do throws(SystemError) {
            try PrivateFile.write(String(repeating: " ", count: room), to: file, replacing: true)
            return nil
        } catch {
            return SettingsFault(key: "state_directory", problem: "\(error)")
        }
    }

    /// Asks the program that would start.
    ///
    /// - Returns: Why it would not; `nil`: it would.
    @EventLoop
    package static func fault(of configuration: String) async -> String? {
        let program = ProgramBeside("onionbelld").path
        var lines: [String] = []
        var child: ChildProcess?
        var isLate = false
        let patience = Timer {
            isLate = true
            child?.signal(SIGKILL)
        }
        defer { patience.stop() }
        let serving = Listener.places.map(\.description)
        let exit: ChildExit? = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                child = try ChildProcess(
                    [program, "--check-start", "--config", configuration, "--serving"] + serving,
                    onLine: { if lines.count < 20 { lines.append($0) } },
                    onExit: { continuation.resume(returning: $0) })
                patience.start(after: StartCheck.patience)
            } catch {
                lines = ["\(error)"]
                continuation.resume(returning: nil)
            }
        }
        guard let exit else { return lines[0] }
        guard !isLate else { return "\(program) has given no answer within 20 seconds" }
        switch exit {
        case .exited(0): return nil
        case .exited(64):
            // An unknown option.
            return
                "\(program) is of a version that knows no restart in place: restart it as a service, for example systemctl restart onionbell"
        case .exited, .signalled: return lines.isEmpty ? "\(program): \(exit)" : lines.joined(separator: "; ")
        }
    }
}
