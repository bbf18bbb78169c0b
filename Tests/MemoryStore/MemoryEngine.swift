import Persistence

/// An engine that keeps everything in memory: the smallest one, as an example of a third.
///
/// A store of it is there as long as the engine's value is, however often it is opened. It has no file, seals nothing, and is
/// one node's. SQLite's library runs its statements; nothing of the module's own SQLite engine is used.
package final class MemoryEngine: Engine {
    /// The store's name in this process.
    private let name: String
    /// Holds the memory while nobody has the store open.
    private let keeper: MemoryConnection

    package init() throws(StoreError) {
        name = "file:/onionbell-\(UInt64.random(in: .min ... .max))?vfs=memdb"
        keeper = try MemoryConnection(name)
    }

    package var file: String? { nil }
    package var isShared: Bool { false }

    package func connect(for access: StoreAccess) throws(StoreError) -> any EngineConnection {
        try MemoryConnection(name)
    }

    package func beginCopy(of tables: [StoreTable]) throws(StoreError) -> any EngineConnection {
        let connection = try MemoryConnection(name)
        guard try connection.isEmpty() else {
            throw StoreError(refused: "there is a store in memory")
        }
        try connection.prepare()
        return connection
    }
}
