import ArgumentParser
import Client
import FeatureList
import Node
import Processes

#if Bitwarden
    import BitwardenCommands
#endif
#if Database
    import DatabaseCommands
#endif
#if Mailbox
    import MailboxCommands
#endif
#if Owner
    import OwnerCommands
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
                ] + firstOfOwner),
            CommandGroup(
                name: "Every day",
                subcommands: everyDay),
            CommandGroup(
                name: "Phones",
                subcommands: ofPhones),
        ] + ofPeople + severalNodes + [
            CommandGroup(
                name: "Rehearse",
                subcommands: [DemoForwarding.self, LabForwarding.self, SendCommand.self, DecryptCommand.self])
        ])

    // MARK: With the commands of the features that the program was built with

    private static var firstOfOwner: [any ParsableCommand.Type] {
        #if Owner
            [PointCommand.self, ConsoleCommand.self]
        #else
            []
        #endif
    }

    private static var everyDay: [any ParsableCommand.Type] {
        #if Owner
            [
                StatusCommand.self, RingsCommand.self, RestartCommand.self, OutboxCommand.self,
                BackupCommand.self, RestoreCommand.self, KeyCommand.self, WatchCommand.self,
            ]
        #else
            [StatusCommand.self, RestartCommand.self, KeyCommand.self, WatchCommand.self]
        #endif
    }

    private static var ofPhones: [any ParsableCommand.Type] {
        var commands: [any ParsableCommand.Type] = [PairCommand.self]
        #if Owner
            commands = [PhonesCommand.self] + commands + [RegisterCommand.self]
        #endif
        #if Mailbox
            commands += [MailboxCommand.self, ReceiveCommand.self, BisqAgentCommand.self]
        #endif
        return commands
    }

    private static var ofPeople: [CommandGroup] {
        var commands: [any ParsableCommand.Type] = []
        #if Owner
            commands += [
                InviteCommand.self, PeersCommand.self, RevokeCommand.self, RegistrationsCommand.self,
            ]
        #endif
        #if Bitwarden
            commands.append(InstallationCommand.self)
        #endif
        return commands.isEmpty
            ? [] : [CommandGroup(name: "People and programs", subcommands: commands)]
    }

    private static var severalNodes: [CommandGroup] {
        #if Database
            [CommandGroup(name: "Several nodes", subcommands: [StorageCommand.self, ClusterCommand.self])]
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
