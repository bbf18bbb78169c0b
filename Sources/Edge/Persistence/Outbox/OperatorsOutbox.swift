import Clocks
import Encodings
import Relay

/// The outbox as the operator's commands see it: beside the node that runs, reading only, or in place of one that is
/// stopped. Tokens and messages are never read.
package struct OperatorsOutbox: ~Copyable {
    /// A waiting notification without what identifies its phone.
    package struct Row: Equatable, Sendable {
        package let sequence: Int64
        package let lane: LaneID
        package let isUrgent: Bool
        /// Keyed: says nothing without the node's key.
        package let device: Digest
        /// Bytes of content and token.
        package let size: Int
        package let attempts: Int
        /// Milliseconds since 1970, as all times here; 0: at once.
        package let notBefore: UnixTime
        package let acceptedAt: UnixTime
        package let expiresAt: UnixTime
    }

    /// The waiting notifications that are meant.
    package enum Selection: Equatable, Sendable {
        /// The notifications of one app and one host; `nil`: any.
        case lanes(app: String?, host: LaneHost?)
        case sequences([Int64])
    }

    package struct Summary: Equatable, Sendable {
        package var waiting = 0
        package var bytes = 0
        /// Milliseconds since 1970; `nil`: nothing waits.
        package var oldest: Int64?
        package var identities = 0
        package var deadTokens = 0
    }

    private let connection: Connection
    /// SQL for the bytes of a row, as the node counts them.
    private var sizeColumn: String { Schema.size(in: connection.dialect) }
    /// SQL for all rows that wait.
    private var rows: String { Schema.waitingRows }

    /// The rows of one page.
    package static let page = 1000

    /// Opens the outbox in a file.
    ///
    /// - Parameter isReadOnly: Beside a node that runs.
    /// - Throws: ``StoreError``; a damaged file may be found only later, by ``faults()``.
    package init(path: String, isReadOnly: Bool) throws(StoreError) {
        try self.init(.file(path), isReadOnly: isReadOnly)
    }

    package init(_ place: StorePlace, isReadOnly: Bool) throws(StoreError) {
        try self.init(place, for: isReadOnly ? .reading : .owning)
    }

    package init(_ place: StorePlace, for access: StoreAccess) throws(StoreError) {
        let connection = try Connection(place, for: access)
        if access == .owning { try connection.engine.promise() }
        try connection.engine.refuseOtherFormat()
        self.connection = connection
    }

    /// Returns all that is wrong with the store, at most 100 sentences: the engine's own, and rows that don't
    /// fit each other.
    package func faults() throws(StoreError) -> [String] {
        var faults = try connection.engine.faults()
        let strays: [(String, String)] = [
            (
                "waiting notifications that no repetition would be recognized for",
                "SELECT count(*) FROM \(rows) LEFT JOIN identity i USING (sequence) WHERE i.sequence IS NULL"
            ),
            (
                "remembered as ended that wait",
                "SELECT count(*) FROM identity JOIN \(rows) USING (sequence) WHERE ending IS NOT NULL"
            ),
        ]
        for (words, query) in strays {
            if let count = try connection.firstInteger(query), count > 0 {
                faults.append("\(count) \(words)")
            }
        }
        return faults
    }

    package func summary() throws(StoreError) -> Summary {
        var summary = Summary()
        let waiting = try Statement(
            """
            SELECT count(*), CAST(coalesce(sum(\(sizeColumn)), 0) AS BIGINT), min(accepted_at) FROM \(rows)
            """, on: connection)
        if try waiting.step() {
            summary.waiting = Int(waiting.integer(0))
            summary.bytes = Int(waiting.integer(1))
            summary.oldest = waiting.isNull(2) ? nil : waiting.integer(2)
        }
        summary.identities = Int(try connection.firstInteger("SELECT count(*) FROM identity") ?? 0)
        summary.deadTokens = Int(try connection.firstInteger("SELECT count(*) FROM dead_token") ?? 0)
        return summary
    }

    /// Returns the number of waiting notifications of each app.
    package func apps() throws(StoreError) -> [(name: String, waiting: Int)] {
        var apps: [(name: String, waiting: Int)] = []
        let statement = try Statement(
            "SELECT app, count(*) FROM \(rows) GROUP BY app ORDER BY app", on: connection)
        while try statement.step() { apps.append((statement.text(0), Int(statement.integer(1)))) }
        return apps
    }

    /// Returns a page of the waiting notifications, in the order of delivery of each device.
    ///
    /// Each page is read by a statement of its own: whoever takes long over the rows holds no read transaction, which
    /// would keep the node's log from being emptied. What comes or goes meanwhile is there or not.
    ///
    /// - Parameter last: A sequence: the page has the rows behind it, at most ``page``.
    package func page(after last: Int64, app: String?) throws(StoreError) -> [Row] {
        let statement = try Statement(
            """
            SELECT sequence, app, flags, token_digest, \(sizeColumn), attempts, not_before, accepted_at, expires_at, host
            FROM \(rows) WHERE sequence > ?1 AND (app = ?2 OR ?2 IS NULL) ORDER BY sequence LIMIT ?3
            """, on: connection)
        try statement.bind(1, last)
        try statement.bind(2, app)
        try statement.bind(3, Int64(OperatorsOutbox.page))
        var rows: [Row] = []
        while try statement.step() {
            let flags = Flags(rawValue: statement.integer(2))
            rows.append(
                Row(
                    sequence: statement.integer(0),
                    lane: LaneID(
                        app: statement.text(1), flags: flags,
                        host: statement.isNull(9) ? nil : statement.text(9)),
                    isUrgent: flags.contains(.urgent), device: Digest(statement.pair(3)),
                    size: Int(statement.integer(4)), attempts: Int(statement.integer(5)),
                    notBefore: statement.time(6), acceptedAt: statement.time(7),
                    expiresAt: statement.time(8)))
        }
        return rows
    }

    // MARK: In place of the node

    /// Makes notifications due at once, with all others of their devices. What their gateways asked for, for these devices and
    /// for the selected lanes, is forgotten.
    ///
    /// - Returns: how many had been put off, with those behind them.
    package func makeDue(_ selection: Selection) throws(StoreError) -> Int {
        try connection.transaction { () throws(StoreError) in
            let devices = try devicesPutOff(selection)
            if case .lanes(let app, let host) = selection {
                let forget = try Statement(
                    "DELETE FROM lane_state WHERE (app = ?1 OR ?1 IS NULL) AND (host = ?2 OR ?2 IS NULL)",
                    on: connection)
                try forget.bind(1, app)
                try forget.bind(2, host?.key)
                try forget.run()
            }
            let forget = try Statement("DELETE FROM wish WHERE digest = ?", on: connection)
            for device in devices {
                try forget.bind(1, device)
                try forget.run()
            }
            try connection.settle()
            var count = 0
            for table in Schema.waitingTables { count += try makeDue(devices, in: table) }
            return count
        }
    }

    /// Returns the devices that are put off: by one of their notifications, or by what a gateway has asked for.
    private func devicesPutOff(_ selection: Selection) throws(StoreError) -> Set<Digest> {
        var devices: Set<Digest> = []
        try each(of: selection) { (condition, bind) throws(StoreError) in
            // Who is put off is so with all that waits for the device, in both tables.
            let meant =
                switch selection {
                case .lanes: condition
                case .sequences: "token_digest IN (SELECT token_digest FROM \(rows) WHERE \(condition))"
                }
            let statement = try Statement(
                """
                SELECT token_digest FROM \(rows)
                WHERE \(meant) AND (not_before > 0 OR token_digest IN (SELECT digest FROM wish))
                """, on: connection)
            try bind(statement)
            while try statement.step() { devices.insert(Digest(statement.pair(0))) }
        }
        return devices
    }

    /// Makes the rows of these devices due; returns how many rows they have.
    private func makeDue(_ devices: Set<Digest>, in table: String) throws(StoreError) -> Int {
        var count = 0
        var putOff: [Int64] = []
        do {
            let rows = try Statement(
                "SELECT sequence, token_digest, not_before FROM \(table)", on: connection)
            while try rows.step() {
                guard devices.contains(Digest(rows.pair(1))) else { continue }
                count += 1
                if rows.integer(2) > 0 { putOff.append(rows.integer(0)) }
            }
        }
        let update = try Statement("UPDATE \(table) SET not_before = 0 WHERE sequence = ?", on: connection)
        for sequence in putOff {
            try update.bind(1, sequence)
            try update.run()
        }
        try connection.settle()
        return count
    }

    /// Takes notifications out; a sender that repeats one of them hears that it was refused.
    ///
    /// - Returns: how many.
    package func drop(_ selection: Selection) throws(StoreError) -> Int {
        try connection.transaction { () throws(StoreError) in
            var dropped = 0
            try each(of: selection) { (condition, bind) throws(StoreError) in
                for table in Schema.waitingTables {
                    let ending = Ending.dropped
                    let end = try Statement(
                        """
                        UPDATE identity SET ending = \(ending.code), reason = '\(ending.reason?.code ?? "")',
                            detail = '\(ending.detail ?? "")'
                        WHERE sequence IN (SELECT sequence FROM \(table) WHERE \(condition))
                        """, on: connection)
                    try bind(end)
                    try end.run()
                    try connection.settle()
                    let delete = try Statement("DELETE FROM \(table) WHERE \(condition)", on: connection)
                    try bind(delete)
                    try delete.run()
                    try connection.settle()
                    dropped += delete.changes
                }
            }
            return dropped
        }
    }

    /// Gives what waits for an app to another app.
    ///
    /// - Returns: How many.
    package func move(app: String, toApp other: String) throws(StoreError) -> Int {
        let rows = try Statement("SELECT count(*) FROM \(rows) WHERE app = ?1", on: connection)
        try rows.bind(1, app)
        let count = try rows.step() ? Int(rows.integer(0)) : 0
        rows.reset()
        try connection.transaction { () throws(StoreError) in
            let waiting = try Statement("UPDATE notification SET app = ?2 WHERE app = ?1", on: connection)
            try waiting.bind(1, app)
            try waiting.bind(2, other)
            try waiting.run()
            try Backlog.move(app: app, host: nil, toApp: other, of: nil, on: connection)
        }
        return count
    }

    /// Calls a body with SQL for which rows are meant and with what binds its values, once for each statement that this takes.
    private func each(
        of selection: Selection,
        _ body: (
            _ condition: String, _ bind: (borrowing Statement) throws(StoreError) -> Void
        ) throws(StoreError) -> Void
    ) throws(StoreError) {
        switch selection {
        case .lanes(let app, let host):
            let condition = "(app = ?1 OR ?1 IS NULL) AND (\(Schema.hostKey()) = ?2 OR ?2 IS NULL)"
            try body(condition) { (statement) throws(StoreError) in
                try statement.bind(1, app)
                try statement.bind(2, host?.key)
            }
        case .sequences(let sequences):
            for sequence in sequences {
                try body("sequence = ?1") { (statement) throws(StoreError) in try statement.bind(1, sequence)
                }
            }
        }
    }
}
