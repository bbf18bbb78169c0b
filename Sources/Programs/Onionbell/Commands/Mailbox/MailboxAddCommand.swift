import ArgumentParser
import Gateways
import Glibc
import JSONCoding
import Node
import Pointing
import Programs
import QR
import Registrations

extension Mailbox.Show: ExpressibleByArgument {}

/// `onionbell mailbox add`.
struct MailboxAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Make a mailbox, and print its pairing token, its ntfy address and its readers' tokens.",
        discussion: """
            All of these are shown only once, because the node stores only their digests. Enter the pairing \
            token in Bisq: it has the key to the messages, so whoever has it can read them. The ntfy address \
            and a reader's token go to the phone: the ntfy app wants the address up to the topic, the topic, \
            and a user with the token as password. A message stays until each reader has acknowledged it, or \
            until it expires. With --tokens-of readers of another mailbox keep their tokens: the ntfy app \
            has one user for a server.

            Exit status: 0 made, 1 there is a mailbox of this name, 64 usage, 69 the node has never run, 75 the running \
            node must be restarted first, 78 configuration.

            Example: onionbell mailbox add me --reader phone --reader desk
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: PhoneBookName

    @Option(
        help: """
            What an app shows that can't decrypt. bell: a fixed text; the encrypted message goes beside it, \
            and of a full mailbox the oldest message goes. sealed: the encrypted message; a full mailbox \
            takes no more.
            """)
    var show = Mailbox.Show.bell

    @Option(
        name: .customLong("reader"),
        help: ArgumentHelp(
            "A phone or program that fetches; each gets all messages. May be repeated; by default one, phone.",
            valueName: "name"))
    var readers: [String] = []

    @Option(
        help: ArgumentHelp(
            "Readers who are also readers of this mailbox keep the tokens that they have there.",
            valueName: "mailbox"))
    var tokensOf: String?

    @Flag(name: .customLong("open"), help: "Whoever has the ntfy address may read, also without a token.")
    var isOpen = false

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print no QR codes.")
    var textOnly = false

    func validate() throws {
        for reader in readers { try checkPhoneBookName(reader) }
        guard Set(readers).count == readers.count, readers.count <= Mailbox.mostReaders else {
            throw ValidationError("--reader: each name once, at most \(Mailbox.mostReaders)")
        }
    }

    func run() async throws {
        let settings = try config.settings()
        var made = try told { () throws(CallRefusal) in
            try NewMailbox(named: which.name, show: show, readers: readers, isOpen: isOpen, in: settings)
        }
        try await refuseUnknownNode(settings)
        try config.registrations(isReadOnly: false) { file in
            try made.add(to: file, tokensOf: tokensOf, in: settings)
        }
        print(made, in: settings)
    }

    /// A node that started before its configuration named the app would tell senders that the address is no device's, and
    /// they would give it up.
    private func refuseUnknownNode(_ settings: Settings) async throws {
        guard (try? StateDirectory.runningNode(in: settings.stateDirectory)) != nil,
            access(StateDirectory.statusSocket(in: settings.stateDirectory), R_OK | W_OK) == 0
        else { return }
        let answer = try? await NodeSocket(config).get("/status.json")
        guard let gateways = answer.flatMap({ try? JSON($0.body) })?["gateways"]?.array,
            !gateways.contains(where: { $0["service"]?.string == MailboxApp.gateway })
        else { return }
        throw fail(
            "no mailbox was made: the running node does not serve mailboxes yet. Restart it first, for example "
                + "systemctl restart onionbell, then run this again", status: 75)
    }

    // MARK: Output

    private func print(_ made: NewMailbox, in settings: Settings) {
        guard !json else {
            // All of it is letters, digits and what JSON need not escape.
            let readers = made.readers.map { #""\#($0.name)":\#($0.token.map { "\"\($0)\"" } ?? "null")"# }
                .joined(separator: ",")
            let url = made.url.map { #","url":"\#($0)""# } ?? ""
            return printLine(
                #"{"pairingToken":"\#(made.pairingToken)","topic":"\#(made.topic)"\#(url),"readers":{\#(readers)}}"#
            )
        }
        printLine("The pairing token. Enter it in Bisq (Bisq 1: Account, Notifications):")
        show(made.pairingToken)
        printLine(
            "\nThe ntfy address: the server, and the topic behind the last slash. Subscribe to it on the phone:"
        )
        if let url = made.url {
            show(url)
        } else {
            printLine("topic \(made.topic), at the place where doors.mailbox is served")
        }
        for reader in made.readers {
            guard let token = reader.token else {
                printLine("\nThe reader \(reader.name) keeps its token.")
                continue
            }
            printLine("\nThe token of the reader \(reader.name). In the app: user \(reader.name), password")
            show(token)
        }
        printLine("\nBisq sends to this node with these lines; onionbell point says more:")
        guard let node = try? PointedNode.node(of: settings) else { return }
        printLine("  Bisq 1, bisq.properties: torrcOptions=\(PointedSettings(.bisq1, at: node).mapAddress)")
        for line in PointedSettings(.bisq2, at: node).bisq2Lines { printLine("  Bisq 2, bisq.conf: \(line)") }
    }

    private func show(_ text: String) {
        printLine(text)
        guard !textOnly, let code = try? QRCode(text) else { return }
        for line in code.lines(coloured: hasColours) { printLine(line) }
    }
}
