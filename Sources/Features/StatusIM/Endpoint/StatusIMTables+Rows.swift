import Encodings
import Persistence
import Relay

/// The rows as a copy, a backup and a change of the clock see them.
extension StatusIMTables {
    static let dates = [
        MovedDates("status_registration", "changed_at"), MovedDates("status_registration", "used_at"),
        MovedDates("status_message", "handled_at"),
    ]

    static func owners(of table: StoreTable, in source: borrowing Connection) -> RowOwners {
        let isRegistration = table.name == "status_registration"
        return { _, row in
            isRegistration
                ? .status(installation: Digest(row.pair(1)), owner: Digest(row.pair(2))) : .all
        }
    }
}

extension Sealed.Owner {
    static func status(installation: Digest, owner: Digest) -> Sealed.Owner {
        .row(kind: 8, of: installation, owner)
    }
}
