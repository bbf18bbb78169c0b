import ArgumentParser
import JSONCoding
import Programs
import Tor

/// `onionbell revoke`.
struct RevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a peer's invitation.",
        discussion: """
            The peer is shut out within seconds. All open connections end, and the other clients connect again. The \
            node stays private even if no authorized client is left; onionbell peers --let-everybody-in makes it \
            public again.

            Example: onionbell revoke alice
            """)

    @OptionGroup var invitations: InvitationsOption

    @Argument(help: "The peer's name in the invitation.")
    var name: String

    func run() async throws {
        // It becomes part of a path.
        if Invitations.isName(name), let node = try invitations.runningNode() {
            try await node.call("DELETE", "peers/\(name)", refusal: InvitationsOption.refusal)
            return tell(left: try await node.call("GET", "peers")?["clients"]?.array?.count ?? 0)
        }
        try invitations.use { invitations, _ in
            try invitations.revoke(name)
            tell(left: try invitations.load()?.count ?? 0)
        }
    }

    private func tell(left: Int) {
        printLine(
            "\(name)'s invitation is revoked; \(left == 0 ? "no authorized client is left" : "\(left) left")."
        )
    }
}
