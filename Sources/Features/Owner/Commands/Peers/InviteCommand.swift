import ArgumentParser
import CallsCommands
import JSONCoding
import Node
import Processes
import Terminal
import Tor

/// `onionbell invite`: from the first invitation on the node is private.
package struct InviteCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Authorize a peer. From the first one on, only authorized peers can connect.",
        discussion: """
            Makes a key for the peer and prints the lines for the peer's tor. The key is shown only once and not \
            stored. Send it to the peer over a channel that nobody else reads. A running node applies the invitation \
            at once; where none runs, it waits in the node's files for the next start. The first invitation ends all open connections; later ones disturb nobody.

            Exit status: 0 printed, 1 the peer is invited already, 65 the name cannot be used, 69 the node has never run, 78 \
            configuration.

            Example: onionbell invite alice
            """)

    @OptionGroup var config: ConfigOption

    @Argument(help: "Your name for the peer: 1 to 64 letters, digits, - and _.")
    var name: String

    package func run() async throws {
        let made = try await config.call("POST", "peers", ["name": .string(name)])
        printText(
            """
            \(name) is authorized. Add one of these to \(name)'s tor. It is not shown again.

            A file whose name ends in .auth_private, in the directory of ClientOnionAuthDir in torrc (then reload
            tor), with the line:

            \(made?["file"]?.string ?? "")

            Or a command on tor's control port. It is valid until that tor ends (with Flags=Permanent tor stores it
            in ClientOnionAuthDir):

            \(made?["command"]?.string ?? "")

            """)
    }

    package init() {}
}
