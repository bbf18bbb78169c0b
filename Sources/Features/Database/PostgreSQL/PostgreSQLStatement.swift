import CPostgreSQL

/// One statement of a connection, prepared when it is first run, and again on each new connection.
package final class PostgreSQLStatement {
    let text: String
    var name = ""
    /// The number of the connection that it is prepared on, among those made so far; 0: none.
    var preparedIn = 0
    private let connection: PostgreSQLConnection
    /// The bound values, by index less one; they stay until they are bound anew.
    private var values: [Value]
    private var room: [UInt8] = []
    // Owned: the rows of the last run, cleared when there are others and in deinit.
    private var result: OpaquePointer?
    private var row: Int32 = -1
    /// Rows that the last run changed: known once the connection has settled.
    package internal(set) var changes = 0

    private struct Value {
        var bytes: [UInt8] = []
        var isNull = true
        var isBinary = false
    }

    /// Makes a statement.
    ///
    /// - Parameter text: SQL with `?` or `?1` for its values, as SQLite writes them.
    package init(_ text: String, on connection: PostgreSQLConnection) {
        let numbered = PostgreSQLText.numbered(text)
        self.text = numbered.text
        values = Array(repeating: Value(), count: numbered.count)
        self.connection = connection
    }

    deinit { clear() }

    // MARK: Values in, from index 1

    package func bindNull(_ index: Int32) {
        values[Int(index) - 1].isNull = true
    }

    package func bind(_ index: Int32, _ value: Int64) {
        bind(index, UInt8(ascii: "0")...UInt8(ascii: "9"), value)
    }

    private func bind(_ index: Int32, _ digits: ClosedRange<UInt8>, _ value: Int64) {
        set(index, isBinary: false) { bytes in
            var rest = value.magnitude
            repeat {
                bytes.append(digits.lowerBound + UInt8(rest % 10))
                rest /= 10
            } while rest > 0
            if value < 0 { bytes.append(UInt8(ascii: "-")) }
            bytes.reverse()
            bytes.append(0)
        }
    }

    /// Binds a text without its NUL bytes: PostgreSQL's texts hold none.
    package func bind(_ index: Int32, _ value: String) {
        set(index, isBinary: false) { bytes in
            bytes.append(contentsOf: value.utf8)
            if bytes.contains(0) { bytes.removeAll { $0 == 0 } }
            bytes.append(0)
        }
    }

    package func bind(_ index: Int32, bytes value: UnsafeRawBufferPointer) {
        set(index, isBinary: true) { bytes in bytes.append(contentsOf: value) }
    }

    package func bind(_ index: Int32, _ array: PostgreSQLArray) {
        set(index, isBinary: true) { bytes in array.write(to: &bytes) }
    }

    private func set(_ index: Int32, isBinary: Bool, _ body: (inout [UInt8]) -> Void) {
        let place = Int(index) - 1
        values[place].bytes.removeAll(keepingCapacity: true)
        body(&values[place].bytes)
        values[place].isNull = false
        values[place].isBinary = isBinary
    }

    /// Lends all values as libpq takes them.
    func withValues(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>) ->
            Int32
    ) -> Int32 {
        room.removeAll(keepingCapacity: true)
        for value in values where !value.isNull { room.append(contentsOf: value.bytes) }
        // libpq takes a null address for NULL, and no bytes have one.
        room.append(0)
        let lengths = values.map { Int32($0.bytes.count) }
        let formats = values.map { $0.isBinary ? Int32(1) : 0 }
        return room.withUnsafeBytes { room in
            let base = room.baseAddress!.assumingMemoryBound(to: CChar.self)
            var place = 0
            let pointers: [UnsafePointer<CChar>?] = values.map { value in
                guard !value.isNull else { return nil }
                defer { place += value.bytes.count }
                return base + place
            }
            return body(Int32(values.count), pointers, lengths, formats)
        }
    }

    // MARK: Running

    /// True when there is a row to read.
    package func step() throws(PostgreSQLError) -> Bool {
        if result == nil {
            try connection.send(self, expectsRows: true)
            try connection.settle()
        }
        guard let result else { return false }
        row += 1
        guard row < connection.libpq.ntuples(result) else {
            reset()
            return false
        }
        return true
    }

    /// Runs a statement that brings no row. In a transaction nobody waits for it.
    package func run() throws(PostgreSQLError) {
        try connection.send(self, expectsRows: false)
        if !connection.isInTransaction { try connection.settle() }
    }

    package func reset() {
        clear()
        row = -1
    }

    private func clear() {
        if let result { connection.libpq.clear(result) }
        result = nil
    }

    func take(_ rows: OpaquePointer) {
        clear()
        result = rows
        row = -1
    }

    // MARK: Values out, from column 0, valid rows only

    package var columnCount: Int32 { result.map { connection.libpq.nfields($0) } ?? 0 }

    package func name(_ column: Int32) -> String {
        guard let result, let name = connection.libpq.fname(result, column) else { return "" }
        return String(cString: name)
    }

    package func isNull(_ column: Int32) -> Bool {
        result.map { connection.libpq.getisnull($0, row, column) == 1 } ?? true
    }

    /// Lends a value as the server sent it: integers in network byte order, texts and bytes as they are.
    package func withBytes<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let result, let bytes = connection.libpq.getvalue(result, row, column) else {
            return body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return body(
            UnsafeRawBufferPointer(start: bytes, count: Int(connection.libpq.getlength(result, row, column))))
    }

    /// Returns the value of a column of any integer type, or of truth.
    package func integer(_ column: Int32) -> Int64 {
        withBytes(column) { bytes in
            guard let first = bytes.first, bytes.count <= 8 else { return 0 }
            // One byte is a truth, which has no sign.
            var value: Int64 = bytes.count > 1 && first & 0x80 != 0 ? -1 : 0
            for byte in bytes { value = value << 8 | Int64(byte) }
            return value
        }
    }

    package func text(_ column: Int32) -> String {
        guard let result else { return "" }
        // bool, int8, int2 and int4, as PostgreSQL numbers its types for good.
        if [16, 20, 21, 23].contains(connection.libpq.ftype(result, column)) {
            return isNull(column) ? "" : String(integer(column))
        }
        return withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }
}
