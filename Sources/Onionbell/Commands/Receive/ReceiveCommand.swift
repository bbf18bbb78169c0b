import ArgumentParser
import Client
import Crypto
import Encodings
import Glibc
import JSONCoding
import Node
import Programs
import QR
import Reactor
import Wire

/// `onionbell receive`: the phone of a mailbox, in a terminal.
struct ReceiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receive",
        abstract: "Receive notifications from a mailbox over Tor, decrypt and show them.",
        discussion: """
            Reads a mailbox of a node (onionbell mailbox add), decrypts what Bisq 1 and Bisq 2 send, shows each \
            message once and keeps a list. Connects again when the connection breaks. A message is acknowledged after \
            it was shown and written to the disk; if the machine fails in between, it is shown again.

            The first call needs the mailbox. Later ones know it from the kept file:

            onionbell receive --mailbox me.json

            onionbell receive

            onionbell receive --list

            For scripts, and for phones that save battery (once, then the end):

            onionbell receive --json --exec ./ring.sh

            onionbell receive --once

            With --exec a program runs for each message, without a shell. It finds ONIONBELL_ID, ONIONBELL_TIME, \
            ONIONBELL_KIND, ONIONBELL_TITLE, ONIONBELL_MESSAGE, ONIONBELL_TRADE and ONIONBELL_SENT in its environment. \
            Texts come from other traders: quote them.

            Exit status: 0 stopped, or with --once all is fetched; 1 the mailbox refuses the token, 64 usage, 65 \
            something given cannot be used, 66 a file cannot be read, 69 not reached (with --once), 74 not kept or not \
            shown, 75 the kept file is in use, 78 there is no torrc for --tor.

            Example: onionbell receive --mailbox me.json
            """)

    @OptionGroup var mailbox: MailboxOptions

    @Flag(
        help: """
            Make a new key on this machine, keep it, and print the pairing token for Bisq: the node that made the \
            mailbox then never had the key.
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
        help: """
            Show each message with notify-send. bell: a fixed text. text: the message, which other users of this \
            machine can see for a moment.
            """)
    var notify: NotifyForm?

    @Option(help: ArgumentHelp("Tor's SOCKS port.", valueName: "address:port|unix:path"))
    var socks = "127.0.0.1:9050"

    @Option(
        help: ArgumentHelp("Start this tor program, and use it instead of --socks.", valueName: "program"))
    var tor: String?

    @Option(
        help: ArgumentHelp(
            "The configuration of that tor; by default the one installed with the program.", valueName: "file"
        ))
    var torrc = ""

    @Option(
        help: ArgumentHelp("Time between two pings, at most 7m: more often costs battery.", valueName: "3m"))
    var ping = TimeSpan(.seconds(180))

    @Option(help: ArgumentHelp("How long to try to connect.", valueName: "30s|2m"))
    var timeout = TimeSpan(.seconds(120))

    func validate() throws {
        if tor == nil, !torrc.isEmpty { throw ValidationError("--torrc is for --tor") }
        if ping.duration > .seconds(420) { throw ValidationError("--ping must be 7m or less") }
        if list, once || new { throw ValidationError("--list shows what is kept, and nothing else") }
        if passphrase, passphraseFile != nil {
            throw ValidationError("--passphrase and --passphrase-file exclude each other")
        }
        guard (1...64).contains(since.utf8.count),
            since.utf8.span.consists(of: { ASCII.letter($0) | ASCII.digit($0) })
        else { throw ValidationError("--since must be all, none, latest, a time such as 10m, or an id") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
        let path = absolute(path ?? BookFile.standardPath(in: environment))
        let secret = try secret()
        let file: BookFile
        let kept: MailboxBook?
        do throws(BookFile.Fault) {
            if list { return show(try BookFile.look(at: path, passphrase: secret)) }
            (file, kept) = try BookFile.open(path, passphrase: secret)
        } catch {
            throw fail(error, status: error.exitStatus)
        }
        let book = try book(kept, in: file)
        let settings = ReceiveRun.Settings(
            place: try MailboxPlace(book.access.url), tor: try source(beside: path), since: since,
            isOnce: once, pingInterval: ping.duration, deadline: timeout.duration)
        let screen = MessageScreen(isJSON: json, exec: exec, limit: execLimit.duration, notify: notify)
        if isatty(STDOUT_FILENO) == 1, !json { show(kept) }
        if case .onion = settings.place.node { printProgress("connecting through Tor") }
        let status = await Task { @EventLoop in
            await ReceiveRun(settings, file: file, book: book, screen: screen).run()
        }.value
        if status != 0 { throw ExitCode(status) }
    }

    private func show(_ book: MailboxBook?) {
        for entry in book?.entries ?? [] {
            printText(json ? entry.json.text + "\n" : MessageScreen.text(of: entry))
        }
    }

    /// What is kept, changed by what is given now, and kept again.
    private func book(_ kept: MailboxBook?, in file: BookFile) throws -> MailboxBook {
        var access = try mailbox.access(besides: kept?.access)
        _ = try MailboxPlace(access.url)
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
        let bytes: [UInt8]
        if let passphraseFile {
            do {
                bytes = try PrivateFile.read(passphraseFile, limit: 4096)
            } catch {
                throw fail(error, status: 66)
            }
        } else if passphrase {
            guard let typed = getpass("Passphrase: ") else {
                throw fail("there is no terminal to ask for the passphrase", status: 66)
            }
            bytes = Array(String(cString: typed).utf8)
        } else {
            return nil
        }
        let line = Array(bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
        guard !line.isEmpty else { throw fail("the passphrase is empty", status: 65) }
        return Secret(line)
    }

    private func source(beside path: String) throws -> WatchTor.Source {
        guard let proxy = Endpoint(socks) else {
            throw fail("--socks must be ADDRESS:PORT or unix:PATH", status: 64)
        }
        guard let tor else { return .socks(proxy) }
        do {
            return .own(
                binary: tor, torrc: try TorConfiguration.path(setting: torrc), directory: path + ".tor")
        } catch {
            throw fail(error, status: error.exitStatus)
        }
    }
}
