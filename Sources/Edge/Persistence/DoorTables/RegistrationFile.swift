import Relay

/// The registrations of doors, as the operator's commands see them, also beside the node that runs: doors ask their tables
/// each time.
package struct RegistrationFile: ~Copyable {
    /// One registration: the names of its fields, and their values.
    package struct Row: Equatable, Sendable {
        package let fields: [String]
        package let values: [String]
    }

    package let connection: Connection
    /// The kinds of tables that the program knows.
    package let kinds: DoorKinds
    /// The views of all doors that have tables in this file.
    package let views: [RegistrationView]

    /// Opens the registrations in a file.
    ///
    /// - Parameter isReadOnly: for those who change nothing.
    package init(
        path: String, of kinds: DoorKinds = DoorKinds(), isReadOnly: Bool
    ) throws(StoreError) {
        try self.init(.file(path, kinds), isReadOnly: isReadOnly)
    }

    package init(_ place: StorePlace, isReadOnly: Bool) throws(StoreError) {
        let connection = try Connection(place, for: isReadOnly ? .reading : .changing)
        if !isReadOnly { try connection.engine.promise() }
        try connection.engine.refuseOtherFormat()
        var views: [RegistrationView] = []
        for kind in place.kinds.all where try DoorSchema.isThere(kind, on: connection) {
            views += kind.views
        }
        (self.views, kinds) = (views, place.kinds)
        self.connection = connection
    }

    /// Calls `body` with all registrations of one kind.
    package func forEach(of view: RegistrationView, _ body: (Row) -> Void) throws(StoreError) {
        let statement = try Statement(view.query, on: connection)
        while try statement.step() { body(Row(statement)) }
    }

    /// Returns a page of the registrations of one kind, short ids first, so that numbers are in their order.
    ///
    /// - Parameters:
    ///   - last: An id: those behind it; empty: the first ones.
    ///   - count: How many at most.
    package func page(
        of view: RegistrationView, after last: String, count: Int
    ) throws(StoreError) -> [Row] {
        let statement = try Statement(
            """
            SELECT * FROM (\(view.query)) AS view
            WHERE length(id) > length(?1) OR length(id) = length(?1) AND id > ?1 ORDER BY length(id), id LIMIT ?2
            """, on: connection)
        try statement.bind(1, last)
        try statement.bind(2, Int64(count))
        var rows: [Row] = []
        while try statement.step() { rows.append(Row(statement)) }
        return rows
    }

    package func row(_ id: String, of view: RegistrationView) throws(StoreError) -> Row? {
        let statement = try Statement("SELECT * FROM (\(view.query)) AS view WHERE id = ?1", on: connection)
        try statement.bind(1, id)
        return try statement.step() ? Row(statement) : nil
    }

    /// Removes a registration; returns whether it was there.
    package func remove(_ id: String, of view: RegistrationView) throws(StoreError) -> Bool {
        try connection.transaction { () throws(StoreError) in
            let isThere = try row(id, of: view) != nil
            for removal in view.removal {
                let statement = try Statement(removal, on: connection)
                try statement.bind(1, id)
                try statement.run()
            }
            return isThere
        }
    }
}

extension RegistrationFile {
    /// Changes a door's tables in a transaction of its own. They are made if they are not there.
    package func change<Tables: DoorTables>(
        _ kind: Tables.Type, _ body: (Tables) throws(StoreError) -> Void
    ) throws(StoreError) {
        try DoorSchema.prepare(kind, on: connection)
        try connection.transaction { () throws(StoreError) in try body(Tables(connection)) }
    }

    /// Looks into a door's tables; `nil`: they are not there.
    package func look<Tables: DoorTables, Value>(
        _ kind: Tables.Type, _ body: (Tables) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        guard try DoorSchema.isThere(kind, on: connection) else { return nil }
        return try body(Tables(connection))
    }
}

extension RegistrationFile.Row {
    fileprivate init(_ statement: borrowing Statement) {
        let columns = 0..<statement.columnCount
        fields = columns.map { statement.name($0) }
        values = columns.map { statement.text($0) }
    }
}
