import ArgumentParser
import CallsCommands
import JSONCoding
import Node
import Processes
import Terminal

/// `onionbell mailbox publishers`: who puts texts of the owner's own into a mailbox.
struct MailboxPublishersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publishers",
        abstract: "Let scripts and servers of your own ring your phone by a mailbox.",
        discussion: """
            A publisher sends texts to the mailbox's ntfy address as to any ntfy server: curl, ntfy publish, apprise, \
            Home Assistant and cron do. It can't read. The node sees these texts; they are sealed in its store. Each \
            arrives with the tag "from NAME", so that nobody takes it for Bisq's. Of each mailbox 100 texts are kept, \
            for 72 hours; the oldest goes first. They take no room from Bisq's.
            """,
        subcommands: [
            PublisherAddCommand.self, PublisherListCommand.self, PublisherRemoveCommand.self,
        ])
}

struct PublisherName: ParsableArguments {
    @Argument(help: "The mailbox's name.")
    var mailbox: String

    @Argument(help: "The publisher's name: 1 to 64 letters, digits, \".\", \"-\" and \"_\".")
    var name: String

    func validate() throws {
        try checkMailboxName(mailbox)
        try checkMailboxName(name)
    }
}

/// `onionbell mailbox publishers add`.
struct PublisherAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Make a publisher, and print its token.",
        discussion: """
            The token is shown only once, because the node stores only its digest. Clients send it as a Bearer token, \
            or as the password of the user NAME. A running node takes it within two seconds.

            Exit status: 0 made, 1 the mailbox does not take it, 64 usage, 69 the node has never run, 78 configuration.

            Example: onionbell mailbox publishers add me backup
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption
    @OptionGroup var which: PublisherName

    func run() async throws {
        let made = try await config.call(
            "POST", "mailboxes/\(which.mailbox)/publishers", ["name": .string(which.name)])
        let token = made?["token"]?.string ?? ""
        guard !format.json else {
            return printLine(#"{"name":"\#(which.name)","token":"\#(token)"}"#)
        }
        printLine(
            """
            The token of the publisher \(which.name). It is not shown again:
            \(token)

            Publish to the ntfy address of \(which.mailbox), for example:
            curl -H 'Authorization: Bearer \(token)' -H 'Title: Backup' -d 'It is done.' NTFY-ADDRESS
            """)
    }
}

/// `onionbell mailbox publishers list`.
struct PublisherListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the publishers of a mailbox.",
        discussion: """
            One name for each line.

            Exit status: 0 listed, 1 there is no such mailbox.

            Example: onionbell mailbox publishers list me
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption

    @Argument(help: "The mailbox's name.")
    var mailbox: String

    func validate() throws { try checkMailboxName(mailbox) }

    func run() async throws {
        let names = try await config.call("GET", "mailboxes/\(mailbox)/publishers")?["names"]?.array ?? []
        guard !format.json else { return printLine(JSON.array(names).text) }
        for name in names { printLine(name.string ?? "") }
    }
}

/// `onionbell mailbox publishers remove`.
struct PublisherRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Make a publisher's token invalid.",
        discussion: """
            What it has published stays; what it wanted published later goes. The tokens of readers and other publishers \
            stay. Where a token was seen by others, remove the publisher, then add it again.

            Exit status: 0 removed, 1 it did not exist.

            Example: onionbell mailbox publishers remove me backup
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: PublisherName

    func run() async throws {
        try await config.call("DELETE", "mailboxes/\(which.mailbox)/publishers/\(which.name)")
        printLine("removed")
    }
}
