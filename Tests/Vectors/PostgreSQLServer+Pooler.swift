import Foundation

/// A real pgbouncer in session mode before it, as Debian has it, which looks each second for a server that was away.
extension PostgreSQLServer {
    private static let pooling = """
        mkdir -p "$1/pooler"
        cd "$1/pooler"
        rm -f pid .s.PGSQL.5432
        echo '"onionbell" ""' > users
        cat > ini <<END
        [databases]
        * = host=$1 port=$3
        [pgbouncer]
        unix_socket_dir = $1/pooler
        listen_port = 5432
        auth_type = trust
        auth_file = $1/pooler/users
        pool_mode = session
        pidfile = $1/pooler/pid
        server_login_retry = 1
        END
        if [ "$(id -u)" = 0 ]; then chown -R postgres .; fi
        as /usr/sbin/pgbouncer ini < /dev/null >> log 2>&1
        """
    private static let waiting = """
        for _ in $(seq 200); do
            "$bin/pg_isready" -q -h "$1/pooler" -p 5432 -U onionbell && exit 0
            sleep 0.05
        done
        exit 1
        """
    private static let stopping = """
        pid=$(cat "$1/pooler/pid")
        kill -KILL "$pid"
        for _ in $(seq 200); do
            kill -0 "$pid" 2>/dev/null || exit 0
            sleep 0.05
        done
        exit 1
        """

    /// Of a database in it, by pgbouncer.
    package func poolerURL(_ database: String) -> String {
        "postgresql://onionbell@/\(database)?host=\(directory)/pooler"
    }

    package func startPooler() throws {
        // It ends when it is stopped, or with the server.
        _ = try run(Self.pooling)
        try finish(try run(Self.waiting), "pgbouncer")
    }

    /// All connections by it are lost.
    package func stopPooler() throws { try finish(try run(Self.stopping), "pgbouncer") }
}
