import Clocks
import Persistence
import Reactor
import Relay

/// The census of those who share a database: asked for about once a second, and less often where the answer
/// takes long.
final class Census {
    private let nodes: Statement
    private let unseen: Statement
    /// The time from which on it is taken again.
    private var next: MonotonicTime = 0

    private static let interval: Duration = .seconds(1)
    /// The least part of the time that it leaves for all else.
    private static let rest = 20
    /// The most nodes that are listed.
    private static let mostNodes = 64

    init(_ connection: borrowing Connection) throws(StoreError) {
        nodes = try Statement(
            """
            SELECT number, name, version, owner = ?1,
                \(DatabaseSchema.leaseAge), waiting, bytes, oldest,
                CASE WHEN owner = ?1 THEN ?2 - \(DatabaseSchema.clock) ELSE clock_ahead END,
                (SELECT string_agg(CAST(shard.number AS TEXT), ',') FROM shard WHERE shard.owner = node.owner)
            FROM node ORDER BY node.number LIMIT \(Census.mostNodes)
            """, on: connection)
        unseen = try Statement(
            """
            SELECT CAST(get_byte(token_digest, 0) AS BIGINT), count(*),
                CAST(sum(\(Schema.size(in: connection.dialect))) AS BIGINT), min(accepted_at)
            FROM backlog WHERE late GROUP BY 1
            """, on: connection)
    }

    /// Takes the census, if it is time.
    ///
    /// - Returns: `nil`: it is not time yet.
    func take(for owner: [UInt8]) throws(StoreError) -> SharedNodes? {
        let begun = EventLoop.now
        guard begun >= next else { return nil }
        var found = SharedNodes(try nodes(owner), unseenOfNobody: NodeFigures())
        var places = [Int?](repeating: nil, count: Shards.total)
        for (place, node) in found.nodes.enumerated() {
            for shard in node.shards.numbers { places[shard] = place }
        }
        defer { unseen.reset() }
        while try unseen.step() {
            let figures = NodeFigures(
                waiting: Int(unseen.integer(1)), bytes: Int(unseen.integer(2)),
                oldestAcceptedAt: unseen.time(3))
            if let place = places[Int(unseen.integer(0)) & 255] {
                found.nodes[place].unseen += figures
            } else {
                found.unseenOfNobody += figures
            }
        }
        let taken = EventLoop.now - begun
        next = begun + max(Census.interval, taken * Census.rest)
        return found
    }

    private func nodes(_ owner: [UInt8]) throws(StoreError) -> [SharedNode] {
        try nodes.bind(1, bytes: owner)
        // It may have been set since the last commit.
        try nodes.bind(2, EventLoop.machineMilliseconds)
        defer { nodes.reset() }
        var found: [SharedNode] = []
        while try nodes.step() {
            found.append(
                SharedNode(
                    number: Int(nodes.integer(0)), name: nodes.text(1), version: nodes.text(2),
                    isHere: nodes.integer(3) != 0,
                    shards: Shards(listed: nodes.isNull(9) ? "" : nodes.text(9)),
                    figures: NodeFigures(
                        waiting: Int(nodes.integer(5)), bytes: Int(nodes.integer(6)),
                        oldestAcceptedAt: nodes.isNull(7) ? nil : nodes.time(7)),
                    leaseAge: .milliseconds(max(0, nodes.integer(4))),
                    clockAhead: .milliseconds(nodes.integer(8))))
        }
        return found
    }
}

extension Shards {
    /// Reads the numbers of shards as a database tells them.
    init(listed text: String) {
        let numbers = text.utf8.split(separator: UInt8(ascii: ","))
        self.init(numbers.map { $0.reduce(0) { $0 * 10 + Int($1 & 15) } & 255 })
    }
}
