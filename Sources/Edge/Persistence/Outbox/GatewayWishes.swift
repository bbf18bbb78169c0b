import Relay

/// The wishes of gateways, and the states of lanes.
package final class GatewayWishes {
    private let insert: Statement
    private let forget: Statement
    private let wishes: Statement
    private let setLane: Statement
    private let dropLane: Statement
    private let allLanes: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        insert = try Statement(
            """
            INSERT INTO wish (digest, app, host, since, until) VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE
                SET app = excluded.app, host = excluded.host, since = excluded.since, until = excluded.until
            """, on: connection, room: 512)
        forget = try Statement("DELETE FROM wish WHERE digest = ?", on: connection)
        wishes = try Statement("SELECT digest, app, host, since, until FROM wish", on: connection)
        setLane = try Statement(
            """
            INSERT INTO lane_state (app, host, written_at, paused_at, paused_until, asked_until, failures,
                blocked_reason, blocked_since)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (app, host) DO UPDATE
                SET written_at = excluded.written_at, paused_at = excluded.paused_at,
                paused_until = excluded.paused_until, asked_until = excluded.asked_until,
                failures = excluded.failures, blocked_reason = excluded.blocked_reason,
                blocked_since = excluded.blocked_since
            """, on: connection, room: 1024)
        dropLane = try Statement("DELETE FROM lane_state WHERE app = ? AND host = ?", on: connection)
        allLanes = try Statement(
            """
            SELECT app, host, written_at, paused_at, paused_until, asked_until, failures, blocked_reason,
                blocked_since
            FROM lane_state
            """, on: connection)
    }

    // MARK: Devices

    func add(_ wish: DeviceWish) throws(StoreError) {
        try insert.bind(1, wish.token)
        try insert.bind(2, wish.lane.app)
        try insert.bind(3, wish.lane.host.key)
        try insert.bind(4, time: wish.since)
        try insert.bind(5, time: wish.until)
        try insert.run()
    }

    func forget(_ tokens: [Digest]) throws(StoreError) {
        for token in tokens {
            try forget.bind(1, token)
            try forget.run()
        }
    }

    func all() throws(StoreError) -> [DeviceWish] { try GatewayWishes.rows(of: wishes) }

    /// Reads all rows that a statement finds: digest, app, host, since, until.
    package static func rows(of wishes: borrowing Statement) throws(StoreError) -> [DeviceWish] {
        var found: [DeviceWish] = []
        defer { wishes.reset() }
        while try wishes.step() {
            found.append(
                DeviceWish(
                    token: Digest(wishes.pair(0)),
                    lane: LaneID(app: wishes.text(1), host: LaneHost(key: wishes.text(2))),
                    since: wishes.time(3), until: wishes.time(4)))
        }
        return found
    }

    // MARK: Lanes

    /// Writes the record of a lane.
    ///
    /// - Parameter record: `nil`: the lane stands as a new one.
    func set(_ record: LaneRecord?, of lane: LaneID) throws(StoreError) {
        guard let record else {
            try dropLane.bind(1, lane.app)
            try dropLane.bind(2, lane.host.key)
            return try dropLane.run()
        }
        try setLane.bind(1, lane.app)
        try setLane.bind(2, lane.host.key)
        try setLane.bind(3, time: record.writtenAt)
        try setLane.bind(4, time: record.pausedAt)
        try setLane.bind(5, time: record.pausedUntil)
        try setLane.bind(6, time: record.askedUntil)
        try setLane.bind(7, Int64(record.failures))
        try setLane.bind(8, record.block?.reason)
        if let since = record.block?.since {
            try setLane.bind(9, time: since)
        } else {
            try setLane.bind(9, nil)
        }
        try setLane.run()
    }

    func lanes() throws(StoreError) -> [LaneID: LaneRecord] {
        var found: [LaneID: LaneRecord] = [:]
        defer { allLanes.reset() }
        while try allLanes.step() {
            found[LaneID(app: allLanes.text(0), host: LaneHost(key: allLanes.text(1)))] = LaneRecord(
                writtenAt: allLanes.time(2), pausedAt: allLanes.time(3),
                pausedUntil: allLanes.time(4), askedUntil: allLanes.time(5),
                failures: Int(clamping: allLanes.integer(6)),
                block: allLanes.isNull(7)
                    ? nil : LaneRecord.Block(reason: allLanes.text(7), since: allLanes.time(8)))
        }
        return found
    }
}
