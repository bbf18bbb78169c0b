import CPostgreSQL
import Glibc

/// One connection to PostgreSQL, always in pipeline mode: what changes rows is sent and not waited for, until
/// ``settle()`` or the next statement with rows. So one commit takes one round trip, however much is in it.
///
/// When it is lost, the next call that begins something makes a new one. Owned by one thread; its statements are of this
/// connection only.
package final class PostgreSQLConnection {
    let libpq: onionbell_libpq
    // Owned: finished in deinit, and when it is lost.
    private(set) var handle: OpaquePointer?
    /// The address for the connections that are made from now on.
    package var address: PostgreSQLAddress
    /// The number of connections made so far. A statement that was prepared on an earlier one is not on this one.
    private(set) var generation = 0
    private var lastName = 0
    /// Requests that the server has not answered yet, in order.
    private(set) var unanswered: [Expected] = []
    /// The first failure since the last ``settle()``.
    private var failure: PostgreSQLError?
    /// Whether a transaction is open: from ``begin()`` to its end.
    package private(set) var isInTransaction = false
    /// Runs on each new connection before all else.
    package var onConnected: ((PostgreSQLConnection) throws(PostgreSQLError) -> Void)?

    enum Expected {
        case preparation(PostgreSQLStatement)
        case changes(PostgreSQLStatement?)
        case rows(PostgreSQLStatement)
        case sync
        /// A posted statement, whose failure concerns nobody.
        case posted
    }

    /// Milliseconds that the server may be silent while something is asked of it.
    package var patience: Int32 = 60_000

    /// Milliseconds after which TLS is asked for what it has.
    private static let look: Int32 = 20

    /// The most statements whose answers may lie in memory before they are read.
    private static let mostUnread = 256

    /// Makes a connection that connects later, when something is asked.
    package init(_ address: PostgreSQLAddress) throws(PostgreSQLError) {
        libpq = try LibPQ.load().pointee
        self.address = address
    }

    deinit { if let handle { libpq.finish(handle) } }

    // MARK: Connecting

    package var isConnected: Bool { handle != nil }

    /// Makes a connection if there is none.
    package func connect() throws(PostgreSQLError) {
        guard handle == nil else { return }
        let parameters = try address.parameters()
        let made = PostgreSQLConnection.withCStrings(parameters) { names, values in
            libpq.connectdbParams(names, values, 0)
        }
        guard let made else { throw .lost("out of memory for a connection") }
        guard libpq.status(made) == CONNECTION_OK else {
            let reason = LibPQ.text(libpq.errorMessage(made))
            libpq.finish(made)
            let error = PostgreSQLError.lost("no connection to PostgreSQL: \(reason)")
            guard error.says("certificate verify failed"), let fault = certificateFault(parameters) else {
                throw error
            }
            throw .lost("\(error): \(fault)")
        }
        // Notices would go to the standard error output.
        _ = libpq.setNoticeProcessor(made, { _, _ in }, nil)
        guard libpq.setnonblocking(made, 1) == 0, libpq.enterPipelineMode(made) == 1 else {
            libpq.finish(made)
            throw .lost("no pipeline on this connection to PostgreSQL")
        }
        handle = made
        generation += 1
        unanswered = []
        failure = nil
        isInTransaction = false
        do throws(PostgreSQLError) {
            try onConnected?(self)
        } catch {
            drop()
            throw error
        }
    }

    /// Lets go of the connection, whatever it was doing.
    package func drop() {
        if let handle { libpq.finish(handle) }
        handle = nil
        unanswered = []
        isInTransaction = false
    }

    func lose(_ what: String) -> PostgreSQLError {
        let reason = handle.map { LibPQ.text(libpq.errorMessage($0)) } ?? ""
        drop()
        return .lost("the connection to PostgreSQL is lost: \(reason.isEmpty ? what : reason)")
    }

    /// Lends two arrays of C strings, both ended by NULL.
    static func withCStrings<Value>(
        _ pairs: [(name: String, value: String)],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Value
    ) -> Value {
        // Freed below, after the call.
        let names = pairs.map { strdup($0.name) }
        let values = pairs.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        return body(
            names.map { UnsafePointer<CChar>($0) } + [nil], values.map { UnsafePointer<CChar>($0) } + [nil])
    }

    // MARK: Transactions

    /// Opens a transaction. Nothing in it is done before ``commit()`` has returned.
    package func begin() throws(PostgreSQLError) {
        try connect()
        try send("BEGIN")
        isInTransaction = true
    }

    /// Commits the transaction. When this throws and the connection is lost, nobody knows whether it was
    /// done; otherwise it is to be rolled back.
    package func commit() throws(PostgreSQLError) {
        guard isInTransaction else { throw .lost("the connection to PostgreSQL is lost") }
        try send("COMMIT")
        try settle()
        isInTransaction = false
    }

    package func rollback() {
        guard isInTransaction else { return }
        // A pipeline that has failed does nothing more until it has settled.
        do throws(PostgreSQLError) { try settle() } catch { if error.isConnectionLost { return } }
        do throws(PostgreSQLError) {
            try send("ROLLBACK")
            try settle()
        } catch {
            drop()
        }
        isInTransaction = false
    }

    // MARK: Statements

    /// Runs statements that bring no rows, as one text, outside of the pipeline's prepared ones.
    package func execute(_ text: String) throws(PostgreSQLError) {
        try connect()
        for statement in PostgreSQLText.statements(text) { try send(statement) }
        try settle()
    }

    private func send(_ text: String) throws(PostgreSQLError) {
        guard let handle, libpq.sendQueryParams(handle, text, 0, nil, nil, nil, nil, 1) == 1 else {
            throw lose("nothing can be sent")
        }
        unanswered.append(.changes(nil))
    }

    /// Sends a statement's run.
    func send(_ statement: PostgreSQLStatement, expectsRows: Bool) throws(PostgreSQLError) {
        // Within a transaction a new connection would know nothing of it.
        if !isInTransaction { try connect() }
        guard let handle else { throw .lost("the connection to PostgreSQL is lost") }
        if statement.preparedIn != generation {
            lastName += 1
            statement.name = "s\(lastName)"
            guard libpq.sendPrepare(handle, statement.name, statement.text, 0, nil) == 1 else {
                throw lose("nothing can be sent")
            }
            statement.preparedIn = generation
            unanswered.append(.preparation(statement))
        }
        let sent = statement.withValues { count, values, lengths, formats in
            libpq.sendQueryPrepared(handle, statement.name, count, values, lengths, formats, 1)
        }
        guard sent == 1 else { throw lose("nothing can be sent") }
        unanswered.append(expectsRows ? .rows(statement) : .changes(statement))
        if unanswered.count.isMultiple(of: PostgreSQLConnection.mostUnread) {
            guard libpq.flush(handle) >= 0, libpq.consumeInput(handle) == 1 else {
                throw lose("nothing can be sent")
            }
        }
    }

    /// Waits until all that was sent has been answered.
    ///
    /// - Throws: The first failure since the last call; a transaction that is open can only be rolled back then.
    package func settle() throws(PostgreSQLError) {
        if handle != nil, !unanswered.isEmpty {
            if !isPosted { try synchronize(.sync) }
            for expected in unanswered { try take(expected) }
            unanswered.removeAll(keepingCapacity: true)
        }
        if let failure {
            self.failure = nil
            throw failure
        }
    }

    func synchronize(_ expected: Expected) throws(PostgreSQLError) {
        guard let handle, libpq.pipelineSync(handle) == 1 else { throw lose("nothing can be sent") }
        unanswered.append(expected)
    }

    private func take(_ expected: Expected) throws(PostgreSQLError) {
        switch expected {
        case .sync, .posted:
            guard let result = try nextResult() else { throw lose("no answer") }
            libpq.clear(result)
            if case .posted = expected { failure = nil }
        case .preparation, .changes, .rows: try takeResults(expected)
        }
    }

    private func takeResults(_ expected: Expected) throws(PostgreSQLError) {
        // Each has one result, and then none.
        while let result = try nextResult() {
            switch (libpq.resultStatus(result), expected) {
            case (PGRES_TUPLES_OK, .rows(let statement)): statement.take(result)
            case (PGRES_COMMAND_OK, .changes(let statement)), (PGRES_TUPLES_OK, .changes(let statement)):
                statement?.changes = libpq.cmdTuples(result).map { Int(atoi($0)) } ?? 0
                libpq.clear(result)
            case (PGRES_COMMAND_OK, _): libpq.clear(result)
            case (let status, _):
                // What was not prepared has to be once more.
                if case .preparation(let statement) = expected { statement.preparedIn = 0 }
                if status != PGRES_PIPELINE_ABORTED { note(result) }
                libpq.clear(result)
            }
        }
    }

    private func note(_ result: OpaquePointer) {
        let state = libpq.resultErrorField(result, onionbell_diag_state).map { String(cString: $0) } ?? ""
        let message = LibPQ.text(libpq.resultErrorField(result, onionbell_diag_message))
        if failure == nil {
            failure = PostgreSQLError(state: state, message: message.isEmpty ? "PostgreSQL failed" : message)
        }
    }

    /// Waits for the next result, as long as patience lasts.
    private func nextResult() throws(PostgreSQLError) -> OpaquePointer? {
        guard let handle else { throw .lost("the connection to PostgreSQL is lost") }
        // With TLS an answer may have left the socket, and not be read yet: poll doesn't see that.
        let interval = libpq.sslInUse(handle) == 0 ? patience : min(patience, PostgreSQLConnection.look)
        var waited: Int32 = 0
        while true {
            let left = libpq.flush(handle)
            guard left >= 0 else { throw lose("nothing can be sent") }
            // What has been sent already is answered while the rest goes out.
            if libpq.isBusy(handle) == 0 { break }
            var wait = pollfd(
                fd: libpq.socket(handle), events: Int16(POLLIN | (left > 0 ? POLLOUT : 0)), revents: 0)
            let ready = poll(&wait, 1, interval)
            guard ready >= 0 || errno == EINTR else { throw lose("poll") }
            waited = ready == 0 ? waited + interval : 0
            guard waited < patience else { throw silent() }
            if ready == 0 || wait.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
                guard libpq.consumeInput(handle) == 1 else { throw lose("it was closed") }
            }
        }
        let result = libpq.getResult(handle)
        if let result, libpq.status(handle) == CONNECTION_BAD {
            libpq.clear(result)
            throw lose("it was closed")
        }
        return result
    }

    private func silent() -> PostgreSQLError {
        drop()
        return .lost("the connection to PostgreSQL is lost: it was silent for \(patience / 1000) seconds")
    }
}
