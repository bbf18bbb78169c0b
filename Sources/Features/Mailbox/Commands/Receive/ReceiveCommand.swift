import ArgumentParser
import Client
import Crypto
import Encodings
import Glibc
import JSONCoding
import MailboxClients
import Node
import Processes
import QR
import Reactor
import Terminal
import Wire

/// `onionbell receive`: the phone of a mailbox, in a terminal.
package struct ReceiveCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive notifications from a mailbox over Tor, decrypt and show them.",
        discussion: """
            Reads a mailbox of a node (onionbell mailbox add), decrypts what Bisq 1 and Bisq 2 send, shows \
            each message once and keeps a list. Connects again when the connection breaks. A message is \
            acknowledged after it was shown and written to the disk; if the machine fails in between, it is \
            shown again.

            The first call needs the mailbox. Later ones know it from the kept file:

            onionbell receive --mailbox me.json

            onionbell receive

            onionbell receive --list

            For scripts, and for phones that save battery (once, then the end):

            onionbell receive --json --exec ./ring.sh

            onionbell receive --once

            With --exec a program runs for each message, without a shell. It finds ONIONBELL_ID, \
            ONIONBELL_TIME, ONIONBELL_KIND, ONIONBELL_TITLE, ONIONBELL_MESSAGE, ONIONBELL_TRADE and \
            ONIONBELL_SENT in its environment. Texts come from other traders: quote them.

            With --reply it sends a reply to your Bisq: onionbell bisq-agent, beside that Bisq, does what is \
            configured for this kind. It works while another onionbell receive runs: onionbell receive \
            --reply status.

            Exit status: 0 stopped, or with --once all is fetched, or with --reply it was done; 1 the \
            mailbox refuses the token or the reply, or it was not done, 3 the node has the reply or may have \
            it, and nobody said what became of it; 64 usage, 65 something given cannot be used, 66 a file \
            cannot be read, 69 not reached (with --once and --reply), 74 not kept or not shown, 75 the kept \
            file is in use, 78 there is no torrc for --tor.

            Example: onionbell receive --mailbox me.json
            """)

    package init() {}

    @OptionGroup var mailbox: MailboxOptions

    @Flag(
        help: """
            Make a new key on this machine, keep it, and print the pairing token for Bisq: the node that \
            made the mailbox then never had the key.
            """)
    var new = false

    @Option(
        name: .customLong("file"),
        help: ArgumentHelp(
            "Where the key, the token and the list are kept (default: ~/.local/state/onionbell/phone).",
            valueName: "file"))
    var path: String?

    @Flag(help: "Ask for a passphrase at the terminal. The kept file is encrypted with it from now on.")
    var passphrase = false

    @Option(
        help: ArgumentHelp("The same, with a passphrase from the first line of a file.", valueName: "file"))
    var passphraseFile: String?

    @Flag(help: "Show the kept list, and end.")
    var list = false

    @Flag(help: "Fetch what lies in the mailbox, and end.")
    var once = false

    @Option(
        help: ArgumentHelp(
            "Where to begin if no message is known yet.", valueName: "all|none|latest|10m|id"),
        completion: .list(["all", "none", "latest"]))
    var since = "all"

    @Flag(help: "Print a JSON object for each message: id, time, kind, title, message, trade, sentDate.")
    var json = false

    @Option(help: ArgumentHelp("Run this program for each message.", valueName: "program"))
    var exec: String?

    @Option(help: ArgumentHelp("How long that program may take.", valueName: "30s|2m"))
    var execLimit = TimeSpan(.seconds(60))

    @Option(
        help: ArgumentHelp(
            "Send Bisq's agent a reply of this kind, wait for what became of it, and end.",
            valueName: "kind"))
    var reply: String?

    @Option(help: ArgumentHelp("What the reply says, at most 1,000 bytes.", valueName: "text"))
    var replyText = ""

    @Option(
        help: """
            Show each message with notify-send. bell: a fixed text. text: the message, which other users of \
            this machine can see for a moment.
            """)
    var notify: NotifyForm?

    @OptionGroup var tor: TorOptions

    @Option(
        help: ArgumentHelp("Time between two pings, at most 7m: more often costs battery.", valueName: "3m"))
    var ping = TimeSpan(.seconds(180))

    @Option(help: ArgumentHelp("How long to try to connect.", valueName: "30s|2m"))
    var timeout = TimeSpan(.seconds(120))

    package func validate() throws {
        if ping.duration > .seconds(420) { throw ValidationError("--ping must be 7m or less") }
        if let reply {
            guard PhoneReply.isKind(reply), PhoneReply.isText(replyText) else {
                throw ValidationError(
                    "--reply has 1 to 32 small letters, digits and hyphens, --reply-text at most 1,000 bytes on one line"
                )
            }
            if list || once || new { throw ValidationError("--reply sends a reply, and nothing else") }
        } else if !replyText.isEmpty {
            throw ValidationError("--reply-text is for --reply")
        }
        if list, once || new { throw ValidationError("--list shows what is kept, and nothing else") }
        if passphrase, passphraseFile != nil {
            throw ValidationError("--passphrase and --passphrase-file exclude each other")
        }
        guard (1...64).contains(since.utf8.count),
            since.consists(of: { ASCII.letter($0) | ASCII.digit($0) })
        else { throw ValidationError("--since must be all, none, latest, a time such as 10m, or an id") }
    }

    package func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        let path = absolute(path ?? BookFile.standardPath(in: environment))
        let secret = try secret()
        if let reply { return try await send(reply, beside: path, secret) }
        let file: BookFile
        let kept: MailboxBook?
        do throws(BookFile.Fault) {
            if list { return show(try BookFile.look(at: path, passphrase: secret)) }
            (file, kept) = try BookFile.open(path, passphrase: secret)
        } catch {
            throw fail(error, status: error.exitStatus)
        }
        let book = try book(kept, in: file)
        let settings = ReceiveRunSettings(
            place: try MailboxURL(book.access.url), tor: try tor.source(keptIn: path + ".tor"),
            since: since,
            isOnce: once, pingInterval: ping.duration, deadline: timeout.duration)
        let screen = MessageScreen(isJSON: json, exec: exec, limit: execLimit.duration, notify: notify)
        if isatty(STDOUT_FILENO) == 1, !json { show(kept) }
        if case .onion = settings.place.node { printProgress("connecting through Tor") }
        let status = await Task { @EventLoop in
            await ReceiveRun(settings, file: file, book: book, screen: screen).run()
        }.value
        if status != 0 { throw ExitCode(status) }
    }

    /// Sends a reply beside another process that has the kept file.
    private func send(_ kind: String, beside path: String, _ secret: Secret?) async throws {
        let access: MailboxBook.Access
        do {
            let kept = try BookFile.look(at: path, passphrase: secret)
            access = try mailbox.access(besides: kept?.access)
        } catch let error as BookFile.Fault {
            throw fail(error, status: error.exitStatus)
        }
        let settings = ReplyRunSettings(
            place: try MailboxURL(access.url), pairingToken: access.pairingToken,
            tor: try tor.source(keptIn: path + ".reply.tor"), deadline: timeout.duration, isJSON: json)
        let counter = path + ".replies"
        let status = await Task { @EventLoop in
            await ReplyRun(settings).send(kind, replyText, countedIn: counter)
        }.value
        if status != 0 { throw ExitCode(status) }
    }

    private func show(_ book: MailboxBook?) {
        for entry in book?.entries ?? [] {
            printText(json ? entry.json.text + "\n" : MessageScreen.text(of: entry))
        }
    }

    /// Updates the kept book with what is given now, keeps it again, and returns it.
    private func book(_ kept: MailboxBook?, in file: BookFile) throws -> MailboxBook {
        var access = try mailbox.access(besides: kept?.access)
        _ = try MailboxURL(access.url)
        if new {
            do {
                let old = access.pairingToken
                access.pairingToken =
                    try Phone.new(old.platform, descriptor: old.descriptor, deviceToken: old.deviceToken)
                    .pairingToken
            } catch {
                throw fail(error, status: 65)
            }
        }
        var book = kept ?? MailboxBook(access)
        book.use(access)
        do throws(BookFile.Fault) {
            try file.write(book)
        } catch {
            throw fail(error, status: error.exitStatus)
        }
        if new { try tellPairingToken(access.pairingToken) }
        return book
    }

    private func tellPairingToken(_ token: PairingToken) throws {
        guard !json else {
            let object: JSON = ["pairingToken": .string(token.text)]
            return printLine(object.text)
        }
        printLine("The pairing token with the new key. Enter it in Bisq in place of the old one:")
        printLine(token.text)
        guard isatty(STDOUT_FILENO) == 1, let code = try? QRCode(token.text) else { return }
        for line in code.lines(coloured: hasColours) { printLine(line) }
    }

    private func secret() throws -> Secret? {
        if let passphraseFile { return try Passphrase.read(from: passphraseFile) }
        return passphrase ? try Passphrase.ask() : nil
    }
}
