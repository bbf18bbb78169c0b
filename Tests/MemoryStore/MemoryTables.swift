import Persistence

/// The tables in memory: those of the outbox, its format, and the sums of lanes.
enum MemoryTables {
    static var all: String {
        """
        CREATE TABLE format (version);
        INSERT INTO format VALUES (\(Schema.version));
        \(Schema.statements(in: MemoryDialect()))
        CREATE VIEW lane AS
            SELECT app, \(Schema.hostKey()) AS host, count(*) AS waiting, sum(\(Schema.size(in: MemoryDialect()))) AS bytes
            FROM backlog GROUP BY 1, 2;
        """
    }
}
