import Glibc
import Processes
import Reactor

/// A real PostgreSQL, as Debian has it, on a socket in a directory of its own. It ends with this process, however that ends.
@EventLoop
package final class LabDatabase {
    /// The name of the user and of the database.
    package nonisolated static let name = "onionbell"

    private let programs: String
    private let directory: LabDirectory
    private let settings: [String]
    private var server: LabProgram

    /// The address of the database in the form of `storage.url`.
    package var url: String { "postgresql://\(LabDatabase.name)@/\(LabDatabase.name)?host=\(directory.path)" }
    /// The process that the others of the server are children of; `nil` when it is gone.
    package var processID: Int32? { server.processID }

    /// Starts a new PostgreSQL.
    ///
    /// - Parameter settings: `NAME=VALUE` each, beside PostgreSQL's defaults.
    package static func start(settings: [String] = []) async throws(LabError) -> LabDatabase {
        let programs = try programs(under: "/usr/lib/postgresql")
        let directory = try LabDirectory()
        do {
            try giveAway(directory)
            let made = [
                "initdb", "--pgdata=\(directory.path)/data", "--username=\(name)", "--auth=trust",
                "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions",
            ]
            _ = try await tool(command(made, programs, directory))
            let database = try LabDatabase(programs, directory, settings)
            try await database.opened()
            try await database.query("CREATE DATABASE \(name)", in: "postgres")
            return database
        } catch {
            await directory.remove()
            throw error
        }
    }

    private init(_ programs: String, _ directory: LabDirectory, _ settings: [String]) throws(LabError) {
        self.programs = programs
        self.directory = directory
        self.settings = settings
        server = try LabDatabase.serve(programs, directory, settings)
    }

    private static func serve(
        _ programs: String, _ directory: LabDirectory, _ settings: [String]
    ) throws(LabError) -> LabProgram {
        let serving =
            ["postgres", "-D", "\(directory.path)/data", "-k", directory.path, "-c", "listen_addresses="]
            + settings.flatMap { ["-c", $0] }
        do { return try LabProgram(command(serving, programs, directory)) } catch { throw .files(error) }
    }

    /// Returns when it takes connections.
    private func opened() async throws(LabError) {
        await server.wait {
            $0.exit != nil || $0.lines.contains { $0.contains("ready to accept connections") }
        }
        guard let exit = server.exit else { return }
        throw .tool(.ended("postgres", exit, output: server.lines.suffix(4).joined(separator: " / ")))
    }

    /// Runs SQL; gives the rows, with `|` between their columns.
    @discardableResult
    package func query(_ sql: String, in database: String = LabDatabase.name) async throws(LabError)
        -> [String]
    {
        try await LabDatabase.tool([
            "\(programs)/psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only",
            "--set=ON_ERROR_STOP=1", "--host=\(directory.path)", "--username=\(LabDatabase.name)",
            "--command=\(sql)", database,
        ])
    }

    /// Stops the server by a signal: SIGINT in order, SIGQUIT as a loss of power would.
    package func end(by signal: Int32) async { await server.end(by: signal) }

    /// Starts the server again after ``end(by:)``, with what it had.
    package func startAgain() async throws(LabError) {
        server = try LabDatabase.serve(programs, directory, settings)
        try await opened()
    }

    /// Stops the server, and removes what it had.
    package func stop() async {
        if server.exit == nil { await server.end(by: SIGINT) }
        await directory.remove()
    }

    private static func tool(_ arguments: [String]) async throws(LabError) -> [String] {
        do throws(ToolError) { return try await Tool(arguments).finish() } catch { throw .tool(error) }
    }

    // MARK: Where it is, and who runs it

    /// Returns the directory of the newest version's programs.
    package nonisolated static func programs(under path: String) throws(LabError) -> String {
        var versions: [Int] = []
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if let version = Int(name) { versions.append(version) }
            }
            closedir(directory)
        }
        let newest = versions.sorted(by: >).map { "\(path)/\($0)/bin" }.first {
            access("\($0)/initdb", X_OK) == 0 && access("\($0)/postgres", X_OK) == 0
        }
        guard let newest else { throw .missing("PostgreSQL", package: "postgresql") }
        return newest
    }

    /// Gives the directory to the user that Debian's package has made, if this process is root's: PostgreSQL
    /// refuses to run as root, and runs as that user then.
    private static func giveAway(_ directory: LabDirectory) throws(LabError) {
        guard geteuid() == 0 else { return }
        guard let user = getpwnam("postgres") else { throw .missing("PostgreSQL", package: "postgresql") }
        guard chown(directory.path, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
            throw .files(SystemError("give \(directory.path) to the user postgres"))
        }
    }

    private static func command(
        _ arguments: [String], _ programs: String, _ directory: LabDirectory
    ) -> [String] {
        // A change of user makes the kernel forget the signal that comes when the parent ends.
        ["env", "--chdir=\(directory.path)", "setpriv", "--pdeathsig=QUIT"]
            + (geteuid() == 0 ? ["--reuid=postgres", "--regid=postgres", "--clear-groups"] : [])
            + ["\(programs)/\(arguments[0])"] + arguments.dropFirst()
    }
}
