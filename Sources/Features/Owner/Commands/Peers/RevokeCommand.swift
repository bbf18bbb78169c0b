import ArgumentParser
import CallsCommands
import JSONCoding
import Processes
import Terminal
import Tor

/// `onionbell revoke`.
package struct RevokeCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a peer's invitation.",
        discussion: """
            The peer is shut out within seconds. All open connections end, and the other clients connect again. The \
            node stays private even if no authorized client is left; onionbell peers --let-everybody-in makes it \
            public again.

            Exit status: 0 done, 1 nobody of this name is invited, 69 the node has never run, 78 configuration.

            Example: onionbell revoke alice
            """)

    @OptionGroup var config: ConfigOption

    @Argument(help: "The peer's name in the invitation.")
    var name: String

    package func run() async throws {
        try await config.call("DELETE", "peers/\(name.percentEncoded)")
        let left = try await config.call("GET", "peers")?["clients"]?.array?.count ?? 0
        printLine(
            "\(name)'s invitation is revoked; \(left == 0 ? "no authorized client is left" : "\(left) left")."
        )
    }

    package init() {}
}
