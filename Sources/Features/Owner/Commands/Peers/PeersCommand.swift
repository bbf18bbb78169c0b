import ArgumentParser
import CallsCommands
import JSONCoding
import Processes
import Terminal

/// `onionbell peers`.
package struct PeersCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List the authorized clients.",
        discussion: """
            Prints one name a line. For a public node it prints nothing, and says so on standard error. With --json an \
            object: private, clients.

            Example: onionbell peers --json
            """)

    @OptionGroup var config: ConfigOption

    @OptionGroup var format: JSONOption

    @Flag(help: "Revoke all invitations and make the node public.")
    var letEverybodyIn = false

    package func run() async throws {
        if letEverybodyIn { try await config.call("DELETE", "peers") }
        guard let peers = try await config.call("GET", "peers") else { return }
        guard !format.json else { return printLine(peers.text) }
        guard peers["private"]?.bool == true else {
            return printError("the node is public: everybody who knows its address can connect")
        }
        let names = peers["clients"]?.array?.compactMap(\.string) ?? []
        for name in names { printLine(name) }
        if names.isEmpty { printError("the node is private, and no client is authorized") }
    }

    package init() {}
}
