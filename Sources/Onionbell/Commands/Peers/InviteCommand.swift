import ArgumentParser
import Node
import Programs
import Tor

/// `onionbell invite`: from the first invitation on the node is private.
struct InviteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Let a peer in, and from then on only those invited.",
        discussion: """
            Makes a key for the peer and prints what it puts into its tor. The key is shown once and not kept: give it \
            to the peer by a way that nobody else reads. A running node takes the invitation over within seconds, \
            and its connections stay.
            """)

    @OptionGroup var invitations: InvitationsOption

    @Argument(help: "A name for the peer, for you alone: 1 to 64 letters, digits, - and _.")
    var name: String

    func run() async throws {
        try invitations.use { invitations, directory in
            let key = try OnionKeyFile(path: StateDirectory.onionKey(in: directory)).loadOrCreate()
            let secret = try invitations.invite(name)
            printText(
                """
                \(name) is invited. Either of these goes into \(name)'s tor; it is not shown again.

                A file whose name ends in .auth_private, in the directory of ClientOnionAuthDir in torrc (then reload
                tor), with the line:

                \(secret.line(for: key.address))

                Or a command on tor's control port, in force until that tor ends (add Flags=Permanent to have it kept
                in ClientOnionAuthDir):

                \(secret.commandLine(for: key.address))

                """)
        }
    }
}
