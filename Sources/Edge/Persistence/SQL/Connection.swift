/// One open store: one owner, closed when it lets go. Never leaves the thread of its store.
package struct Connection: ~Copyable {
    let engine: any EngineConnection

    package init(_ engine: any EngineConnection) { self.engine = engine }

    package init(_ place: StorePlace, for access: StoreAccess) throws(StoreError) {
        engine = try place.engine.connect(for: access)
    }

    deinit { engine.close() }

    package var dialect: any Dialect { engine.dialect }

    /// True if strangers could read or change the rows: columns are sealed, and rows are proven.
    package var isSealed: Bool { engine.seal != nil }

    /// Runs statements that bring no rows.
    package func execute(_ sql: String) throws(StoreError) { try engine.execute(sql) }

    // MARK: Transactions

    /// Makes all that `body` changes, or nothing.
    package func transaction<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try engine.begin()
        do throws(StoreError) {
            let value = try body()
            try engine.commit()
            return value
        } catch {
            engine.rollback()
            throw error
        }
    }

    /// Reads with several queries what was there at one time. `body` changes nothing.
    package func snapshot<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try execute(
            dialect.pick(PerDialect(file: "BEGIN", database: "BEGIN ISOLATION LEVEL REPEATABLE READ")))
        let value = Result { () throws(StoreError) in try body() }
        try? execute("ROLLBACK")
        return try value.get()
    }

    /// Throws the first failure of what was changed so far.
    package func settle() throws(StoreError) { try engine.settle() }

    // MARK: One value

    /// Returns the first column of the first row; `nil`: there is no row.
    package func firstInteger(_ sql: String) throws(StoreError) -> Int64? {
        let statement = try Statement(sql, on: self)
        return try statement.step() ? statement.integer(0) : nil
    }
}
