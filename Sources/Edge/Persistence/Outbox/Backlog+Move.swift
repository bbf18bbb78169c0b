import Clocks
import Relay

/// The operator's commands for all that a lane has in the backlog.
extension Backlog {
    /// Makes what is put off due at a time. What is put off again later is due when that says.
    func retry(_ lane: LaneID, at time: UnixTime, on connection: borrowing Connection) throws(StoreError) {
        let isHeld = sharing == nil ? "" : connection.dialect.andHeld(4)
        let retry = try Statement(
            """
            UPDATE backlog SET not_before = ?3 WHERE app = ?1 AND \(Schema.hostKey()) = ?2 AND not_before > ?3 \(isHeld)
            """, on: connection)
        try retry.bind(1, lane.app)
        try retry.bind(2, lane.host.key)
        try retry.bind(3, time: time)
        if let sharing { try retry.bind(4, bytes: sharing.held.bits) }
        try retry.run()
    }

    func move(
        _ lane: LaneID, toApp app: String, on connection: borrowing Connection
    ) throws(StoreError) {
        try Backlog.move(app: lane.app, host: lane.host, toApp: app, of: sharing?.held, on: connection)
        // They have lower numbers than what it has handed out.
        reached[LaneID(app: app, host: lane.host)] = nil
    }

    /// Gives the rows of an app's lanes to another app.
    ///
    /// - Parameters:
    ///   - host: `nil`: any.
    ///   - shards: Of a database that other nodes use; `nil`: all.
    static func move(
        app: String, host: LaneHost?, toApp other: String, of shards: Shards?,
        on connection: borrowing Connection
    ) throws(StoreError) {
        let isOfLane = "app = ?1 AND (\(Schema.hostKey()) = ?2 OR ?2 IS NULL)"
        guard connection.dialect.countsLanes else {
            let isMeant = shards == nil ? isOfLane : "\(isOfLane) \(connection.dialect.andHeld(4))"
            let move = try Statement("UPDATE backlog SET app = ?3 WHERE \(isMeant)", on: connection)
            try move.bind(1, app)
            try move.bind(2, host?.key)
            try move.bind(3, other)
            if let shards { try move.bind(4, bytes: shards.bits) }
            return try move.run()
        }
        for text in [
            "UPDATE backlog SET app = ?3 WHERE \(isOfLane)",
            """
            INSERT INTO lane SELECT ?3, host, waiting, bytes FROM lane WHERE app = ?1 AND (host = ?2 OR ?2 IS NULL)
                ON CONFLICT (app, host) DO UPDATE
                SET waiting = lane.waiting + excluded.waiting, bytes = lane.bytes + excluded.bytes
            """, "DELETE FROM lane WHERE app = ?1 AND ?1 <> ?3 AND (host = ?2 OR ?2 IS NULL)",
        ] {
            let statement = try Statement(text, on: connection)
            try statement.bind(1, app)
            try statement.bind(2, host?.key)
            try statement.bind(3, other)
            try statement.run()
        }
    }

    /// Forgets up to where rows were handed out. Other nodes have put rows there, or it has more shards: some
    /// rows have lower numbers than what was handed out.
    package func goBack() { reached = [:] }

    package func goBack(_ lane: LaneID, _ rank: Int, before sequence: Int64) {
        guard let numbers = reached[lane], numbers.indices.contains(rank) else { return }
        reached[lane]?[rank] = min(numbers[rank], sequence - 1)
    }
}

extension LaneHost {
    /// The key of the host, as the table `lane` and the indices name it.
    package var key: String { self == .production ? "" : name }

    package init(key: String) { self = key.isEmpty ? .production : LaneHost(key) }
}
