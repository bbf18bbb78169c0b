import ArgumentParser
import Programs

@main
struct Onionbell: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "onionbell",
        abstract: "A push relay that is reached over Tor.",
        discussion: """
            Bisq peers send notifications to the node's onion address. The node stores them safely and passes them, \
            still encrypted, to Apple and Google.
            """,
        version: programVersion,
        subcommands: [
            InitCommand.self, DoctorCommand.self, RunCommand.self, PointCommand.self, StatusCommand.self,
            CheckConfigCommand.self, WatchCommand.self, DemoCommand.self, LabCommand.self, SendCommand.self,
            PairCommand.self, DecryptCommand.self, OutboxCommand.self, KeyCommand.self,
            RegistrationsCommand.self, InstallationCommand.self, InviteCommand.self, RevokeCommand.self,
            PeersCommand.self, PhonesCommand.self, RegisterCommand.self,
        ])
}
