import Clocks
import Encodings
import Relay

/// The notifications that wait on disk only, and the record of those handed out since the start.
package final class Backlog {
    private let insert: Statement
    private let device: Statement
    private let move: Statement
    private let spare: Statement
    private let putOff: Statement
    private let putOffBehind: Statement
    private let count: Statement
    private let delete: Statement
    private let ready: Statement
    private let spared: Statement
    private let nextSpared: Statement
    private let expired: Statement
    private let lanes: Statement
    let sharing: (any Sharing)?

    /// The numbers of the rows that are handed out, and still in the backlog.
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) package private(set) var claimed: Set<Int64> = []
    /// The claimed numbers that the running commit takes away.
    private var left: [Int64] = []
    /// The number up to which all that is due at any time was handed out, by lane and rank: such a row never comes back.
    var reached: [LaneID: [Int64]] = [:]
    /// The shards of the claimed rows, where there are other nodes.
    private var shards: [Int64: Int] = [:]

    private static let ranks = 2

    init(
        _ connection: borrowing Connection, _ sharing: (any Sharing)?, after earlier: Backlog? = nil
    ) throws(StoreError) {
        self.sharing = sharing
        let dialect = connection.dialect
        insert = try Statement(
            """
            INSERT INTO backlog (sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at,
                host, collapse_id, android, rank, not_before)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection, room: 16_384)
        device = try Statement(
            "SELECT count(*), max(rank), max(not_before) FROM backlog WHERE token_digest = ?", on: connection)
        move = try Statement(
            "INSERT INTO backlog (\(Schema.columns)) SELECT \(Schema.columns) FROM notification WHERE sequence = ?",
            on: connection)
        // Where several are put off together, the order of their numbers is the order of all.
        spare = try Statement(
            "UPDATE backlog SET not_before = ?2, rank = 1 WHERE token_digest = ?1",
            on: connection)
        putOff = try Statement(
            """
            UPDATE backlog SET not_before = ?2
            WHERE token_digest = (SELECT token_digest FROM backlog WHERE sequence = ?1)
            """, on: connection)
        putOffBehind = try Statement(
            """
            UPDATE backlog SET not_before = ?2
            WHERE token_digest = (SELECT token_digest FROM notification WHERE sequence = ?1)
            """, on: connection)
        count = try Statement("UPDATE backlog SET attempts = ?2 WHERE sequence = ?1", on: connection)
        delete = try Statement("DELETE FROM backlog WHERE sequence = ?", on: connection)
        let row = "SELECT \(Statement.waitingColumns(dialect)) FROM backlog"
        let ofLane = "app = ?1 AND \(Schema.hostKey()) = ?2"
        ready = try Statement(
            """
            \(row) WHERE \(ofLane) AND not_before = 0 AND rank = ?3 AND sequence > ?4 AND sequence <= ?5 \(dialect.andHeld(7))
            ORDER BY sequence LIMIT ?6
            """, on: connection)
        spared = try Statement(
            """
            \(row) WHERE \(ofLane) AND not_before > 0 AND (not_before, sequence) > (?3, ?7) AND not_before <= ?4
                AND sequence <= ?5 \(dialect.andHeld(8))
            ORDER BY not_before, sequence LIMIT ?6
            """, on: connection)
        nextSpared = try Statement(
            """
            SELECT min(not_before) FROM backlog WHERE \(ofLane) AND not_before > 0 AND not_before > ?3 \(dialect.andHeld(4))
            """, on: connection)
        expired = try Statement(
            """
            \(row) WHERE expires_at <= ?1 AND (expires_at, sequence) > (?4, ?5) AND sequence <= ?2 \(dialect.andHeld(6))
            ORDER BY expires_at, sequence LIMIT ?3
            """, on: connection)
        lanes = try Statement("SELECT app, host, waiting, bytes FROM lane", on: connection)
        if let earlier {
            (claimed, reached) = (earlier.claimed, earlier.reached)
        } else {
            try takeStragglers(connection)
        }
    }

    /// Moves the later rows of a device into the backlog, where a crash may have left its earlier ones.
    private func takeStragglers(_ connection: borrowing Connection) throws(StoreError) {
        var stragglers: [(sequence: Int64, token: Digest, notBefore: UnixTime)] = []
        do {
            let rows = try Statement(
                """
                SELECT sequence, token_digest, not_before FROM notification
                WHERE EXISTS (SELECT 1 FROM backlog WHERE backlog.token_digest = notification.token_digest)
                    \(connection.dialect.andOwn(1))
                ORDER BY sequence
                """, on: connection)
            try bindShards(1, to: rows)
            while try rows.step() {
                stragglers.append((rows.integer(0), Digest(rows.pair(1)), rows.time(2)))
            }
        }
        guard !stragglers.isEmpty else { return }
        let remove = try Statement("DELETE FROM notification WHERE sequence = ?", on: connection)
        try connection.transaction { () throws(StoreError) in
            for straggler in stragglers {
                let notBefore = max(straggler.notBefore, try state(of: straggler.token).notBefore)
                try take(straggler.sequence)
                try spare(straggler.token, until: notBefore)
                try remove.bind(1, straggler.sequence)
                try remove.run()
            }
        }
    }

    // MARK: Commits

    func committed() {
        if !shards.isEmpty { for sequence in left { shards[sequence] = nil } }
        left.empty()
    }

    func rolledBack() {
        claimed.formUnion(left)
        left.empty()
    }

    // MARK: In

    /// Adds a row; returns `false` if there are as many of the device as may be.
    func add(_ request: StoreRequest, room: Int, at sequence: Int64) throws(StoreError) -> Bool {
        let token = request.digests.token
        let device = try state(of: token)
        guard device.count < room else { return false }
        let isUrgent = request.notification.content.isUrgent
        // A prepared push binds these anew.
        try insert.bind(11, nil)
        try insert.bind(12, nil)
        try insert.bind(request, at: sequence)
        try insert.bind(13, max(device.rank, isUrgent ? 0 : 1))
        try insert.bind(14, time: device.notBefore)
        try insert.run()
        return true
    }

    private func state(of token: Digest) throws(StoreError) -> (count: Int, rank: Int64, notBefore: UnixTime)
    {
        try device.bind(1, token)
        defer { device.reset() }
        guard try device.step() else { return (0, 0, 0) }
        return (Int(device.integer(0)), device.integer(1), device.time(2))
    }

    /// Copies a row of `notification`, which stays there, into the backlog.
    package func take(_ sequence: Int64) throws(StoreError) {
        try move.bind(1, sequence)
        try move.run()
    }

    /// Lets all rows of a device wait until then.
    func spare(_ token: Digest, until notBefore: UnixTime) throws(StoreError) {
        try spare.bind(1, token)
        try spare.bind(2, time: notBefore)
        try spare.run()
    }

    /// Forgets what was handed out of these shards, which has gone with them.
    package func giveUp(_ lost: Shards) {
        guard !lost.isEmpty else { return }
        for (sequence, shard) in shards where lost[shard] {
            claimed.remove(sequence)
            shards[sequence] = nil
        }
    }

    // MARK: What was handed out

    func hasHandedOut(_ sequence: Int64) -> Bool { !claimed.isEmpty && claimed.contains(sequence) }

    /// Takes a notification back: it may be handed out again.
    func takeBack(_ sequence: Int64) {
        claimed.remove(sequence)
        left.append(sequence)
    }

    func postpone(_ sequence: Int64, attempts: Int, notBefore: UnixTime) throws(StoreError) {
        try count.bind(1, sequence)
        try count.bind(2, Int64(attempts))
        try count.run()
        // Those that were put off before stay so: they are due by now.
        guard notBefore > 0 else { return }
        try putOff.bind(1, sequence)
        try putOff.bind(2, time: notBefore)
        try putOff.run()
    }

    /// Puts off the rows of a device as long as its notification that is not in the backlog.
    func putOff(behind sequence: Int64, until notBefore: UnixTime) throws(StoreError) {
        guard notBefore > 0 else { return }
        try putOffBehind.bind(1, sequence)
        try putOffBehind.bind(2, time: notBefore)
        try putOffBehind.run()
    }

    func end(_ sequence: Int64) throws(StoreError) {
        takeBack(sequence)
        if let sharing { return sharing.leaveBacklog(sequence) }
        try delete.bind(1, sequence)
        try delete.run()
    }

    // MARK: Out

    func claim(_ claim: Claim) throws(StoreError) -> Claimed {
        var found = Claimed()
        var reached = reached
        switch claim.kind {
        case .expired:
            try expired.bind(1, time: claim.time)
            try expired.bind(2, claim.last)
            try bindShards(6, to: expired)
            try take(from: expired, into: &found, claim) { (last, page) throws(StoreError) in
                try expired.bind(3, page)
                try expired.bind(4, time: last?.expiresAt ?? .min)
                try expired.bind(5, last?.sequence ?? .min)
            }
        case .due(let lane):
            for range in claim.spared where found.rows.count < claim.limit {
                try bind(lane, to: spared)
                try spared.bind(4, time: range.end)
                try spared.bind(5, claim.last)
                try bindShards(8, to: spared)
                try take(from: spared, into: &found, claim) { (last, page) throws(StoreError) in
                    try spared.bind(3, time: last?.notBefore ?? range.start)
                    try spared.bind(6, page)
                    try spared.bind(7, last?.sequence ?? .max)
                }
            }
            for rank in 0..<Backlog.ranks where found.rows.count < claim.limit {
                let before = found.rows.count
                let start = reached[lane]?[rank] ?? 0
                try bind(lane, to: ready)
                try ready.bind(3, Int64(rank))
                try ready.bind(5, claim.last)
                try bindShards(7, to: ready)
                try take(from: ready, into: &found, claim) { (last, page) throws(StoreError) in
                    try ready.bind(4, last?.sequence ?? start)
                    try ready.bind(6, page)
                }
                guard found.rows.count > before, let last = found.rows.last else { continue }
                reached[lane, default: Array(repeating: 0, count: Backlog.ranks)][rank] = last.row.sequence
            }
            try bind(lane, to: nextSpared)
            try nextSpared.bind(3, time: claim.time)
            try bindShards(4, to: nextSpared)
            defer { nextSpared.reset() }
            if try nextSpared.step(), !nextSpared.isNull(0) { found.nextDue = nextSpared.time(0) }
        }
        for row in found.rows { claimed.insert(row.row.sequence) }
        if sharing != nil {
            for row in found.rows { shards[row.row.sequence] = Shards.number(of: row.row.token) }
        }
        self.reached = reached
        return found
    }

    private func bindShards(_ index: Int32, to statement: borrowing Statement) throws(StoreError) {
        if let sharing { try statement.bind(index, bytes: sharing.held.bits) }
    }

    private func bind(_ lane: LaneID, to statement: borrowing Statement) throws(StoreError) {
        try statement.bind(1, lane.app)
        try statement.bind(2, lane.host.key)
    }

    /// Reads page by page: those that were handed out are read too, and a database sends all that a statement finds at once.
    ///
    /// - Parameter bind: Binds behind which row a page begins, `nil` being the first one, and how many there are in it.
    private func take(
        from statement: borrowing Statement, into found: inout Claimed, _ claim: Claim,
        _ bind: (_ last: WaitingRow?, _ page: Int64) throws(StoreError) -> Void
    ) throws(StoreError) {
        let page = max(claim.limit, Backlog.page)
        var last: WaitingRow?
        var count = 0
        repeat {
            try bind(last, Int64(page))
            defer { statement.reset() }
            count = 0
            while found.rows.count < claim.limit, try statement.step() {
                let row = statement.waitingRow
                if !claimed.contains(row.sequence) {
                    found.rows.append(Claimed.Row(row, try statement.notification()))
                }
                last = row
                count += 1
            }
        } while found.rows.count < claim.limit && count == page
    }

    private static let page = 64

    // MARK: At the start

    func content() throws(StoreError) -> [LaneBacklog] {
        if let sharing { return try sharing.waiting() }
        var found: [LaneBacklog] = []
        defer { lanes.reset() }
        while try lanes.step() {
            let lane = LaneID(app: lanes.text(0), host: LaneHost(key: lanes.text(1)))
            found.append(
                LaneBacklog(
                    lane: lane, waiting: Int(lanes.integer(2)), bytes: Int(lanes.integer(3)),
                    oldestAcceptedAt: try oldest(of: lane)))
        }
        return found
    }

    /// Returns the earliest time of acceptance, about: of the first row of each kind.
    private func oldest(of lane: LaneID) throws(StoreError) -> UnixTime {
        var oldest = UnixTime.max
        for rank in 0..<Backlog.ranks {
            try bind(lane, to: ready)
            try ready.bind(3, Int64(rank))
            try ready.bind(4, 0)
            try ready.bind(5, .max)
            try ready.bind(6, 1)
            defer { ready.reset() }
            if try ready.step() { oldest = min(oldest, ready.waitingRow.acceptedAt) }
        }
        try bind(lane, to: spared)
        try spared.bind(3, 0)
        try spared.bind(4, .max)
        try spared.bind(5, .max)
        try spared.bind(6, 1)
        try spared.bind(7, .max)
        defer { spared.reset() }
        if try spared.step() { oldest = min(oldest, spared.waitingRow.acceptedAt) }
        return oldest
    }
}
