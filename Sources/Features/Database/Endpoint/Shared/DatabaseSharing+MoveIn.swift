/// The statement that moves rows into the backlog.
extension DatabaseSharing {
    /// SQL that moves all that waits of shards into the backlog. All rows of a device wait as long, as in
    /// `Backlog.takeStragglers`.
    static let moveIn = """
        WITH gone AS (DELETE FROM notification WHERE \(PostgreSQLDialect.isOf(1)) RETURNING *),
            device AS (SELECT token_digest, greatest(max(not_before), (SELECT coalesce(max(other.not_before), 0)
                FROM backlog other WHERE other.token_digest = gone.token_digest)) AS latest
                FROM gone GROUP BY token_digest),
            others AS (UPDATE backlog SET not_before = device.latest, rank = 1 FROM device
                WHERE backlog.token_digest = device.token_digest)
        INSERT INTO backlog (sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at,
            attempts, not_before, collapse_id, android, host)
        SELECT sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at, attempts,
            device.latest, collapse_id, android, host
        FROM gone JOIN device USING (token_digest)
        """
}
