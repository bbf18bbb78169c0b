import ArgumentParser
import Programs

/// `onionbell revoke`.
struct RevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Take a peer's invitation back.",
        discussion: """
            The peer can't find the node any more; connections that it has open stay until they end. The node stays \
            private, also when nobody is left: onionbell peers --let-everybody-in opens it again.
            """)

    @OptionGroup var invitations: InvitationsOption

    @Argument(help: "The name that the peer was invited under.")
    var name: String

    func run() async throws {
        try invitations.use { invitations, _ in
            try invitations.revoke(name)
            let left = try invitations.load()?.count ?? 0
            printLine("\(name)'s invitation is taken back; \(left == 0 ? "nobody is left" : "\(left) left").")
        }
    }
}
