import ArgumentParser
import Glibc
import Node
import Reactor
import Storage

/// `onionbell outbox`: what waits for delivery, for the operator's eyes and hands.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Show, check and change what waits for delivery.",
        discussion: """
            check and list also work while the node runs. For retry and drop, stop the node first. Devices are shown \
            as short keyed digests; tokens and messages are never shown.
            """,
        subcommands: [
            OutboxCheckCommand.self, OutboxListCommand.self, OutboxRetryCommand.self, OutboxDropCommand.self,
        ])
}

/// Finds and opens the outbox of a configured node.
struct OutboxOption: ParsableArguments {
    @OptionGroup var config: ConfigOption

    /// Opens it for reading, also beside the node.
    func read<Value>(
        _ body: (borrowing OutboxFile, _ settings: Settings, _ isRunning: Bool) throws -> Value
    ) throws -> Value {
        let settings = try config.settings()
        return try open(settings) { lock in
            let isRunning = lock == nil
            let file = try OutboxFile(path: try path(in: settings), isReadOnly: isRunning)
            return try body(file, settings, isRunning)
        }
    }

    /// Opens it in place of the node, which must not run.
    func change<Value>(_ body: (borrowing OutboxFile) throws -> Value) throws -> Value {
        let settings = try config.settings()
        return try open(settings) { lock in
            guard lock != nil else {
                throw NodeError.unavailable(
                    """
                    the node runs with \(settings.stateDirectory): stop it first. (With SIGHUP a running node retries at \
                    once what a gateway has blocked.)
                    """)
            }
            return try body(try OutboxFile(path: try path(in: settings), isReadOnly: false))
        }
    }

    private func path(in settings: Settings) throws(NodeError) -> String {
        let path = StateDirectory.outbox(in: settings.stateDirectory)
        guard access(path, F_OK) == 0 else {
            throw .unavailable("there is no outbox in \(settings.stateDirectory) yet: the node creates it")
        }
        return path
    }

    /// Holds the node's lock meanwhile, if it is free; every failure becomes a sentence and an exit status.
    private func open<Value>(
        _ settings: Settings, _ body: (borrowing StateDirectory?) throws -> Value
    ) throws -> Value {
        do {
            let lock = try StateDirectory(ofStoppedNode: settings.stateDirectory)
            return try body(lock)
        } catch let error as NodeError {
            throw fail(error, status: error.exitStatus)
        } catch let error as SQLiteError {
            throw fail(error.explained(path: StateDirectory.outbox(in: settings.stateDirectory)), status: 69)
        }
    }
}

/// Which notifications a command is for.
struct OutboxSelection: ParsableArguments {
    @Argument(help: ArgumentHelp("Sequence numbers, as in the output of list.", valueName: "sequence"))
    var sequences: [Int64] = []

    @Option(help: "All notifications that wait for this app.")
    var app: String?

    @Flag(help: "All waiting notifications.")
    var all = false

    func validate() throws {
        guard (sequences.isEmpty ? 0 : 1) + (app == nil ? 0 : 1) + (all ? 1 : 0) == 1 else {
            throw ValidationError("sequence numbers, --app NAME or --all are required")
        }
    }

    var selection: OutboxFile.Selection {
        if all { return .all }
        return app.map { .app($0) } ?? .sequences(sequences)
    }
}
