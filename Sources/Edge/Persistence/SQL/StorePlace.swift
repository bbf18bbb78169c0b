import Crypto
import PostgreSQL

/// The place of a store.
package enum StorePlace: Sendable {
    /// SQLite's, at this path.
    case file(String)
    case database(DatabasePlace)
}

/// A store in a PostgreSQL database, and who comes to it.
package struct DatabasePlace: Sendable {
    let address: PostgreSQLAddress
    /// The node's digest key, from which the key of the rows is made.
    let key: Secret
    /// The node's own, the same after its process was killed, and no other node's: it need not wait for its own lease.
    let owner: [UInt8]
    /// The name by which others see who has the database; ``version`` is that of the node's program.
    let name: String
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
}

/// The purpose for which a store is opened.
package enum StoreAccess: Sendable {
    /// Beside the node that runs.
    case reading
    /// In place of a node that is stopped: of a file nothing is changed, and nothing is made beside it.
    case inspecting
    /// Beside the node: what it reads anew each time.
    case changing
    /// As one node of several.
    case sharing
    /// In place of a node that is stopped: alone.
    case owning
    /// In place of a node that is stopped, alone, to fill a database that holds no store.
    case copying
}
