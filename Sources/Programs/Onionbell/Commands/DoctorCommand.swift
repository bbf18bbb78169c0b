import ArgumentParser
import FeatureList
import Glibc
import JSONCoding
import Node
import Overview
import Processes
import Reactor
import Terminal

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

            With --report what the makers of the node want to know of a machine that nobody has tried yet: its kind, \
            times and sizes, and which checks passed when. There is no address, name, path or key in it.

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

    @Flag(help: "For the makers of the node: kind of machine, times, sizes; no address and no name.")
    var report = false

    func validate() throws {
        guard !report || !json else { throw ValidationError("--report and --json exclude each other") }
        if let socks, Endpoint(socks) == nil { throw ValidationError("--socks must be ADDRESS:PORT") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        try config.becomeOwner()
        guard await examine() else { throw ExitCode(1) }
    }

    /// Runs all checks, and returns whether nothing failed.
    @EventLoop
    private func examine() async -> Bool {
        let paper = DoctorPaper(json ? .json : report ? .report : .text)
        do {
            let settings = try Settings(file: config.config, environment: environment, features: .built)
            if report { await describeMachine(settings) }
            paper.apps = settings.apps.map(\.name)
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

extension DoctorCommand {
    @EventLoop
    private func describeMachine(_ settings: Settings) async {
        let machine = MachineReport()
        for line in machine.machine { printLine(line) }
        guard let node = try? StateDirectory.runningNode(in: settings.stateDirectory),
            let process = node.processID,
            let answer = try? await NodeSocket(config).get("/api/v1/state"),
            let status = try? JSON(answer.body)
        else { return printLine("node: it does not run, or this user may not ask it") }
        for line in machine.node(process, status: status) { printLine(line) }
    }
}

/// Writes each finding when it comes, and names the present step while it takes long.
@EventLoop
private final class DoctorPaper {
    enum Form {
        case text, json
        /// A report without what a finding says: that may have an address, a path or a name.
        case report
    }

    /// The apps' names, which their owner has chosen: a report has their places in the list instead.
    var apps: [String] = []
    private let form: Form
    private let begin = ContinuousClock.now
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var counts: [Finding.Verdict: Int] = [:]
    private var hasProgress = false

    init(_ form: Form) { self.form = form }

    private var total: Int { counts.values.reduce(0, +) }

    func write(_ finding: Finding) {
        clearProgress()
        switch form {
        case .json: printText((total == 0 ? "[\n" : ",\n") + finding.json)
        case .text: printLine(finding.text(coloured: hasColours))
        case .report:
            printLine(
                "\(finding.verdict) \(name(of: finding.check)), at \(Words.time(ContinuousClock.now - begin))"
            )
        }
        counts[finding.verdict, default: 0] += 1
    }

    /// Returns the name of a check with its app called by its place among the apps.
    private func name(of check: String) -> String {
        let first = check.prefix { $0 != "." }
        guard let place = apps.firstIndex(where: { $0 == first }) else { return check }
        return "app \(place + 1)\(check.dropFirst(first.count))"
    }

    func tell(_ progress: String) {
        guard form == .text else { return }
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
        printLine(form == .json ? "\n]" : "\(passed) pass, \(warnings) warn, \(failed) fail")
        return failed == 0
    }
}
