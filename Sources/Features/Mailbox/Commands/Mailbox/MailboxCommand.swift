import ArgumentParser
import CallsCommands
import Processes
import Terminal

/// `onionbell mailbox`: where notifications lie until phones fetch them.
package struct MailboxCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "mailbox",
        abstract: "Manage mailboxes: phones fetch notifications from this node over Tor.",
        discussion: """
            A phone fetches with the ntfy app or any other client of ntfy. Needs an app with gateway: mailbox and \
            doors.mailbox.listen. A running node does what they say, at once, by the calls of its console; where none \
            runs, its store is used. Run it as the node's user: sudo -u onionbell onionbell mailbox list.
            """,
        subcommands: [
            MailboxAddCommand.self, MailboxListCommand.self, MailboxRemoveCommand.self,
            MailboxPublishersCommand.self,
        ])

    package init() {}
}

/// `onionbell mailbox list`.
struct MailboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the mailboxes, with what waits in each.",
        discussion: """
            Columns are separated by tabs. The first line has their names.

            Example: onionbell mailbox list --json
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption

    func run() async throws { try await config.listRegistrations(of: "mailbox", asJSON: format.json) }
}

/// `onionbell mailbox remove`.
struct MailboxRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete a mailbox with all that waits in it.",
        discussion: """
            Its address, its topic and the tokens of its readers and publishers become invalid. Exit status: 0 deleted, 1 it did not \
            exist.

            Example: onionbell mailbox remove me
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: MailboxName

    func run() async throws {
        try await config.call("DELETE", "mailboxes/\(which.name)")
        printLine("removed")
    }
}
