import Persistence

/// The tables of the outbox in memory.
enum MemoryTables {
    private static func waiting(_ name: String, _ more: String = "") -> String {
        """
        CREATE TABLE \(name) (
            sequence INTEGER PRIMARY KEY, id, app, flags, token, message, token_digest, accepted_at, expires_at,
            attempts DEFAULT 0, not_before DEFAULT 0, collapse_id, android, host\(more)
        );
        """
    }

    static var all: String {
        """
        CREATE TABLE format (version);
        INSERT INTO format VALUES (\(Schema.version));
        \(waiting("notification"))
        \(waiting("backlog", ", rank DEFAULT 1"))
        \(Schema.backlogIndices)
        CREATE VIEW lane AS
            SELECT app, \(Schema.hostKey()) AS host, count(*) AS waiting, sum(\(Schema.size(in: MemoryDialect()))) AS bytes
            FROM backlog GROUP BY 1, 2;
        CREATE TABLE identity (
            sequence INTEGER PRIMARY KEY, digest, content, accepted_at, ending, reason, detail
        );
        CREATE TABLE dead_token (digest PRIMARY KEY, since, buried_at);
        CREATE TABLE wish (digest PRIMARY KEY, app, host, since, until);
        CREATE TABLE lane_state (
            app, host, written_at, paused_at, paused_until, asked_until, failures, blocked_reason, blocked_since,
            PRIMARY KEY (app, host)
        );
        CREATE TABLE clock (id PRIMARY KEY, trusted, set_at);
        CREATE TABLE door (name PRIMARY KEY, steps);
        """
    }
}
