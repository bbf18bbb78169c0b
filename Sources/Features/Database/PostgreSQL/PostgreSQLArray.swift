/// One column of many rows, as PostgreSQL takes an array in binary: all that a statement with `unnest` or `ANY` needs.
package struct PostgreSQLArray {
    /// A type of elements, with the number that PostgreSQL has given it for good.
    package enum Element: UInt32 {
        case bytes = 17
        case integer = 20
        case text = 25

        package var name: String {
            switch self {
            case .bytes: "BYTEA"
            case .integer: "BIGINT"
            case .text: "TEXT"
            }
        }
    }

    private let element: Element
    private var values: [UInt8] = []
    private var count: UInt32 = 0
    private var hasNull = false

    package init(_ element: Element) { self.element = element }

    package mutating func removeAll() {
        values.removeAll(keepingCapacity: true)
        count = 0
        hasNull = false
    }

    package mutating func append(_ value: Int64) {
        append(length: 8)
        append(UInt64(bitPattern: value))
    }

    /// Appends 16 bytes, big-endian.
    package mutating func append(high: UInt64, low: UInt64) {
        append(length: 16)
        append(high)
        append(low)
    }

    /// Appends a text without its NUL bytes: PostgreSQL's texts hold none.
    package mutating func append(_ value: String) {
        append(length: value.utf8.reduce(0) { $0 + ($1 == 0 ? 0 : 1) })
        if value.utf8.contains(0) {
            values.append(contentsOf: value.utf8.lazy.filter { $0 != 0 })
        } else {
            values.append(contentsOf: value.utf8)
        }
    }

    /// Appends an element of `byteCount` bytes.
    ///
    /// - Parameter write: Appends exactly `byteCount` bytes.
    package mutating func append<Failure: Error>(
        byteCount: Int, _ write: (inout [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        append(length: byteCount)
        try write(&values)
    }

    package mutating func appendNull() {
        hasNull = true
        append(length: -1)
    }

    private mutating func append(length: Int) {
        count += 1
        append(UInt32(bitPattern: Int32(length)))
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { values.append(contentsOf: $0) }
    }

    /// Writes PostgreSQL's binary form (`array_recv`): the number of dimensions, whether there are NULLs, the elements' type;
    /// for each dimension its length and first index; then the elements, each behind its length.
    func write(to bytes: inout [UInt8]) {
        let head: [UInt32] =
            count == 0
            ? [0, 0, element.rawValue] : [1, hasNull ? 1 : 0, element.rawValue, count, 1]
        for word in head { withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) } }
        bytes.append(contentsOf: values)
    }
}
