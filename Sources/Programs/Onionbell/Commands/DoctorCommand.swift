import ArgumentParser
import Glibc
import Node
import Programs
import Reactor

/// `onionbell doctor`: what works and what doesn't, and what to do.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything a node needs, from its files to Apple and Google, and say what to do.",
        discussion: """
            Checks configuration, credentials, permissions, disk, limits and the running node. Connects to the Tor \
            network with a tor of its own, or through the system's tor. Compares the clock, fetches the node's \
            descriptor and connects to its address. Sends a request for a nonexistent device to Apple and Google, to \
            test the credentials. It changes nothing, and no phone rings. Run it as root or as the node's user, \
            while the node runs or not. It takes about a minute.

            With --json an array of objects: check, verdict (pass, warn, fail), words, advice.

            Exit status: 0 nothing failed, 1 something failed, 64 usage.

            Example: onionbell doctor --json
            """)

    @OptionGroup var config: ConfigOption

    @Option(
        help: ArgumentHelp(
            "Use this SOCKS port instead of starting a tor.", valueName: "address:port"))
    var socks: String?

    @Flag(help: "As JSON.")
    var json = false

    func validate() throws {
        if let socks, Endpoint(socks) == nil { throw ValidationError("--socks must be ADDRESS:PORT") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        guard await examine() else { throw ExitCode(1) }
    }

    /// Whether nothing failed.
    @EventLoop
    private func examine() async -> Bool {
        let paper = DoctorPaper(isJSON: json)
        do {
            let settings = try Settings(file: config.config, environment: environment)
            let doctor = Doctor(
                settings, file: config.config, socks: socks.flatMap(Endpoint.init),
                report: { paper.write($0) }, progress: { paper.tell($0) })
            await doctor.run()
        } catch {
            let isClosed = access(config.config, R_OK) != 0 && errno == EACCES
            let advice =
                isClosed
                ? "run this as root: sudo onionbell doctor"
                : "correct \(config.config); onionbell init writes a new one"
            for fault in error.faults {
                paper.write(.fail("configuration", "\(config.config): \(fault)", advice))
            }
        }
        return paper.finish()
    }
}

/// Writes findings as they come, and what is being done where it takes long.
@EventLoop
private final class DoctorPaper {
    private let isJSON: Bool
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var counts: [Finding.Verdict: Int] = [:]
    private var hasProgress = false

    init(isJSON: Bool) { self.isJSON = isJSON }

    private var total: Int { counts.values.reduce(0, +) }

    func write(_ finding: Finding) {
        clearProgress()
        if isJSON {
            printText((total == 0 ? "[\n" : ",\n") + finding.json)
        } else {
            printLine(finding.text(coloured: hasColours))
        }
        counts[finding.verdict, default: 0] += 1
    }

    func tell(_ progress: String) {
        guard !isJSON else { return }
        // Through a pipe a line cannot be taken back: what is being done goes beside the findings.
        guard isTerminal else { return printError("onionbell: \(progress) ...") }
        clearProgress()
        printText("...   \(progress)")
        hasProgress = true
    }

    private func clearProgress() {
        if hasProgress { printText("\r\u{1b}[K") }
        hasProgress = false
    }

    func finish() -> Bool {
        clearProgress()
        let (passed, warnings, failed) = (counts[.pass] ?? 0, counts[.warn] ?? 0, counts[.fail] ?? 0)
        if isJSON {
            printLine("\n]")
        } else {
            printLine("\(passed) pass, \(warnings) warn, \(failed) fail")
        }
        return failed == 0
    }
}
