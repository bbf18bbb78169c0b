import Foundation
import Glibc
import Processes
import Reactor

/// A real PostgreSQL on a socket in a directory of its own, for the tests of one process. It ends with the process, however
/// that ends, and its directory goes with it.
package final class PostgreSQLServer: Sendable {
    /// A file system of its own, of so many megabytes.
    package enum SmallDisk: Sendable {
        /// For ``makeSmallDatabase()``.
        case tables(Int)
        /// For the write-ahead log of all databases, of which nothing is removed.
        case log(Int)
    }

    /// Of the socket too.
    package let directory: String
    /// Of TLS on 127.0.0.1, where there is any: the server proves with a certificate of `ca.crt` that it is `db.example`.
    package let port: Int
    private let settings: [String]
    private let primary: String
    private let small: SmallDisk?
    /// Its clocks, where they are its own.
    package let clocks: ShiftedClocks?
    /// Of the user `onionbell` over TLS. On the socket it needs none.
    package static let password = "word of the database"
    /// Of the named pipe at which the process of ``guarding`` waits. The end of this process closes it.
    private let held: CInt

    /// Made by the first test that asks. `fsync` is off: no test cuts the power of this machine.
    package static let shared = Result { try PostgreSQLServer() }

    /// Memory, where it has four gigabytes for files: a database is 300 of them, and a disk takes a third of a test's time to
    /// find places for so many.
    private static let place: String = {
        let memory = "/dev/shm"
        var room = statvfs()
        let isThere = access(memory, W_OK) == 0 && statvfs(memory, &room) == 0
        return isThere && UInt64(room.f_bavail) * UInt64(room.f_frsize) >= 4 << 30 ? memory : "/tmp"
    }()

    /// Runs Debian's programs as the user `postgres`, since a server refuses to run as root.
    private static let preparation = """
        set -eu
        bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
        as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else "$@"; fi; }
        cd "$1"
        if [ "$(id -u)" = 0 ]; then chown postgres "$1"; fi
        """
    private static let making = """
        segment=16
        if [ "$6" = log ]; then segment=1; fi
        chmod 644 "$1/password"
        as "$bin/initdb" -D "$1/data" -U onionbell --auth-local=trust --auth-host=scram-sha-256 \
            --pwfile="$1/password" --wal-segsize=$segment --no-sync --no-instructions -E UTF8 --locale=C.UTF-8 >&2
        """
    private static let copying = """
        as "$bin/pg_basebackup" -h "$4" -U onionbell -D "$1/data" -R -X stream
        """
    private static let certifying = """
        new="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        for name in ca stranger; do
            openssl req -x509 $new -keyout $name.key -out $name.crt -subj "/CN=$name" -days 2
        done
        openssl req $new -keyout server.key -out server.csr -subj /CN=server
        echo subjectAltName=DNS:db.example > names
        openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt -days 2 -extfile names
        chmod 644 *.crt
        chmod 600 *.key
        if [ "$(id -u)" = 0 ]; then chown postgres server.key; fi
        """
    /// Only the server sees the small file system. Whoever is not root is that for the time of mounting it, in a namespace. It
    /// lasts as long as the process `holder`, which starts the server again when it has ended, as its service does.
    private static let serving = """
        directory="$1"
        size="$5"
        kind="$6"
        mounted() {
            mount='mount -t tmpfs -o "$0" tmpfs "$1" && shift && exec "$@"'
            mkdir -p "$directory/small"
            if [ "$(id -u)" = 0 ]; then
                unshare -m sh -c "$mount" "size=${size}m,mode=700,uid=$(id -u postgres)" "$directory/small" \
                    setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
            else
                unshare -rm sh -c "$mount" "size=${size}m,mode=700" "$directory/small" \
                    unshare --user --map-user="$(id -u)" --map-group="$(id -g)" "$@"
            fi
        }
        holding='
            echo $$ > holder
            if [ "$0" = log ]; then
                mv data/pg_wal small/log
                ln -s ../small/log data/pg_wal
            fi
            while [ -e data/PG_VERSION ]; do
                "$@" || sleep 0.2
            done'
        set -- "$bin/postgres" -D "$1/data" -k "$1" -c listen_addresses= -c fsync=off -c max_connections=200 \
            -c shared_buffers=32MB $2
        if [ "$kind" = log ]; then set -- "$@" -c wal_keep_size=1GB; fi
        exec < /dev/null >> "$directory/log" 2>&1
        touch serving
        {
            if [ "$size" != 0 ]; then mounted sh -c "$holding" "$kind" "$@"; else as "$@"; fi || echo "It ended with status $?."
            rm -f serving
        } &
        """
    private static let filling = """
        file=/proc/$(cat holder)/root$1/small/filling
        rm -f "$file"
        if [ "$4" = full ]; then dd if=/dev/zero of="$file" bs=16k || true; fi
        """
    /// Until it takes connections, as long as it runs.
    private static let waiting = """
        until "$bin/pg_isready" -q -h "$1" -p "$3" -U onionbell; do
            if [ ! -e serving ]; then
                tail log >&2
                exit 1
            fi
            sleep 0.05
        done
        """
    private static let stopping = """
        kill -QUIT "$(head -n 1 data/postmaster.pid)"
        while [ -e serving ]; do sleep 0.05; done
        """
    /// A copy of all that a server has that is stopped, and back again.
    private static let keeping = """
        rm -rf "$1/backup"
        cp -a "$1/data" "$1/backup"
        """
    private static let takingBack = """
        rm -rf "$1/data"
        cp -a "$1/backup" "$1/data"
        """
    /// Debian's `psql` is a Perl script that looks for this one.
    private static let asking = #"exec "$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)/psql" "$@""#
    private static let guarding = """
        exec 3< held
        {
            # Who interrupts the tests does not mean this.
            trap '' INT TERM
            cat <&3
            kill -QUIT "$(head -n 1 data/postmaster.pid)" || true
            if [ -e pooler/pid ]; then kill "$(cat pooler/pid)" || true; fi
            # The server may write to its end.
            until rm -rf "$1"; do sleep 0.2; done
        } > /dev/null 2>&1 &
        """

    /// Of its own, for tests that stop it.
    ///
    /// - Parameters:
    ///   - primary: What it is a standby server of, until ``promote()``.
    ///   - small: A file system that ``fillSmall(_:)`` fills; the server must not be stopped then.
    package init(
        withTLS: Bool = false, standbyOf primary: PostgreSQLServer? = nil, small: SmallDisk? = nil,
        withClocks: Bool = false
    ) throws {
        self.primary = primary?.directory ?? ""
        self.small = small
        port = withTLS ? try Int(freePort()) : 5432
        settings =
            withTLS
            ? [
                "listen_addresses=127.0.0.1", "port=\(port)", "ssl=on", "ssl_cert_file=../server.crt",
                "ssl_key_file=../server.key",
            ] : []
        // Nothing can be run from memory, and no library be loaded.
        directory = "\(withClocks ? "/tmp" : Self.place)/onionbell-pg-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        clocks = withClocks ? try ShiftedClocks(in: directory) : nil
        guard mkfifo(directory + "/held", 0o600) == 0 else { throw SystemError("mkfifo") }
        // For both directions: so it opens before anybody reads.
        held = open(directory + "/held", O_RDWR | O_CLOEXEC)
        guard held >= 0 else { throw SystemError("open a named pipe") }
        // From here on it goes with this object, also when this throws.
        try run(Self.guarding)
        try Self.password.write(toFile: directory + "/password", atomically: false, encoding: .utf8)
        try run(primary == nil ? Self.making : Self.copying)
        if withTLS { try run(Self.certifying) }
        try start()
    }

    deinit { close(held) }

    func run(_ script: String, _ word: String? = nil) throws(ToolError) {
        let (size, kind) =
            switch small {
            case nil: (0, "")
            case .tables(let size): (size, "tables")
            case .log(let size): (size, "log")
            }
        let program = [
            "/bin/sh", "-c", Self.preparation + "\n" + script, "sh", directory,
            settings.map { "-c \($0)" }.joined(separator: " "), "\(port)", word ?? primary, "\(size)", kind,
        ]
        try ProgramRun(program, environment: clocks?.variables ?? [:]).succeeded()
    }

    package func start() throws {
        try run(Self.serving)
        try run(Self.waiting)
    }

    /// As a loss of power would.
    package func stopImmediately() throws {
        try run(Self.stopping)
    }

    /// From now on its commits wait for its standby server.
    package func waitForStandby() throws {
        try psql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'")
        try psql("postgres", "SELECT pg_reload_conf()")
        while try psql("postgres", "SELECT sync_state FROM pg_stat_replication") != "sync" { usleep(50_000) }
    }

    /// Its standby server has written all that it has.
    package func waitUntilStandbyHasAll() throws {
        let query = "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn = pg_current_wal_lsn()"
        while try psql("postgres", query) != "1" { usleep(50_000) }
    }

    /// Of a server that is stopped.
    package func keepBackup() throws { try run(Self.keeping) }

    /// All since ``keepBackup()`` is gone.
    package func takeBackup() throws { try run(Self.takingBack) }

    package func promote() throws { try psql("postgres", "SELECT pg_promote()") }

    /// Of a database in it, in the form of `storage.url`.
    package func url(_ database: String) -> String {
        "postgresql://onionbell@/\(database)?host=\(directory)&port=\(port)"
    }

    /// Of a database in it, over TLS.
    package func url(_ database: String, host: String, authority: String) -> String {
        "postgresql://onionbell@\(host):\(port)/\(database)?hostaddr=127.0.0.1&sslrootcert=\(directory)/\(authority).crt"
    }

    /// Runs SQL in a database.
    @discardableResult
    package func psql(_ database: String, _ sql: String) throws -> String {
        try ProgramRun([
            "/bin/sh", "-c", Self.asking, "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
            url(database), "-c", sql,
        ]).succeeded().text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Of how many shards each living node of a database is the owner, the least first.
    package func shards(_ database: String) throws -> [Int] {
        let query = """
            SELECT count(*) FROM onionbell.shard JOIN onionbell.node USING (owner)
            WHERE until > clock_timestamp() GROUP BY owner
            """
        return try psql(database, query).split(separator: "\n").compactMap { Int($0) }.sorted()
    }

    /// Makes an empty database whose tables lie on the small file system.
    package func makeSmallDatabase() throws -> String {
        try psql("postgres", "CREATE TABLESPACE small LOCATION '\(directory)/small'")
        try psql("postgres", "CREATE DATABASE small TABLESPACE small")
        return "small"
    }

    /// Takes all that is free on the small file system, or gives it back.
    package func fillSmall(_ isFull: Bool) throws {
        try run(Self.filling, isFull ? "full" : "free")
    }

    /// Makes an empty database.
    package func makeDatabase() throws -> String {
        let name = "test_\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
        try psql("postgres", "CREATE DATABASE \(name)")
        return name
    }
}
