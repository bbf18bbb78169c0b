import CNGHTTP2

/// A list of header fields, pseudo-header fields (`:path`, ...) first, in one run of bytes: nothing is allocated for
/// a single field, and nothing at all for a list that is used again. Names are lower case (RFC 9113, 8.2).
package struct HTTP2Headers: Sendable {
    package enum Indexing: Sendable {
        /// nghttp2 decides: kept in the table that both ends share, except for fields that rarely repeat (`:path`,
        /// `content-length`, ...) and for `authorization`.
        case automatic
        /// A literal that no one on the way may keep either ("never indexed", RFC 7541, 6.2.3): for device tokens.
        case never
    }

    private struct Field {
        /// `nil`: it came, or was made at run time, and stands in front of the value.
        var name: StaticString?
        var nameLength: Int32
        /// Of the value.
        var start: Int32
        var valueLength: Int32
        var indexing: Indexing
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    package init() {}

    /// The pseudo-header fields of a request; the path is never indexed.
    package init(method: String, scheme: String = "https", authority: String, path: String) {
        add(":method", method)
        add(":scheme", scheme)
        add(":authority", authority)
        add(":path", path, .never)
    }

    /// An answer's.
    init(status: Int, followedBy rest: HTTP2Headers) {
        add(":status", String(status))
        add(rest)
    }

    /// Takes out all but the first ones. Their room is kept.
    package mutating func keepFirst(_ count: Int) {
        guard count < fields.count else { return }
        let next = fields[count]
        let end = Int(next.start) - (next.name == nil ? Int(next.nameLength) : 0)
        bytes.removeSubrange(end...)
        fields.removeSubrange(count...)
    }

    package var count: Int { fields.count }

    package mutating func add(
        _ name: StaticString, _ value: String, _ indexing: Indexing = .automatic
    ) {
        let start = bytes.count
        append(value)
        close(start, name: name, nameLength: name.utf8CodeUnitCount, indexing)
    }

    /// - Parameter prefix: of the value.
    package mutating func add(
        _ name: StaticString, _ prefix: StaticString, _ value: String, _ indexing: Indexing = .automatic
    ) {
        let start = bytes.count
        prefix.withUTF8Buffer { bytes.append(contentsOf: $0) }
        append(value)
        close(start, name: name, nameLength: name.utf8CodeUnitCount, indexing)
    }

    package mutating func add(
        _ name: StaticString, _ value: Span<UInt8>, _ indexing: Indexing = .automatic
    ) {
        let start = bytes.count
        value.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        close(start, name: name, nameLength: name.utf8CodeUnitCount, indexing)
    }

    package mutating func add(_ others: HTTP2Headers) {
        let offset = Int32(bytes.count)
        bytes += others.bytes
        for var field in others.fields {
            field.start += offset
            fields.append(field)
        }
    }

    /// For names that are known only at run time; in lower case.
    package mutating func add(name: String, _ value: String, _ indexing: Indexing = .automatic) {
        bytes.append(contentsOf: name.utf8)
        let start = bytes.count
        bytes.append(contentsOf: value.utf8)
        close(start, name: nil, nameLength: name.utf8.count, indexing)
    }

    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        if fields.isEmpty {
            bytes.reserveCapacity(192)
            fields.reserveCapacity(8)
        }
        bytes.append(contentsOf: name)
        let start = bytes.count
        bytes.append(contentsOf: value)
        close(start, name: nil, nameLength: name.count, .automatic)
    }

    private mutating func append(_ value: String) {
        var value = value
        value.withUTF8 { bytes.append(contentsOf: $0) }
    }

    private mutating func close(
        _ start: Int, name: StaticString?, nameLength: Int, _ indexing: Indexing
    ) {
        fields.append(
            Field(
                name: name, nameLength: Int32(nameLength), start: Int32(start),
                valueLength: Int32(bytes.count - start), indexing: indexing))
    }

    /// The value of the first field of this name, `nil` if there is none. Bytes that are not UTF-8 are replaced.
    package subscript(_ name: StaticString) -> String? {
        bytes(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    package func bytes(of name: StaticString) -> ArraySlice<UInt8>? {
        guard !fields.isEmpty else { return nil }
        return name.withUTF8Buffer { wanted in
            fields.first { field in
                field.nameLength == wanted.count && withName(of: field) { $0.elementsEqual(wanted) }
            }
        }.map(value)
    }

    private func value(of field: Field) -> ArraySlice<UInt8> {
        bytes[Int(field.start)..<Int(field.start + field.valueLength)]
    }

    private func withName<Result>(of field: Field, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let name = field.name { return name.withUTF8Buffer(body) }
        return bytes[Int(field.start - field.nameLength)..<Int(field.start)].withUnsafeBufferPointer(body)
    }

    /// All fields in their order.
    package var all: [(name: String, value: String)] {
        fields.map { field in
            (
                withName(of: field) { String(decoding: $0, as: UTF8.self) },
                String(decoding: value(of: field), as: UTF8.self)
            )
        }
    }

    /// The fields as nghttp2 takes them; before `body` returns it copies all but the names that never change.
    func withFields<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { text in
            withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { list in
                // nghttp2 only reads, whatever its types say.
                let base = UnsafeMutablePointer(mutating: text.baseAddress)
                for index in fields.indices {
                    let field = fields[index]
                    let value = base.map { $0 + Int(field.start) }
                    var flags = field.indexing == .never ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : 0
                    if field.name != nil { flags |= NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue }
                    let name =
                        field.name.map { UnsafeMutablePointer(mutating: $0.utf8Start) }
                        ?? value.map { $0 - Int(field.nameLength) }
                    list.initializeElement(
                        at: index,
                        to: nghttp2_nv(
                            name: name, value: value, namelen: Int(field.nameLength),
                            valuelen: Int(field.valueLength), flags: UInt8(flags)))
                }
                return body(UnsafePointer(list.baseAddress), fields.count)
            }
        }
    }
}
