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
        if let node = try invitations.runningNode() {
            if letEverybodyIn { try await node.call("DELETE", "peers") }
            let peers = try await node.call("GET", "peers")
            let names = peers?["clients"]?.array?.compactMap(\.string) ?? []
            return tell(peers?["private"]?.bool == true ? names : nil)
        }
        try invitations.use { invitations, _ in
            if letEverybodyIn, try invitations.load() != nil { try invitations.makePublic() }
            tell(try invitations.load()?.keys.sorted())
        }
    }

    /// - Parameter names: `nil`: the node is public.
    private func tell(_ names: [String]?) {
        guard !format.json else {
            let clients = (names ?? []).map { JSON.string($0) }
            return printLine(JSON.object(["private": .bool(names != nil), "clients": .array(clients)]).text)
        }
        guard let names else {
            return printError("the node is public: everybody who knows its address can connect")
        }
        for name in names { printLine(name) }
        if names.isEmpty { printError("the node is private, and no client is authorized") }
    }
}
