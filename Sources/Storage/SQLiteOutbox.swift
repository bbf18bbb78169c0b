import CSQLite
import Glibc
import Relay

/// The outbox in one SQLite file: durable when ``commit(_:)`` returns.
///
/// It runs on a thread of its own, one commit at a time; whoever calls gathers what comes meanwhile into the next.
package actor SQLiteOutbox: Outbox {
    private let thread: StoreThread
    private var store: Store?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Opens or makes the file, mode 0600.
    ///
    /// - Throws: ``SQLiteError``, with what to do when the file is damaged.
    package init(path: String) async throws(SQLiteError) {
        thread = StoreThread()
        do {
            store = try Store(path: path)
        } catch {
            thread.end()
            throw error.explained(path: path)
        }
        chmod(path, 0o600)
    }

    package func content() throws(OutboxError) -> OutboxContent {
        try translated { (store) throws(SQLiteError) in try store.content() }
    }

    package func commit(_ changes: [OutboxChange]) throws(OutboxError) -> [StoreResult] {
        try translated { (store) throws(SQLiteError) in try store.commit(changes) }
    }

    package func notifications(_ sequences: [Int64]) throws(OutboxError) -> [Int64: Notification] {
        try translated { (store) throws(SQLiteError) in try store.notifications(sequences) }
    }

    package func close() {
        store = nil
        thread.end()
    }

    private func translated<Value>(
        _ body: (Store) throws(SQLiteError) -> Value
    ) throws(OutboxError) -> Value {
        do throws(SQLiteError) {
            guard let store else {
                throw SQLiteError(code: SQLITE_MISUSE, operation: .step, message: "the outbox is closed")
            }
            return try body(store)
        } catch {
            throw error.isDiskFull ? .full : .failed(error.description)
        }
    }
}
