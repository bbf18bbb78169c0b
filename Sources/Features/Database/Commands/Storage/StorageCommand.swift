import ArgumentParser
import DatabaseEndpoint
import Node
import Persistence
import PostgreSQL
import Processes
import Terminal

/// `onionbell storage`: the store in a PostgreSQL database.
package struct StorageCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "storage",
        abstract: "Make, check and copy the store of storage.url.",
        discussion: """
            Without storage.url everything is in the file outbox.sqlite in the state directory, which the node makes. \
            Exit status: 0 done, 1 not sound, 69 the store cannot be opened, 78 an error in the configuration.
            """,
        subcommands: [StorageInitCommand.self, StorageCheckCommand.self, StorageCopyCommand.self])

    package init() {}
}

/// The database of a configured node.
struct StorageOption: ParsableArguments {
    @OptionGroup var config: ConfigOption

    /// Calls `body` with both places that a store can have, while no node runs; every failure becomes a sentence and an exit
    /// status.
    func use(_ body: (_ file: StorePlace, _ database: StorePlace) throws -> Void) throws {
        let settings = try config.settings()
        guard !settings.isStoreFile else {
            throw fail("storage.url is empty: set it to the address of a PostgreSQL database", status: 78)
        }
        do {
            // Its lock keeps the node away.
            let state = try StateDirectory(settings.stateDirectory)
            try body(.file(state.outbox), try settings.store())
        } catch let error as NodeError {
            throw fail(error, status: error.exitStatus)
        } catch let error as StoreError {
            throw fail(error, status: 69)
        }
    }
}

struct StorageInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make the tables in the database, as the node does at its start.",
        discussion: "Example: onionbell storage init")

    @OptionGroup var storage: StorageOption

    func run() throws {
        try storage.use { _, database in
            let summary = try OperatorsOutbox(database, isReadOnly: false).summary()
            printLine("the database holds a store: \(summary.waiting) waiting")
        }
    }
}

struct StorageCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the store in the database, also beside the node.",
        discussion: "Example: onionbell storage check")

    @OptionGroup var config: ConfigOption

    func run() throws {
        let settings = try config.settings()
        guard let feature = settings.feature(DatabaseFeature.self), feature.isWanted else {
            throw fail("storage.url is empty: onionbell outbox check looks at the file", status: 78)
        }
        do {
            let report = try DatabaseReport.read(at: feature.address())
            printLine(
                "PostgreSQL \(report.version), used by \(report.owner.map { "the node on \($0)" } ?? "no node")"
            )
            let file = try OperatorsOutbox(try settings.store(), isReadOnly: true)
            let faults = try file.faults()
            for fault in faults { printLine("  \(fault)") }
            let summary = try file.summary()
            printLine("\(summary.waiting) waiting, \(summary.identities) remembered for repetitions")
            printLine(faults.isEmpty ? "sound" : "not sound")
            guard faults.isEmpty else { throw ExitCode(1) }
        } catch let error as NodeError {
            throw fail(error, status: error.exitStatus)
        } catch let error as StoreError {
            throw fail(error, status: 69)
        } catch let error as PostgreSQLError {
            throw fail(error, status: 69)
        }
    }
}

struct StorageCopyCommand: ParsableCommand {
    enum Direction: String, ExpressibleByArgument, CaseIterable {
        case file, database
    }

    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy everything that is stored from the file into the database, or back.",
        discussion: """
            The node must be stopped. The target must not hold a store yet; a copy that was cut short is begun anew, and \
            no node uses it before it is whole. What is copied from keeps all it has: start no node with it afterwards, or \
            everything that waits is sent twice.

            Example: onionbell storage copy --to database
            """)

    @OptionGroup var storage: StorageOption

    @Option(help: "Where to: file or database.")
    var to: Direction

    func run() throws {
        try storage.use { file, database in
            let copy =
                switch to {
                case .database: try StoreCopy(from: file, to: database)
                case .file: try StoreCopy(from: database, to: file)
                }
            var last: (table: String, rows: Int64)?
            func tell() {
                if let last, last.rows > 0 { printLine("  \(last.table): \(last.rows)") }
            }
            try copy.run { table, rows in
                if table != last?.table { tell() }
                last = (table, rows)
            }
            tell()
            printLine(
                to == .database
                    ? "copied; the node uses the database as long as storage.url is set"
                    : "copied; set storage.url to nothing, so that the node uses the file")
        }
    }
}
