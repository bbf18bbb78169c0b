import Crypto
import Persistence
import PostgreSQL

/// A store in a PostgreSQL database, and who comes to it.
package struct DatabasePlace: Engine {
    let address: PostgreSQLAddress
    /// The node's digest key, from which the key of the rows is made.
    let key: Secret
    /// Bytes by which this node, and no other, is known; they stay after its process was killed. So the node need not wait
    /// for its own lease to end.
    let owner: [UInt8]
    /// The name by which others see who has the database.
    let name: String
    /// The version of the node's program.
    let version: String
    /// Seconds that a lease lasts.
    let lease: Int

    package init(
        _ address: PostgreSQLAddress, key: Secret, owner: [UInt8], name: String, version: String,
        lease: Int = Database.lease
    ) {
        self.address = address
        self.key = key
        self.owner = owner
        self.name = name
        self.version = version
        self.lease = lease
    }

    package var file: String? { nil }
    package var isShared: Bool { true }

    package func connect(for access: StoreAccess) throws(StoreError) -> any EngineConnection {
        try Database(self, for: access)
    }

    package func beginCopy(of tables: [StoreTable]) throws(StoreError) -> any EngineConnection {
        let database = try Database(self, for: .copying)
        do throws(StoreError) {
            try DatabaseSchema.beginCopy(database, of: tables)
        } catch {
            database.close()
            throw error
        }
        return database
    }
}

extension StorePlace {
    package static func database(
        _ place: DatabasePlace, _ kinds: DoorKinds = DoorKinds()
    ) -> StorePlace { StorePlace(place, kinds) }
}
