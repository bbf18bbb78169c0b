import ArgumentParser
import Programs

/// `onionbell peers`.
struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List the authorized clients.",
        discussion: """
            Prints one name a line. For a public node it prints nothing, and says so on standard error.
            """)

    @OptionGroup var invitations: InvitationsOption

    @Flag(help: "Revoke all invitations and make the node public.")
    var letEverybodyIn = false

    func run() async throws {
        try invitations.use { invitations, _ in
            if letEverybodyIn, try invitations.load() != nil { try invitations.makePublic() }
            guard let keys = try invitations.load() else {
                return printError("the node is public: everybody who knows its address can connect")
            }
            for name in keys.keys.sorted() { printLine(name) }
            if keys.isEmpty { printError("the node is private, and no client is authorized") }
        }
    }
}
