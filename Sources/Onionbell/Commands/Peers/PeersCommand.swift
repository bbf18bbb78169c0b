import ArgumentParser
import Programs

/// `onionbell peers`.
struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "Show who is invited.",
        discussion:
            "One name a line; nothing for a node that everybody may use, which is said on standard error.")

    @OptionGroup var invitations: InvitationsOption

    @Flag(help: "Take all invitations back, and let everybody in who knows the address.")
    var letEverybodyIn = false

    func run() async throws {
        try invitations.use { invitations, _ in
            if letEverybodyIn, try invitations.load() != nil { try invitations.makePublic() }
            guard let keys = try invitations.load() else {
                return printError("the node is public: whoever knows its address may come")
            }
            for name in keys.keys.sorted() { printLine(name) }
            if keys.isEmpty { printError("the node is private, and nobody is invited") }
        }
    }
}
