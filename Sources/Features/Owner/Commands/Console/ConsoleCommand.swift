import ArgumentParser
import CallsCommands
import JSONCoding
import Processes
import Terminal

/// `onionbell console`: the owner's pages in a browser.
package struct ConsoleCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Enter the node's pages in a browser.",
        discussion: """
            The node serves them at console.listen. Run these as the node's user: sudo -u onionbell onionbell console link.
            """,
        subcommands: [
            ConsoleLinkCommand.self, ConsoleInviteCommand.self, ConsoleRevokeCommand.self,
            ConsoleWidgetCommand.self,
        ])

    package init() {}
}

/// `onionbell console link`.
struct ConsoleLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Print a link that lets a browser into the console.",
        discussion: """
            The link is good once and for 15 minutes. Links that were made before become invalid. Whoever has the link \
            becomes an owner of the node: do not pass it on. There is one line for each address of the console.

            Exit status: 0 printed, 1 the node has no console, 69 no node runs, 77 the node runs as another user, 78 \
            configuration.

            Example: onionbell console link
            """)

    @OptionGroup var config: ConfigOption

    func run() async throws {
        let made = try await config.call("POST", "links")
        for link in made?["links"]?.array ?? [] { printLine(link.string ?? "") }
    }
}
