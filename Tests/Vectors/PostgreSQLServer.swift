import Foundation

/// A real PostgreSQL on a socket in a directory of its own, for the tests of one process. It ends with the process, however
/// that ends, and its directory goes with it.
package final class PostgreSQLServer: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Of the socket too.
    package let directory: String
    /// Its end closes the pipe that the process of ``guarding`` waits at.
    private let pipe = Pipe()

    /// Made by the first test that asks. `fsync` is off: no test cuts the power of this machine.
    package static let shared = Result { try PostgreSQLServer() }

    /// Runs Debian's programs as the user `postgres`, since a server refuses to run as root.
    private static let preparation = """
        set -eu
        bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
        as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else "$@"; fi; }
        cd "$1"
        """
    private static let making = """
        if [ "$(id -u)" = 0 ]; then chown postgres "$1"; fi
        as "$bin/initdb" -D "$1/data" -U onionbell --auth=trust --no-sync --no-instructions -E UTF8 --locale=C.UTF-8 >&2
        """
    private static let serving = """
        as "$bin/postgres" -D "$1/data" -k "$1" -c listen_addresses= -c fsync=off -c max_connections=200 \
            -c shared_buffers=32MB < /dev/null >> "$1/log" 2>&1
        """
    private static let waiting = """
        for _ in $(seq 200); do
            "$bin/pg_isready" -q -h "$1" -U onionbell && exit 0
            sleep 0.05
        done
        exit 1
        """
    private static let stopping = """
        pid=$(head -n 1 "$1/data/postmaster.pid")
        kill -QUIT "$pid"
        for _ in $(seq 200); do
            kill -0 "$pid" 2>/dev/null || exit 0
            sleep 0.05
        done
        exit 1
        """
    private static let guarding = """
        cat > /dev/null
        kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")" || true
        sleep 0.2
        rm -rf "$1"
        """

    /// Of its own, for tests that stop it.
    package init() throws {
        directory = "/tmp/onionbell-pg-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let guardian = try run(Self.guarding, stdin: pipe)
        do {
            try finish(try run(Self.making))
            try start()
        } catch {
            pipe.fileHandleForWriting.closeFile()
            guardian.waitUntilExit()
            throw error
        }
    }

    deinit { pipe.fileHandleForWriting.closeFile() }

    private func run(_ script: String, stdin: Pipe? = nil) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", Self.preparation + "\n" + script, "sh", directory]
        process.standardInput = stdin ?? FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func finish(_ process: Process) throws {
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                description: "PostgreSQL can't be started: install it with Deploy/dependencies test")
        }
    }

    package func start() throws {
        // It ends when it is stopped.
        _ = try run(Self.serving)
        try finish(try run(Self.waiting))
    }

    /// As a loss of power would.
    package func stopImmediately() throws {
        try finish(try run(Self.stopping))
    }

    /// Of a database in it, in the form of `storage.url`.
    package func url(_ database: String) -> String {
        "postgresql://onionbell@/\(database)?host=\(directory)"
    }

    /// Runs SQL in a database.
    @discardableResult
    package func psql(_ database: String, _ sql: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", url(database), "-c", sql,
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "psql failed: \(sql)") }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Makes an empty database.
    package func makeDatabase() throws -> String {
        let name = "test_\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
        try psql("postgres", "CREATE DATABASE \(name)")
        return name
    }
}
