import Clocks
import Crypto
import Relay

/// One prepared statement: one owner, gone when it lets go. It must not outlive its connection.
package struct Statement: ~Copyable {
    private let engine: any EngineStatement
    private let seal: AES256SIV?

    /// Prepares a statement.
    ///
    /// - Parameter room: Bytes for texts and blobs of one run, which then cost no memory of their own. All
    ///   values of such a statement are bound anew for each run.
    package init(_ sql: String, on connection: borrowing Connection, room: Int = 0) throws(StoreError) {
        engine = try connection.engine.statement(sql, room: room)
        seal = connection.engine.seal
    }

    // MARK: Values in, from index 1

    package func bind(_ index: Int32, _ value: Int64) throws(StoreError) { try engine.bind(index, value) }

    package func bind(_ index: Int32, time: UnixTime) throws(StoreError) {
        try engine.bind(index, time.milliseconds)
    }

    package func bind(_ index: Int32, _ value: String?) throws(StoreError) {
        guard let value else { return try engine.bindNull(index) }
        try engine.bind(index, text: value)
    }

    /// Binds 16 bytes, big-endian.
    package func bind(_ index: Int32, high: UInt64, low: UInt64) throws(StoreError) {
        try engine.bind(index, high: high, low: low)
    }

    package func bind(_ index: Int32, _ digest: Digest) throws(StoreError) {
        try engine.bind(index, high: digest.high, low: digest.low)
    }

    /// Binds bytes; `nil`: NULL.
    package func bind(_ index: Int32, bytes: [UInt8]?) throws(StoreError) {
        guard let bytes else { return try engine.bindNull(index) }
        try engine.bind(index, bytes: bytes)
    }

    /// Binds a text: sealed where strangers could read it, and as it is elsewhere. There nobody else reads
    /// the store, and what is deleted in it is gone.
    ///
    /// - Parameters:
    ///   - context: Of the column; what was sealed for another one is not opened.
    ///   - owner: Its row, in the same way.
    package func bind(
        _ index: Int32, sealed value: String?, as context: String, of owner: @autoclosure () -> Sealed.Owner
    ) throws(StoreError) {
        guard let seal, let value else { return try bind(index, value) }
        try bind(index, sealed: value.utf8, as: context, of: owner(), by: seal)
    }

    package func bind(
        _ index: Int32, sealed value: [UInt8]?, as context: String, of owner: @autoclosure () -> Sealed.Owner
    ) throws(StoreError) {
        guard let seal, let value else { return try bind(index, bytes: value) }
        try bind(index, sealed: value, as: context, of: owner(), by: seal)
    }

    private func bind(
        _ index: Int32, sealed value: some Collection<UInt8>, as context: String, of owner: Sealed.Owner,
        by seal: AES256SIV
    ) throws(StoreError) {
        let sealed: [UInt8]
        do throws(CryptoError) {
            sealed = try seal.seal(value, as: context, of: owner.bytes)
        } catch {
            throw StoreError(.other, .bind, "\(error)")
        }
        try engine.bind(index, bytes: sealed)
    }

    // MARK: Running

    /// True when there is a row to read.
    package func step() throws(StoreError) -> Bool { try engine.step() }

    /// Runs a statement that brings no row, and makes it ready for the next values.
    package func run() throws(StoreError) { try engine.run() }

    package func reset() { engine.reset() }

    /// The number of rows that the last run changed, once the connection has settled.
    package var changes: Int { engine.changes }

    // MARK: Values out, from column 0, valid rows only

    package var columnCount: Int32 { engine.columnCount }

    package func name(_ column: Int32) -> String { engine.name(column) }

    package func isNull(_ column: Int32) -> Bool { engine.isNull(column) }

    package func integer(_ column: Int32) -> Int64 { engine.integer(column) }

    /// Returns a time, which is kept in milliseconds since 1970.
    package func time(_ column: Int32) -> UnixTime { UnixTime(milliseconds: engine.integer(column)) }

    package func text(_ column: Int32) -> String { engine.text(column) }

    package func bytes(_ column: Int32) -> [UInt8] { engine.bytes(column) }

    /// Returns 16 bytes, big-endian; zeros when the column holds anything else.
    package func pair(_ column: Int32) -> (high: UInt64, low: UInt64) { engine.pair(column) }

    /// Returns the text of a column, opened where texts are sealed; NULL is empty, as without a seal.
    ///
    /// - Throws: It was sealed under another key, for another column or for another row.
    package func sealedText(
        _ column: Int32, as context: String, of owner: @autoclosure () -> Sealed.Owner
    ) throws(StoreError) -> String {
        guard let seal, !isNull(column) else { return text(column) }
        return String(decoding: try opened(column, as: context, of: owner(), by: seal), as: UTF8.self)
    }

    package func sealedBytes(
        _ column: Int32, as context: String, of owner: @autoclosure () -> Sealed.Owner
    ) throws(StoreError) -> [UInt8] {
        guard let seal, !isNull(column) else { return bytes(column) }
        return try opened(column, as: context, of: owner(), by: seal)
    }

    private func opened(
        _ column: Int32, as context: String, of owner: Sealed.Owner, by seal: AES256SIV
    ) throws(StoreError) -> [UInt8] {
        do throws(CryptoError) {
            return try seal.open(bytes(column), as: context, of: owner.bytes)
        } catch {
            throw StoreError(
                .damaged, .step,
                "a row of the database was not written with this node's digest key, or was changed or copied since"
            )
        }
    }

    /// Whether the row was written as it is.
    package func isProven(_ column: Int32, _ owner: @autoclosure () -> Sealed.Owner) -> Bool {
        guard let seal else { return true }
        return (try? seal.open(bytes(column), as: Sealed.proof, of: owner().bytes)) == []
    }
}

extension Digest {
    package init(_ pair: (high: UInt64, low: UInt64)) { self.init(high: pair.high, low: pair.low) }
}
