import ArgumentParser
import Client
import Glibc
import MailboxClients
import Processes
import Reactor
import Terminal
import Wire

/// `onionbell bisq-agent`: Bisq's end of the way back.
package struct BisqAgentCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bisq-agent",
        abstract: "Run configured programs for what the phone of a mailbox replies.",
        discussion: """
            Runs beside a Bisq, not on the node, and fetches what its phone sends (onionbell receive \
            --reply). Replies are encrypted and authenticated with keys made from the pairing token's. Each \
            is taken once, in order, within ten minutes. It does nothing by itself: only what --on names is \
            run, without a shell, one at a time. A program finds ONIONBELL_REPLY, ONIONBELL_REPLY_TEXT, \
            ONIONBELL_REPLY_SENT and ONIONBELL_REPLY_COUNTER in its environment. Quote the text. The counter \
            is on the disk before a program starts: if the machine fails then, it is not run again.

            The file is what onionbell mailbox add --json printed; you may leave out its readers. If the \
            phone has made a new key (onionbell receive --new), give its pairing token with --pairing-token.

            Exit status: 0 stopped, or with --once all is done; 1 the node has no such mailbox, 64 usage, 65 \
            something given cannot be used, 66 a file cannot be read, 69 not reached (with --once), 74 the \
            counter cannot be kept, 75 its file is in use, 78 there is no torrc for --tor.

            Example: onionbell bisq-agent --mailbox me.json --on status=./status.sh --on stop=./stop-bisq.sh
            """)

    package init() {}

    @Option(
        help: ArgumentHelp(
            "The output of onionbell mailbox add --json; - reads it from standard input. The options below replace what it has.",
            valueName: "file"))
    var mailbox: String?

    @Option(
        help: ArgumentHelp(
            "The mailbox's ntfy address; its topic may be left out: http://ADDRESS.onion:8030.",
            valueName: "url"))
    var url: String?

    @Option(
        help: ArgumentHelp(
            "The pairing token that Bisq has; - reads it from standard input.", valueName: "token"))
    var pairingToken: String?

    @Option(
        name: .customLong("on"),
        help: ArgumentHelp(
            "Run this program for replies of this kind. May be repeated.", valueName: "kind=program"))
    var on: [String] = []

    @Option(help: ArgumentHelp("How long a program may take.", valueName: "30s|2m"))
    var execLimit = TimeSpan(.seconds(60))

    @Option(
        name: .customLong("file"),
        help: ArgumentHelp(
            "Where the last counter is kept (default: ~/.local/state/onionbell/bisq-agent).",
            valueName: "file"))
    var path: String?

    @Flag(help: "Do what waits now, and end.")
    var once = false

    @Flag(help: "Print a JSON object for each reply: kind, counter, sentDate, answer; or refused.")
    var json = false

    @OptionGroup var tor: TorOptions

    @Option(help: ArgumentHelp("How long to try to connect.", valueName: "30s|2m"))
    var timeout = TimeSpan(.seconds(120))

    package func validate() throws { _ = try programs() }

    package func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        let path = absolute(path ?? BookFile.standardPath(in: environment, named: "bisq-agent"))
        let (token, place) = try access()
        let programs = try programs()
        let file: ReplyCounterFile
        var window: ReplyWindow
        do throws(ReplyCounterFile.Fault) {
            let known: ReplyWindow?
            (file, known) = try ReplyCounterFile.open(path, for: ReplyChannel(.toBisq, of: token))
            let now = EventLoop.unixMilliseconds
            window = known ?? ReplyWindow(since: now)
            window.restart(at: now)
            try file.write(window)
            if window.isAhead(at: now) {
                let minutes = (window.counter - now) / 60_000
                printError(
                    "onionbell: this machine's clock was wrong, or is: the last reply was counted \(minutes) minutes ahead of it, and until then all are refused; \(plainText(path)) keeps that counter"
                )
            }
        } catch {
            throw fail(error, status: error.exitStatus)
        }
        let settings = BisqAgentSettings(
            place: place, pairingToken: token, tor: try tor.source(keptIn: path + ".tor"),
            programs: programs, limit: execLimit.duration, isOnce: once, deadline: timeout.duration,
            isJSON: json)
        if case .onion = place.node { printProgress("connecting through Tor") }
        let status = await Task { @EventLoop in
            await BisqAgentRun(settings, file: file, window: window).run()
        }.value
        if status != 0 { throw ExitCode(status) }
    }

    /// Returns the programs by the kinds of replies.
    private func programs() throws -> [String: String] {
        var programs: [String: String] = [:]
        for text in on {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, PhoneReply.isKind(String(parts[0])) else {
                throw ValidationError(
                    "--on must be KIND=PROGRAM; a kind has 1 to 32 small letters, digits and hyphens")
            }
            guard programs.updateValue(String(parts[1]), forKey: String(parts[0])) == nil else {
                throw ValidationError("--on has the kind \(parts[0]) twice")
            }
        }
        return programs
    }

    private func access() throws -> (PairingToken, MailboxURL) {
        let file = try mailbox.map { try MailboxOptions.contents(of: $0) }
        guard let url = url ?? file?["url"]?.string else {
            throw fail("give --url, or --mailbox with what onionbell mailbox add --json printed", status: 64)
        }
        guard let text = pairingToken ?? file?["pairingToken"]?.string else {
            throw fail("give --pairing-token, or --mailbox", status: 64)
        }
        return (try PairingTokenOption.token(text), try MailboxURL(url, needsTopic: false))
    }
}
