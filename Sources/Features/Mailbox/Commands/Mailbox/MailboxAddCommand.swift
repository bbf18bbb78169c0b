import ArgumentParser
import Calls
import CallsCommands
import JSONCoding
import MailboxEndpoint
import Node
import Pointing
import Processes
import QR
import Relay
import Terminal

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
    @OptionGroup var which: MailboxName

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
        for reader in readers { try checkMailboxName(reader) }
        guard Set(readers).count == readers.count, readers.count <= Mailbox.mostReaders else {
            throw ValidationError("--reader: each name once, at most \(Mailbox.mostReaders)")
        }
    }

    func run() async throws {
        var body: JSON.Object = [
            "name": .string(which.name), "show": .string(show.rawValue), "open": .bool(isOpen),
            "readers": .array(readers.map { .string($0) }),
        ]
        body["tokens_of"] = tokensOf.map { .string($0) }
        guard let made = try await config.call("POST", "mailboxes", .object(body)) else { return }
        let readers = (made["readers"]?.array ?? []).map {
            (name: $0["name"]?.string ?? "", token: $0["token"]?.string)
        }
        let text = (
            token: made["pairing_token"]?.string ?? "", topic: made["topic"]?.string ?? "",
            url: made["url"]?.string
        )
        guard !json else {
            var members: JSON.Object = [
                "pairingToken": .string(text.token), "topic": .string(text.topic),
                "readers": .object(
                    JSON.Object(readers.map { ($0.name, $0.token.map { .string($0) } ?? .null) })),
            ]
            members["url"] = text.url.map { .string($0) }
            return printLine(JSON.object(members).text)
        }
        printLine("The pairing token. Enter it in Bisq (Bisq 1: Account, Notifications):")
        show(text.token)
        printLine(
            "\nThe ntfy address: the server, and the topic behind the last slash. Subscribe to it on the phone:"
        )
        if let url = text.url {
            show(url)
        } else {
            printLine("topic \(text.topic), at the place where doors.mailbox is served")
        }
        for reader in readers {
            guard let token = reader.token else {
                printLine("\nThe reader \(reader.name) keeps its token.")
                continue
            }
            printLine("\nThe token of the reader \(reader.name). In the app: user \(reader.name), password")
            show(token)
        }
        printLine("\nBisq sends to this node with these lines; onionbell point says more:")
        guard let node = try? PointedNode.node(of: config.settings()) else { return }
        printLine("  Bisq 1, bisq.properties: torrcOptions=\(PointedSettings(.bisq1, at: node).mapAddress)")
        for line in PointedSettings(.bisq2, at: node).bisq2Lines { printLine("  Bisq 2, bisq.conf: \(line)") }
    }

    private func show(_ text: String) {
        printLine(text)
        guard !textOnly, let code = try? QRCode(text) else { return }
        for line in code.lines(coloured: hasColours) { printLine(line) }
    }
}
