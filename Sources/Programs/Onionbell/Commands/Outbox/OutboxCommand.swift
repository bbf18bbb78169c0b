import ArgumentParser
import Encodings
import Glibc
import Node
import Persistence
import Reactor
import Relay

/// `onionbell outbox`: what waits for delivery, for the operator's eyes and hands.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Show, check and change what waits for delivery.",
        discussion: """
            All of them also work while the node runs: it is asked through the socket in its state directory, which \
            only its user can open. Devices are shown as short keyed digests; tokens and messages are never shown.
            """,
        subcommands: [
            OutboxCheckCommand.self, OutboxListCommand.self, OutboxRetryCommand.self, OutboxDropCommand.self,
            OutboxMoveCommand.self,
        ])
}

/// Finds and opens the outbox of a configured node.
struct OutboxOption: ParsableArguments {
    @OptionGroup var config: ConfigOption

    /// Opens it for reading, also beside the node, and changes nothing.
    func read<Value>(
        _ body: (borrowing OutboxFile, _ settings: Settings, _ isRunning: Bool) throws -> Value
    ) throws -> Value {
        let settings = try config.settings()
        return try open(settings) { lock in
            let isRunning = lock == nil
            let file = try OutboxFile(try store(in: settings), for: isRunning ? .reading : .inspecting)
            return try body(file, settings, isRunning)
        }
    }

    /// Opens it in place of the node, or asks the node that runs.
    ///
    /// - Returns: How many notifications it was about, and whether a node was asked.
    func change(
        orAsk target: String, _ sequences: [Int64] = [], _ body: (borrowing OutboxFile) throws -> Int
    ) async throws -> (count: Int, isRunning: Bool) {
        let settings = try config.settings()
        let changed: Int? = try open(settings) { lock in
            guard lock != nil else { return nil }
            return try body(try OutboxFile(try store(in: settings), isReadOnly: false))
        }
        if let changed { return (changed, false) }
        let numbers = sequences.map(String.init).joined(separator: ",")
        let answer = try await NodeSocket(config).post(target, Array(numbers.utf8))
        let text = String(decoding: answer.body, as: UTF8.self).trimmingLineEnd
        guard answer.status == 200, let count = Int(text) else {
            throw fail("the node answers \(answer.status): \(text)", status: 1)
        }
        return (count, true)
    }

    private func store(in settings: Settings) throws(NodeError) -> StorePlace {
        let store = try settings.store()
        guard case .file(let path) = store, access(path, F_OK) != 0 else { return store }
        throw .unavailable(
            "there is no outbox in \(settings.stateDirectory) yet: the node creates it when it starts for the first time"
        )
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

    private var laneHost: LaneHost? { sandbox ? .sandbox : host.map { LaneHost($0) } }

    var selection: OutboxFile.Selection {
        sequences.isEmpty ? .lanes(app: app, host: laneHost) : .sequences(sequences)
    }

    /// The same for a node that runs, but for the numbers.
    var query: String {
        [("app", app), ("host", laneHost?.name)].compactMap { name, value in
            value.map { "\(name)=\($0.percentEncoded)" }
        }.joined(separator: "&")
    }
}

extension String {
    /// For a value of a query.
    var percentEncoded: String {
        var text: [UInt8] = []
        for byte in utf8 {
            text += [UInt8(ascii: "%")] + Hex.encode([byte]).utf8
        }
        return String(decoding: text, as: UTF8.self)
    }

    fileprivate var trimmingLineEnd: String { String(prefix { $0 != "\n" && $0 != "\r\n" }) }
}
