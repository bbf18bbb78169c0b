import ArgumentParser
import JSONCoding

/// `onionbell outbox`: what waits for delivery, for the operator's eyes and hands.
package struct OutboxCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Show, check and change what waits for delivery.",
        discussion: """
            A running node does what they say, by the calls of its console: it is asked through the socket in its state \
            directory, which only its user can open. In place of a stopped node its store is used. Devices are shown as \
            short keyed digests; tokens and messages are never shown.
            """,
        subcommands: [
            OutboxCheckCommand.self, OutboxListCommand.self, OutboxRetryCommand.self, OutboxDropCommand.self,
            OutboxMoveCommand.self,
        ])

    package init() {}
}

/// Which notifications a command is for.
struct OutboxSelection: ParsableArguments {
    @Argument(help: ArgumentHelp("Sequence numbers, as in the output of list.", valueName: "sequence"))
    var sequences: [Int64] = []

    @Option(help: "All notifications that wait for this app.")
    var app: String?

    @Option(
        help: ArgumentHelp(
            "Those that wait for this host: production, sandbox, or the https:// origin of a push server.",
            valueName: "host"))
    var host: String?

    @Flag(help: "The same as --host sandbox: Apple's host for apps that their developers built.")
    var sandbox = false

    @Flag(help: "All waiting notifications.")
    var all = false

    func validate() throws {
        let isOfLanes = app != nil || host != nil || sandbox
        guard (sequences.isEmpty ? 0 : 1) + (isOfLanes ? 1 : 0) + (all ? 1 : 0) == 1 else {
            throw ValidationError(
                "sequence numbers, --app NAME, --host HOST, --sandbox or --all are required")
        }
        guard host == nil || !sandbox else { throw ValidationError("--host or --sandbox, not both") }
        guard sequences.count <= 1000 else { throw ValidationError("1000 numbers at a time") }
    }

    /// The selection as a call's body has it.
    var body: JSON {
        guard sequences.isEmpty else { return ["sequences": .array(sequences.map { .integer($0) })] }
        var members = JSON.Object()
        members["app"] = app.map { .string($0) }
        members["host"] = (sandbox ? "sandbox" : host).map { .string($0) }
        return .object(members)
    }
}
