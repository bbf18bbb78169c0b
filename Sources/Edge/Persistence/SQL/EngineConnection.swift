import Crypto

/// One open connection of an engine. One thread uses it, and one ``Connection`` holds it.
package protocol EngineConnection: AnyObject {
    var dialect: any Dialect { get }

    /// Seals what strangers could read or change in the store; `nil`: only the node's user gets at it.
    var seal: AES256SIV? { get }

    /// Prepares a statement.
    ///
    /// - Parameter room: Bytes for texts and blobs of one run, which then cost no memory of their own, if the
    ///   engine copies them. All values of such a statement are bound anew for each run.
    func statement(_ sql: String, room: Int) throws(StoreError) -> any EngineStatement

    /// Runs statements that bring no rows.
    func execute(_ sql: String) throws(StoreError)

    /// Gives up what the connection has of the store; ``Connection`` calls it at its end.
    func close()

    // MARK: Transactions

    func begin() throws(StoreError)

    /// Begins a transaction that a power cut may lose until one of ``begin()`` has been committed after it.
    func beginUnawaited() throws(StoreError)
    func commit() throws(StoreError)

    /// Rolls back the transaction, if there still is one.
    func rollback()
    var isInTransaction: Bool { get }

    /// Throws the first failure of what was changed so far, where changes are not waited for.
    func settle() throws(StoreError)

    /// Writes something that changes nothing, so that a full disk fails the running transaction.
    ///
    /// - Parameter wasFull: The last commit found no room, and none has found any since.
    func prove(wasFull: Bool) throws(StoreError)

    // MARK: Tables

    /// Makes the tables of the outbox, or checks those that are there. Called by the node, and by a copy.
    func prepare() throws(StoreError)

    /// Throws if the tables that are there are not of this program's format.
    func refuseOtherFormat() throws(StoreError)

    /// Takes care that what is committed from now on is durable, and what is deleted is gone. Asked by commands that change
    /// the store; ``prepare()`` does it as well.
    func promise() throws(StoreError)

    /// Holds up others that make tables just now, until the end of the transaction.
    func lockTables() throws(StoreError)

    /// Returns the sentences of the engine's own check, at most 90.
    func faults() throws(StoreError) -> [String]

    /// Overwrites deleted data wherever it still lies, as far as no reader holds it up.
    func sweep() throws(StoreError)

    /// Makes a store of the copy, which is whole.
    func endCopy() throws(StoreError)

    // MARK: A node's own connection

    /// Begins the work of a node, which has read the store.
    ///
    /// - Parameter isAnew: The store was written anew while the node ran (``StoreStanding/anew(reason:)``).
    func beginRun(isAnew: Bool) throws(StoreError)

    /// Looks whether what is committed here is where the next start will read it.
    func look() -> StoreStanding

    /// Returns the part of a store that several nodes use; `nil`: nobody else uses it.
    func sharing(on connection: borrowing Connection) throws(StoreError) -> (any Sharing)?

    /// Connections that are made from now on go there: its password is another one.
    func use(_ engine: any Engine)
}

/// Whether the next start will find what is committed now.
package enum StoreStanding {
    case inPlace
    /// The store had disappeared and was written anew in its place. Everybody who has it open must open it once more.
    case anew(reason: String)
    /// The store is lost, and nothing may be stored.
    case lost(reason: String)
}

/// The answers of an engine that can do nothing more.
extension EngineConnection {
    package func close() {}
    package func beginUnawaited() throws(StoreError) { try begin() }
    package func settle() throws(StoreError) {}
    package func promise() throws(StoreError) {}
    package func lockTables() throws(StoreError) {}
    package func faults() throws(StoreError) -> [String] { [] }
    package func sweep() throws(StoreError) {}
    package func endCopy() throws(StoreError) {}
    package func beginRun(isAnew: Bool) throws(StoreError) {}
    package func look() -> StoreStanding { .inPlace }
    package func sharing(on connection: borrowing Connection) throws(StoreError) -> (any Sharing)? { nil }
    package func use(_ engine: any Engine) {}
}
