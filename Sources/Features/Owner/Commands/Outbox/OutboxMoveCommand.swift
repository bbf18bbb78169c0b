import ArgumentParser
import CallsCommands
import JSONCoding
import Processes
import Terminal

/// `onionbell outbox move`: what waits for an app that was renamed or closed goes to another one.
struct OutboxMoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Give the notifications that wait for one app to another.",
        discussion: """
            For an app that has another name now, or that another one has replaced. The phones must be those of the \
            other app: its gateway refuses the others. A running node moves them only if the first app is not in its \
            settings, or has no credentials, and the other one has credentials. All are moved, or none.

            Exit status: 0 moved, 1 the node refuses it, 69 there is no outbox, 75 not now, and nothing was moved; 78 \
            configuration.

            Example: onionbell outbox move --app old-name --to new-name
            """)

    @OptionGroup var config: ConfigOption

    @Option(help: "The app for which they wait.")
    var app: String

    @Option(name: .customLong("to"), help: "The app that gets them, by its name in the settings.")
    var other: String

    func validate() throws {
        guard app != other else { throw ValidationError("--app and --to are the same") }
    }

    func run() async throws {
        let done = try await config.call("POST", "waiting/move", ["app": .string(app), "to": .string(other)])
        printLine("\(done?["count"]?.integer ?? 0) moved")
    }
}
