import Clocks
import Encodings
import Relay

/// The statements of the outbox over one connection. The order in which they are let go doesn't matter.
package final class StoreStatements {
    private let savepoint: Statement
    private let release: Statement
    private let undo: Statement
    private let insertNotification: Statement
    private let insertPrepared: Statement
    private let deleteNotifications: Statement
    private let postpone: Statement
    let selectNotification: Statement
    private let bury: Statement
    private let revive: Statement
    private let forgetTokens: Statement
    let setClock: Statement
    let connection: Connection
    let place: StorePlace
    /// Whether the last commit found no room on the disk, and none has found any since.
    private var isFull = false

    /// The store's part that other nodes use; `nil`: nobody else has the store.
    let sharing: (any Sharing)?
    let identities: Identities
    let backlog: Backlog
    let wishes: GatewayWishes
    /// The numbers of the rows that the running commit takes away: together, since most follow one another.
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) private var delivered: [Int64] = []
    /// The next sequence number: higher than that of every row and identity still there.
    private(set) var nextSequence: Int64 = 1
    private var doors: [ObjectIdentifier: any DoorTables] = [:]

    /// Opens the store, and makes its tables if they are not there.
    ///
    /// - Parameter earlier: The store whose place was written anew: what it has handed out is handed out.
    init(_ place: StorePlace, after earlier: StoreStatements? = nil) throws(StoreError) {
        self.place = place
        let connection = try Connection(place, for: .sharing)
        try connection.engine.prepare()
        savepoint = try Statement("SAVEPOINT door", on: connection)
        release = try Statement("RELEASE door", on: connection)
        undo = try Statement("ROLLBACK TO door", on: connection)
        insertNotification = try Statement(
            """
            INSERT INTO notification (sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at,
                host)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection, room: 16_384)
        insertPrepared = try Statement(
            """
            INSERT INTO notification (sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at,
                host, collapse_id, android)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection, room: 16_384)
        deleteNotifications = try Statement(
            "DELETE FROM notification WHERE sequence BETWEEN ? AND ?", on: connection)
        postpone = try Statement(
            "UPDATE notification SET attempts = ?, not_before = ? WHERE sequence = ?", on: connection)
        selectNotification = try Statement(
            """
            SELECT \(Statement.waitingColumns(connection.dialect)) FROM \(Schema.waitingRows) WHERE sequence = ?
            """, on: connection)
        bury = try Statement(
            """
            INSERT INTO dead_token (digest, since, buried_at) VALUES (?, ?, ?) ON CONFLICT (digest) DO UPDATE
                SET since = excluded.since, buried_at = excluded.buried_at
            """, on: connection)
        revive = try Statement("DELETE FROM dead_token WHERE digest = ?", on: connection)
        forgetTokens = try Statement(
            "DELETE FROM dead_token WHERE buried_at < ? OR buried_at > ?", on: connection)
        setClock = try Statement(
            """
            INSERT INTO clock (id, trusted, set_at) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE
                SET trusted = excluded.trusted, set_at = excluded.set_at
            """, on: connection)
        sharing = try connection.engine.sharing(on: connection)
        identities = try Identities(connection, sharing)
        backlog = try Backlog(connection, sharing, after: earlier?.backlog)
        wishes = try GatewayWishes(connection)
        self.connection = connection
        nextSequence = max(try highest() + 1, earlier?.nextSequence ?? 0)
        try self.connection.engine.beginRun(isAnew: earlier != nil)
        if sharing == nil { try open(ClockTables.self) }
        guard let earlier else { return }
        // Nobody asks for it: the node has it already.
        _ = try identities.takeFilter(self.connection)
        for tables in earlier.doors.values { try open(type(of: tables)) }
    }

    /// Makes a connection if there is none.
    func connect() throws(StoreError) { try sharing?.connect(backlog, on: connection) }

    /// Makes the changes of the outbox and those of doors that wait with them, in one transaction.
    ///
    /// - Returns: A result for each `store` and `lookUp`, and for each of `writes` why nothing of it was done, or `nil`.
    func commit(
        _ changes: [OutboxChange], _ writes: [DoorWrite] = [], isAwaited: Bool = true
    ) throws(StoreError) -> (results: [StoreResult], failures: [StoreError?]) {
        guard let sharing else { return try commitOnce(changes, writes, isAwaited: isAwaited) }
        return try sharing.commit(changes) { () throws(StoreError) in try commitOnce(changes, writes) }
    }

    private func commitOnce(
        _ changes: [OutboxChange], _ writes: [DoorWrite], isAwaited: Bool = true
    ) throws(StoreError) -> (results: [StoreResult], failures: [StoreError?]) {
        var results: [StoreResult] = []
        var failures: [StoreError?] = []
        var hasForgotten = false
        let firstSequence = nextSequence
        identities.begin()
        if isAwaited { try connection.engine.begin() } else { try connection.engine.beginUnawaited() }
        do throws(StoreError) {
            try sharing?.begin(changes)
            for change in changes {
                try sharing?.prepare(for: change)
                switch change {
                case .store(let request): results.append(try add(request))
                case .lookUp(let digests):
                    try deleteDelivered()
                    results.append(try identities.result(of: digests) ?? .unknown)
                case .remember(let digests, let acceptedAt): try remember(digests, acceptedAt: acceptedAt)
                case .finish(let sequence, let ending): try finish(sequence, ending)
                case .postpone(let sequence, let attempts, let notBefore):
                    try postpone(sequence, attempts: attempts, notBefore: notBefore)
                case .shelve(let token, let sequences, let notBefore):
                    try shelve(token, sequences, notBefore: notBefore)
                case .spare(let wish): try wishes.add(wish)
                case .forgetWishes(let tokens): try wishes.forget(tokens)
                case .lane(let lane, let record): try wishes.set(record, of: lane)
                case .move(let lane, let app): try backlog.move(lane, toApp: app, on: connection)
                case .retry(let lane, let time): try backlog.retry(lane, at: time, on: connection)
                case .buryToken(let token, let told):
                    try bury.bind(1, high: token.high, low: token.low)
                    try bury.bind(2, time: told.since)
                    try bury.bind(3, time: told.buriedAt)
                    try bury.run()
                case .reviveToken(let token):
                    try revive.bind(1, high: token.high, low: token.low)
                    try revive.run()
                case .forget(let acceptedBefore, let buriedBefore, let latest):
                    try deleteDelivered()
                    try identities.forget(acceptedBefore: acceptedBefore, latest: latest)
                    try forgetTokens.bind(1, time: buriedBefore)
                    try forgetTokens.bind(2, time: latest)
                    try forgetTokens.run()
                    hasForgotten = true
                case .clock(let record): try set(record)
                case .giveUp(let shards):
                    try deleteDelivered()
                    try sharing?.giveUp(shards)
                case .proof:
                    try connection.engine.prove(wasFull: isFull)
                    isFull = false
                }
            }
            try deleteDelivered()
            try sharing?.write()
            var locked: StoreError?
            for write in writes {
                // All that is asked of the same door would wait as long, and the lease ends meanwhile.
                if locked == nil, let failure = try failure(of: write) {
                    failures.append(failure)
                    if failure.kind == .locked { locked = failure }
                } else {
                    failures.append(locked)
                }
            }
            try connection.engine.commit()
        } catch {
            connection.engine.rollback()
            guard sharing?.wasMade(after: error) == true else {
                identities.rolledBack()
                backlog.rolledBack()
                sharing?.rolledBack()
                if error.kind == .full { isFull = true }
                delivered = []
                nextSequence = firstSequence
                throw error
            }
        }
        identities.committed()
        backlog.committed()
        if let sharing { backlog.giveUp(sharing.committed()) }
        // What was deleted may live on in the engine's log: now and then that is emptied. If not now, then next time.
        if hasForgotten { try? connection.engine.sweep() }
        return (results, failures)
    }

    // MARK: Doors

    /// Makes a door's tables if they are not there.
    func open(_ kind: any DoorTables.Type) throws(StoreError) {
        try DoorSchema.prepare(kind, on: connection)
        doors[ObjectIdentifier(kind)] = try kind.init(connection)
    }

    /// Returns the tables of a door that has been opened.
    package func tables<Tables: DoorTables>(_ kind: Tables.Type) -> Tables {
        guard let tables = doors[ObjectIdentifier(kind)] as? Tables else {
            preconditionFailure("the tables of \(kind.name) have not been opened")
        }
        return tables
    }

    private func failure(of write: DoorWrite) throws(StoreError) -> StoreError? {
        try savepoint.run()
        // What has failed until here is not this one's failure.
        try connection.settle()
        do throws(StoreError) {
            try write.run(self)
            try sharing?.write()
            try release.run()
            try connection.settle()
            return nil
        } catch {
            // A full disk undoes all that was to be committed, and so does a connection that is lost.
            guard connection.engine.isInTransaction else { throw error }
            sharing?.drop()
            try undo.run()
            try release.run()
            return error
        }
    }

    func takeAway(_ sequence: Int64) throws(StoreError) {
        guard backlog.hasHandedOut(sequence) else { return try deleteNotifications(sequence...sequence) }
        try backlog.end(sequence)
    }

    // MARK: Changes

    private func add(_ request: StoreRequest) throws(StoreError) -> StoreResult {
        // Whether it waits still is seen by its row.
        try deleteDelivered()
        if let result = try identities.result(of: request.digests) { return result }
        let sequence = try nextNumber()
        switch (request.destination, request.notification.content) {
        case (.elsewhere(let room), _):
            guard try sharing?.add(request, room: room, at: sequence) == true else {
                return tooMany(sequence)
            }
        case (.backlog(let room), _):
            guard try backlog.add(request, room: room, at: sequence) else { return tooMany(sequence) }
        case (.window, _) where sharing != nil: try sharing?.store(request, at: sequence)
        case (.window, .bisq):
            try insertNotification.bind(request, at: sequence)
            try insertNotification.run()
        case (.window, .prepared):
            try insertPrepared.bind(request, at: sequence)
            try insertPrepared.run()
        }
        try identities.add(request.digests, acceptedAt: request.notification.acceptedAt, at: sequence)
        if let sharing {
            if request.destination.isHere { sharing.keep(sequence) }
        } else {
            nextSequence += 1
        }
        return .stored(sequence: sequence)
    }

    /// Remembers a notification as delivered: of that no more is written.
    private func remember(_ digests: SubmissionDigests, acceptedAt: UnixTime) throws(StoreError) {
        guard try identities.result(of: digests) == nil else { return }
        try identities.add(digests, acceptedAt: acceptedAt, at: try nextNumber())
        if sharing == nil { nextSequence += 1 }
    }

    private func tooMany(_ sequence: Int64) -> StoreResult {
        sharing?.giveBack(sequence)
        return .tooMany
    }

    private func nextNumber() throws(StoreError) -> Int64 {
        try sharing?.takeNumber() ?? nextSequence
    }

    func state(of identity: Digest) throws(StoreError) -> NotificationState? {
        try identities.state(of: identity)
    }

    private func finish(_ sequence: Int64, _ ending: Ending) throws(StoreError) {
        if ending == .delivered, !backlog.hasHandedOut(sequence) {
            if let sharing { sharing.leave(sequence) } else { delivered.append(sequence) }
            return
        }
        try takeAway(sequence)
        if ending != .delivered, ending.isRemembered { try identities.finish(sequence, ending) }
        // What is to be tried again is no repetition.
        if !ending.isRemembered { try identities.forget(sequence) }
    }

    private func postpone(_ sequence: Int64, attempts: Int, notBefore: UnixTime) throws(StoreError) {
        guard !backlog.hasHandedOut(sequence) else {
            return try backlog.postpone(sequence, attempts: attempts, notBefore: notBefore)
        }
        try postpone.bind(1, Int64(attempts))
        try postpone.bind(2, time: notBefore)
        try postpone.bind(3, sequence)
        try postpone.run()
        try backlog.putOff(behind: sequence, until: notBefore)
    }

    private func shelve(_ token: Digest, _ sequences: [Int64], notBefore: UnixTime) throws(StoreError) {
        for sequence in sequences {
            guard !backlog.hasHandedOut(sequence) else {
                backlog.takeBack(sequence)
                continue
            }
            try backlog.take(sequence)
            try deleteNotifications(sequence...sequence)
        }
        try backlog.spare(token, until: notBefore)
    }

    private func deleteDelivered() throws(StoreError) {
        guard !delivered.isEmpty else { return }
        delivered.sort()
        var run = delivered[0]...delivered[0]
        for sequence in delivered.dropFirst() {
            if sequence != run.upperBound + 1 {
                try deleteNotifications(run)
                run = sequence...sequence
            } else {
                run = run.lowerBound...sequence
            }
        }
        try deleteNotifications(run)
        delivered.empty()
    }

    private func deleteNotifications(_ sequences: ClosedRange<Int64>) throws(StoreError) {
        try deleteNotifications.bind(1, sequences.lowerBound)
        try deleteNotifications.bind(2, sequences.upperBound)
        try deleteNotifications.run()
    }
}
