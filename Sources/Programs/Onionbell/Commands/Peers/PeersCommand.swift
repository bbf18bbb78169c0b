import ArgumentParser
import JSONCoding
import Programs

/// `onionbell peers`.
struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List the authorized clients.",
        discussion: """
            Prints one name a line. For a public node it prints nothing, and says so on standard error. With --json an \
            object: private, clients.

            Example: onionbell peers --json
            """)

    @OptionGroup var invitations: InvitationsOption

    @OptionGroup var format: JSONOption

    @Flag(help: "Revoke all invitations and make the node public.")
    var letEverybodyIn = false

    func run() async throws {
        try invitations.use { invitations, _ in
            if letEverybodyIn, try invitations.load() != nil { try invitations.makePublic() }
            let keys = try invitations.load()
            guard !format.json else {
                let names = (keys ?? [:]).keys.sorted().map { JSON.string($0) }
                return printLine(
                    JSON.object(["private": .bool(keys != nil), "clients": .array(names)]).text)
            }
            guard let keys else {
                return printError("the node is public: everybody who knows its address can connect")
            }
            for name in keys.keys.sorted() { printLine(name) }
            if keys.isEmpty { printError("the node is private, and no client is authorized") }
        }
    }
}
