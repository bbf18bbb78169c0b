import Foundation

/// A real pgbouncer before it, as Debian has it, which looks each second for a server that was away.
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
        pool_mode = $4
        pidfile = $1/pooler/pid
        server_login_retry = 1
        END
        if [ "$(id -u)" = 0 ]; then chown -R postgres .; fi
        exec < /dev/null >> log 2>&1
        touch serving
        {
            as /usr/sbin/pgbouncer ini || echo "It ended with status $?."
            rm -f serving
        } &
        """
    private static let waiting = """
        until "$bin/pg_isready" -q -h "$1/pooler" -p 5432 -U onionbell; do
            if [ ! -e pooler/serving ]; then
                tail pooler/log >&2
                exit 1
            fi
            sleep 0.05
        done
        """
    private static let stopping = """
        kill -KILL "$(cat pooler/pid)"
        while [ -e pooler/serving ]; do sleep 0.05; done
        """

    /// Of a database in it, by pgbouncer.
    package func poolerURL(_ database: String) -> String {
        "postgresql://onionbell@/\(database)?host=\(directory)/pooler"
    }

    package func startPooler(mode: String = "session") throws {
        // It ends when it is stopped, or with the server.
        try run(Self.pooling, mode)
        try run(Self.waiting)
    }

    /// All connections by it are lost.
    package func stopPooler() throws { try run(Self.stopping) }
}
