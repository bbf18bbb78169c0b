import Clocks
import Relay

/// The identities of stored notifications with their ends, for senders who submit one again.
package final class Identities {
    private let insert: Statement
    private let find: Statement
    private let end: Statement
    private let oldest: Statement
    private let delete: Statement
    private let highest: Statement
    private let round: IdentityRound

    /// The store's part that other nodes use; `nil`: nobody else adds any identity, and ``known`` has them
    /// all.
    private let sharing: (any Sharing)?
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) private var known = KnownIdentities()
    private var filter = IdentityFilter()
    private var hasFilter = false
    private var progress = Progress()
    /// ``progress`` as it was when the running commit began.
    private var progressBefore = Progress()
    private var storedSinceForgetting = 0

    /// How far forgetting has come.
    private struct Progress {
        /// The number up to which the oldest identities have gone, but for those that had to stay.
        var forgottenUpTo: Int64 = 0
        /// The number up to which the round through all has come: what is out of order lies anywhere.
        var lookedUpTo: Int64 = 0
        var verdict = ClockVerdict()
    }

    /// The number of identities that one commit forgets, so that no commit is held up for long; or twice as
    /// many as came since.
    private static let forgottenAtOnce = 5000
    private static let forgottenPage = 500
    /// The most identities that are kept, in 24 MB of memory at most. Beyond it the oldest are forgotten
    /// before their time.
    private static let mostIdentities = 2_000_000

    /// The code in place of an ending, while a door keeps the notification in tables of its own.
    package static let kept: Int64 = 5
    private static let stays =
        "(\(Schema.waits("identity.sequence")) OR coalesce(identity.ending, 0) = \(kept))"

    init(_ connection: borrowing Connection, _ sharing: (any Sharing)?) throws(StoreError) {
        self.sharing = sharing
        insert = try Statement(
            "INSERT INTO identity (sequence, digest, content, accepted_at) VALUES (?, ?, ?, ?)",
            on: connection, room: 64)
        find = try Statement(
            """
            SELECT digest, content, ending, reason, detail, \(Schema.waits("identity.sequence")), accepted_at
            FROM identity WHERE sequence = ?
            """, on: connection)
        end = try Statement(
            "UPDATE identity SET ending = ?, reason = ?, detail = ? WHERE sequence = ?", on: connection)
        oldest = try Statement(
            """
            SELECT sequence, digest, accepted_at, \(Identities.stays)
            FROM identity WHERE sequence > ? ORDER BY sequence LIMIT ?
            """, on: connection)
        delete = try Statement(
            """
            DELETE FROM identity WHERE sequence > ? AND sequence <= ?
                AND NOT \(Identities.stays)
            """, on: connection)
        highest = try Statement("SELECT max(sequence) FROM identity", on: connection)
        round = try IdentityRound(connection, stays: Identities.stays)
        guard sharing == nil else { return }
        known.reserveCapacity(Int(try connection.firstInteger("SELECT count(*) FROM identity") ?? 0))
        try readAll(connection)
    }

    /// Reads all rows page by page: a database sends all that a statement finds at once.
    private func readAll(_ connection: borrowing Connection) throws(StoreError) {
        let rows = try Statement(
            "SELECT sequence, digest, accepted_at FROM identity WHERE sequence > ? ORDER BY sequence LIMIT ?",
            on: connection)
        var last: Int64 = 0
        var count: Int64
        repeat {
            count = 0
            try rows.bind(1, last)
            try rows.bind(2, Identities.readAtOnce)
            while try rows.step() {
                last = rows.integer(0)
                let digest = Digest(rows.pair(1))
                if sharing == nil { known.recall(digest, at: last) }
                filter.insert(digest, acceptedAt: rows.time(2))
                count += 1
            }
            rows.reset()
        } while count == Identities.readAtOnce
    }

    private static let readAtOnce: Int64 = 20_000

    /// Moves the dates of those that were remembered at the start, as the store has moved them.
    func move(_ redating: Redating) { filter.move(redating) }

    /// Takes all identities that were remembered at the start. Only the first call has them: they are read
    /// once, and kept by one.
    func takeFilter(_ connection: borrowing Connection) throws(StoreError) -> IdentityFilter {
        // Where others accept as well, nothing that one node knows is all.
        if sharing?.owned == .all, !hasFilter { try readAll(connection) }
        hasFilter = true
        defer { filter = IdentityFilter() }
        return filter
    }

    // MARK: Commits

    func begin() { progressBefore = progress }

    func committed() { known.committed() }

    func rolledBack() {
        known.rolledBack()
        progress = progressBefore
    }

    // MARK: One

    func add(_ digests: SubmissionDigests, acceptedAt: UnixTime, at sequence: Int64) throws(StoreError) {
        storedSinceForgetting += 1
        if let sharing {
            return sharing.remember(digests, acceptedAt: acceptedAt, at: sequence)
        }
        try insert.bind(1, sequence)
        try insert.bind(2, digests.identity)
        try insert.bind(3, digests.content)
        try insert.bind(4, time: acceptedAt)
        try insert.run()
        known.enter(digests.identity, at: sequence)
    }

    /// Returns what became of a submission, if it is known. One whose time is over is forgotten, if it has not gone yet.
    func result(of digests: SubmissionDigests) throws(StoreError) -> StoreResult? {
        var over: Int64?
        let result = try look(for: digests.identity) { (sequence) throws(StoreError) -> StoreResult? in
            guard try !isOver(sequence) else {
                over = sequence
                return nil
            }
            guard Digest(find.pair(1)) == digests.content else { return .conflict }
            if isKept { return .alreadyKept(sequence: sequence) }
            switch try presentState() {
            case .waiting: return .alreadyWaiting(sequence: sequence)
            case .ended(let ending): return .alreadyEnded(ending)
            }
        }
        if let over { try forget(over) }
        return result ?? nil
    }

    func state(of identity: Digest) throws(StoreError) -> NotificationState? {
        try look(for: identity) { (sequence) throws(StoreError) -> NotificationState? in
            try isOver(sequence) ? nil : try presentState()
        } ?? nil
    }

    /// Whether the row that ``find`` stands on is to be forgotten.
    private func isOver(_ sequence: Int64) throws(StoreError) -> Bool {
        guard progress.verdict.isOver(sequence, acceptedAt: find.time(6)), !isKept else { return false }
        return try presentState() != .waiting
    }

    /// Calls `found` while ``find`` stands on its row.
    private func look<Value>(
        for identity: Digest, _ found: (Int64) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        var value: Value?
        if let sharing {
            guard let sequence = try sharing.sequence(of: identity) else { return nil }
            try sharing.write()
            try find.bind(1, sequence)
            defer { find.reset() }
            return try find.step() ? try found(sequence) : nil
        }
        _ = try known.first(of: identity) { (sequence) throws(StoreError) in
            try find.bind(1, sequence)
            defer { find.reset() }
            guard try find.step(), Digest(find.pair(0)) == identity else { return false }
            value = try found(sequence)
            return true
        }
        return value
    }

    /// Reads the state of the row that ``find`` stands on.
    private func presentState() throws(StoreError) -> NotificationState {
        if find.integer(5) != 0 || isKept { return .waiting }
        // Nothing is written down for the usual end.
        guard !find.isNull(2) else { return .ended(.delivered) }
        let detail = find.isNull(4) ? nil : find.text(4)
        guard let ending = Ending(code: find.integer(2), reason: find.text(3), detail: detail) else {
            throw StoreError(.damaged, .step, "an unknown ending")
        }
        return .ended(ending)
    }

    private var isKept: Bool { !find.isNull(2) && find.integer(2) == Identities.kept }

    func sequence(of identity: Digest) throws(StoreError) -> Int64? {
        try look(for: identity) { $0 }
    }

    /// Notes that a door has the notification in tables of its own.
    func keep(_ sequence: Int64) throws(StoreError) { try end(sequence, Identities.kept) }

    /// Notes the usual end of a notification that a door kept: delivered.
    func deliver(_ sequence: Int64) throws(StoreError) { try end(sequence, nil) }

    private func end(_ sequence: Int64, _ code: Int64?) throws(StoreError) {
        try sharing?.write()
        if let code { try end.bind(1, code) } else { try end.bind(1, nil) }
        try end.bind(2, nil)
        try end.bind(3, nil)
        try end.bind(4, sequence)
        try end.run()
    }

    /// Writes down how a notification ended, other than delivered.
    func finish(_ sequence: Int64, _ ending: Ending) throws(StoreError) {
        try sharing?.write()
        try end.bind(1, ending.code)
        try end.bind(2, ending.reason?.code)
        try end.bind(3, ending.detail)
        try end.bind(4, sequence)
        try end.run()
    }

    // MARK: Forgetting

    /// Forgets one identity: its time is over, or its notification is to be tried again.
    func forget(_ sequence: Int64) throws(StoreError) {
        try forget(after: sequence - 1, upTo: sequence, limit: 1) { _, _, _ in true }
    }

    /// Forgets identities that were accepted before a time, or that a clock which was ahead has dated later than `latest`.
    /// Each call goes up from the oldest number until one has to stay, and looks for more in one page of the others. Over
    /// ``mostIdentities`` the oldest go in any case.
    ///
    /// - Parameter latest: No time of a clock that was right is later.
    func forget(acceptedBefore: UnixTime, latest: UnixTime) throws(StoreError) {
        let limit = max(Identities.forgottenAtOnce, 2 * storedSinceForgetting)
        var excess = (try sharing?.remembered() ?? known.count) - Identities.mostIdentities
        storedSinceForgetting = 0
        try sharing?.write()
        if acceptedBefore > .min || latest < .max {
            progress.verdict = ClockVerdict(
                last: try highestNumber(), acceptedBefore: acceptedBefore, latest: latest)
        }
        let verdict = progress.verdict
        progress.forgottenUpTo = try forget(after: progress.forgottenUpTo, upTo: .max, limit: limit) {
            excess -= $2 ? 0 : 1
            return verdict.isOver($0, acceptedAt: $1) || excess >= 0
        }
        if verdict.last > 0 { try goRound(verdict, limit: limit) }
    }

    private func highestNumber() throws(StoreError) -> Int64 {
        defer { highest.reset() }
        return try highest.step() && !highest.isNull(0) ? highest.integer(0) : 0
    }

    /// Forgets what is over in the next page of all: a row of a clock that was wrong keeps no other. Where nothing is, a page
    /// a minute makes a round through all in four hours; where something is, the next page follows, up to `limit` rows.
    private func goRound(_ verdict: ClockVerdict, limit: Int) throws(StoreError) {
        // How many a database deletes is not asked.
        let most = sharing == nil ? min(max(500, known.count / 240), limit) : Identities.forgottenAtOnce
        var looked = 0
        var isSomeOver = false
        repeat {
            let first = progress.lookedUpTo
            let (last, count) = try round.nextPage(after: first, most: most)
            progress.lookedUpTo = count < most ? 0 : last
            looked += count
            isSomeOver = false
            if sharing == nil {
                try round.forEachOver(by: verdict, after: first, upTo: last) {
                    known.leave($0, at: $1)
                    isSomeOver = true
                }
            }
            if isSomeOver || sharing != nil { try round.deleteOver(by: verdict, after: first, upTo: last) }
        } while isSomeOver && progress.lookedUpTo > 0 && looked < limit
    }

    /// Forgets the identities from the oldest on as long as `isOver` says so, but for those that wait.
    ///
    /// - Returns: The sequence number up to which it came.
    @discardableResult
    private func forget(
        after first: Int64, upTo last: Int64, limit: Int,
        while isOver: (_ sequence: Int64, _ acceptedAt: UnixTime, _ isWaiting: Bool) -> Bool
    ) throws(StoreError) -> Int64 {
        try sharing?.write()
        var reached = first
        var room = limit
        var count = 0
        // Most often nothing is to be forgotten, and a database sends all that a statement finds at once.
        repeat {
            let page = min(room, Identities.forgottenPage)
            try oldest.bind(1, reached)
            try oldest.bind(2, Int64(page))
            defer { oldest.reset() }
            count = 0
            while try oldest.step(), oldest.integer(0) <= last {
                let isWaiting = oldest.integer(3) != 0
                guard isOver(oldest.integer(0), oldest.time(2), isWaiting) else { break }
                reached = oldest.integer(0)
                if !isWaiting, sharing == nil { known.leave(Digest(oldest.pair(1)), at: reached) }
                count += 1
            }
            room -= count
        } while room > 0 && count == Identities.forgottenPage
        try delete.bind(1, first)
        try delete.bind(2, reached)
        try delete.run()
        return reached
    }
}
