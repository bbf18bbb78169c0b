import Encodings
import Relay

/// Copies a store from one place to another, whatever their engines, while no node uses either.
///
/// The copy goes page by page, each in a transaction, in the order of the tables' keys. No node takes the target before it is
/// whole: a database says that it is not finished, and a file has another name. A copy that was cut short begins anew, since
/// a node may have changed the source meanwhile. The source stays as it is.
package final class StoreCopy {
    private let source: Connection
    private let kinds: DoorKinds
    private let target: Connection

    /// Rows in a transaction.
    static let page: Int64 = 2000

    /// Opens both stores for a copy.
    ///
    /// - Parameter target: Holds nothing, or a copy that was cut short.
    package init(from source: StorePlace, to target: StorePlace) throws(StoreError) {
        kinds = source.kinds
        self.source = try Connection(source, for: .owning)
        try self.source.engine.prepare()
        self.target = Connection(try target.engine.beginCopy(of: kinds.copied))
        try refuseUnknownTables()
        try forgetEarlier()
    }

    /// Deletes what an earlier copy has left in the target.
    private func forgetEarlier() throws(StoreError) {
        var tables = Schema.tables
        for kind in kinds.all where try DoorSchema.isThere(kind, on: target) {
            tables += kind.tables
        }
        try target.transaction { () throws(StoreError) in
            for table in tables.reversed() where table.isCopied {
                try target.execute("DELETE FROM \(table.name)")
            }
        }
    }

    /// Copies all.
    ///
    /// - Parameter onProgress: Called after each page, with how many rows of the table there are in the target.
    package func run(_ onProgress: (_ table: String, _ rows: Int64) -> Void) throws(StoreError) {
        for table in Schema.tables where table.isCopied {
            try copy(table, owners: Schema.owners(of: table), onProgress)
        }
        for kind in kinds.all where try DoorSchema.isThere(kind, on: source) {
            try DoorSchema.prepare(kind, on: target)
            for table in kind.tables where table.isCopied {
                try copy(table, owners: kind.owners(of: table, in: source), onProgress)
            }
        }
        if target.isSealed { try complete() }
        try target.engine.endCopy()
    }

    package static func taken(_ what: String) -> StoreError {
        StoreError(refused: "\(what): a store is only copied to where there is none. Name another place")
    }

    /// Adds the proofs (``Sealed/proof``) and the keys of tokens. Only a database has them, since others could change its
    /// rows.
    private func complete() throws(StoreError) {
        for kind in kinds.all where try DoorSchema.isThere(kind, on: target) {
            try target.transaction { () throws(StoreError) in try kind.complete(target) }
        }
    }

    /// Refuses a source with tables of a feature that this program was built without: its copy would not have them.
    private func refuseUnknownTables() throws(StoreError) {
        let names = try Statement("SELECT name FROM door", on: source)
        while try names.step() {
            let name = names.text(0)
            guard kinds.all.contains(where: { $0.name.hasSameBytes(as: name) }) else {
                throw StoreError(
                    refused: "the store has the tables of \(name), which this program was built without")
            }
        }
    }

    private func copy(
        _ table: StoreTable, owners: RowOwners, _ onProgress: (_ table: String, _ rows: Int64) -> Void
    ) throws(StoreError) {
        let (key, columns) = (table.pageKey, table.copiedColumns)
        let paging = key.map { "WHERE \($0) > ?1 ORDER BY \($0) LIMIT \(StoreCopy.page)" } ?? ""
        let select = try Statement("SELECT \(table.names) FROM \(table.name) \(paging)", on: source)
        let insert = try Statement(table.addition, on: target)
        var last = CopiedValue.start(of: columns[0].kind)
        var count: Int64
        repeat {
            count = 0
            if key != nil { try last.bind(1, to: select) }
            try target.transaction { () throws(StoreError) in
                while try select.step() {
                    for (index, column) in columns.enumerated() {
                        let value = try column.value(Int32(index), of: select, owners(column, select))
                        try value.bind(Int32(index) + 1, to: insert)
                        if index == 0 { last = value }
                    }
                    try insert.run()
                    count += 1
                }
            }
            select.reset()
            onProgress(table.name, try rows(of: table, in: target))
        } while key != nil && count == StoreCopy.page
        if let counter = table.counter { try copyCounter(of: table, counter) }
        let (there, here) = (try rows(of: table, in: source), try rows(of: table, in: target))
        guard there == here else {
            throw StoreError(.other, .step, "\(table.name) has \(there) rows, and its copy \(here)")
        }
    }

    private func rows(
        of table: StoreTable, in connection: borrowing Connection
    ) throws(StoreError) -> Int64 {
        try connection.firstInteger("SELECT count(*) FROM \(table.name)") ?? 0
    }

    /// Copies the last number that a table has given, so that no number is given again, not even the number of a deleted row.
    private func copyCounter(
        of table: StoreTable, _ counter: RowCounter
    ) throws(StoreError) {
        guard let last = try source.firstInteger(source.dialect.lastNumber(of: table.name, counter)),
            last > 0,
            let statements = target.dialect.goOn(behind: last, in: table.name, counter)
        else { return }
        try target.execute(statements)
    }
}
