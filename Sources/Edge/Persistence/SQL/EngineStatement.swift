/// One prepared statement of an engine. It does not outlive its connection, and belongs to one ``Statement``.
///
/// A node calls it dozens of times for each notification: conformers are final classes.
package protocol EngineStatement: AnyObject {
    // MARK: Values in, from index 1

    func bindNull(_ index: Int32) throws(StoreError)
    func bind(_ index: Int32, _ value: Int64) throws(StoreError)
    func bind(_ index: Int32, text: String) throws(StoreError)
    func bind(_ index: Int32, bytes: [UInt8]) throws(StoreError)
    /// Binds 16 bytes, big-endian.
    func bind(_ index: Int32, high: UInt64, low: UInt64) throws(StoreError)

    // MARK: Running

    /// True when there is a row to read.
    func step() throws(StoreError) -> Bool
    /// Runs a statement that brings no row, and makes it ready for the next values.
    func run() throws(StoreError)
    func reset()
    /// The number of rows that the last run changed, once the connection has settled.
    var changes: Int { get }

    // MARK: Values out, from column 0, valid rows only

    var columnCount: Int32 { get }
    func name(_ column: Int32) -> String
    func isNull(_ column: Int32) -> Bool
    func integer(_ column: Int32) -> Int64
    /// Returns the text of a column; empty where the column is NULL.
    func text(_ column: Int32) -> String
    func bytes(_ column: Int32) -> [UInt8]
    /// Returns 16 bytes, big-endian; zeros when the column holds anything else.
    func pair(_ column: Int32) -> (high: UInt64, low: UInt64)
}
