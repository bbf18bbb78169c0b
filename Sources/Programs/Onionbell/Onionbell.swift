import ArgumentParser
import Client
import FeatureList
import Node
import Processes

#if Bitwarden
    import BitwardenCommands
#endif
#if Mailbox
    import MailboxCommands
#endif

@main
struct Onionbell: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "onionbell",
        abstract: "A push relay that is reached over Tor.",
        discussion: """
            Bisq peers send notifications to the node's onion address. The node stores them safely and \
            passes them, still encrypted, to push services.
            """,
        version: VersionText.text(of: .built),
        groupedSubcommands: [
            CommandGroup(
                name: "First steps",
                subcommands: [
                    InitCommand.self, CheckConfigCommand.self, RunCommand.self, DoctorCommand.self,
                    PointCommand.self,
                    ConsoleCommand.self,
                ]),
            CommandGroup(
                name: "Every day",
                subcommands: [
                    StatusCommand.self, RingsCommand.self, RestartCommand.self, OutboxCommand.self,
                    BackupCommand.self,
                    RestoreCommand.self,
                    KeyCommand.self, WatchCommand.self,
                ]),
            CommandGroup(
                name: "Phones",
                subcommands: [PhonesCommand.self, PairCommand.self, RegisterCommand.self] + ofMailboxes),
            CommandGroup(
                name: "People and programs",
                subcommands: [
                    InviteCommand.self, PeersCommand.self, RevokeCommand.self, RegistrationsCommand.self,
                ] + ofFeatures),
            CommandGroup(name: "Several nodes", subcommands: [StorageCommand.self, ClusterCommand.self]),
            CommandGroup(
                name: "Rehearse",
                subcommands: [DemoForwarding.self, LabForwarding.self, SendCommand.self, DecryptCommand.self]),
        ])

    private static var ofMailboxes: [any ParsableCommand.Type] {
        #if Mailbox
            [MailboxCommand.self, ReceiveCommand.self, BisqAgentCommand.self]
        #else
            []
        #endif
    }

    /// The commands of the features that the program was built with.
    private static var ofFeatures: [any ParsableCommand.Type] {
        #if Bitwarden
            [InstallationCommand.self]
        #else
            []
        #endif
    }

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            var command = try parseAsRoot(words)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            if let sentence = unknownCommand(in: words) {
                printError("onionbell: \(sentence)")
                exit(withError: ExitCode(64))
            }
            exit(withError: error)
        }
    }

    /// Returns the sentence about a word that stands where a command should, and is none; `nil`: it is something else.
    static func unknownCommand(in words: [String]) -> String? {
        var command: any ParsableCommand.Type = Onionbell.self
        var path = "onionbell"
        for word in words {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            let names = subcommands.compactMap { $0.configuration.commandName }
            guard let next = subcommands.first(where: { $0.configuration.commandName == word }) else {
                let hint = nearestName(to: word, among: names).map { "; did you mean \($0)?" }
                return "there is no command \(path) \(plainText(word))"
                    + (hint ?? "; there are \(names.joined(separator: ", "))")
            }
            command = next
            path += " \(word)"
        }
        return nil
    }
}
