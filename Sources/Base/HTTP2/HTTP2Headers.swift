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
        /// A literal as ``never``, and not compressed: for what is long, and has another value each time. Its
        /// bytes cost less than to make them fewer. Such fields are added behind all others.
        case verbatim
    }

    private struct Field {
        /// The name, if it never changes; `nil`: it came, or was made at run time, and stands in front of the
        /// value.
        var name: StaticString?
        var nameLength: Int32
        /// The index at which the field begins.
        var begin: Int32
        /// The index at which its value begins.
        var start: Int32
        var valueLength: Int32
        var indexing: Indexing
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []
    /// The number of fields that are not ``Indexing/verbatim``.
    private var plainCount = 0
    /// The index in `bytes` of the ``Indexing/verbatim`` fields, each as it stands in a header block.
    private var plainEnd = 0

    package init() {}

    /// Makes the pseudo-header fields of a request; the path is never indexed.
    package init(method: String, scheme: String = "https", authority: String, path: String) {
        add(":method", method)
        add(":scheme", scheme)
        add(":authority", authority)
        add(":path", path, .never)
    }

    /// Makes the header fields of an answer: its status, then the rest.
    init(status: Int, followedBy rest: HTTP2Headers) {
        add(":status", String(status))
        add(rest)
    }

    /// Takes out all but the first ones. Their room is kept.
    package mutating func keepFirst(_ count: Int) {
        guard count < fields.count else { return }
        let end = Int(fields[count].begin)
        bytes.removeSubrange(end...)
        fields.removeSubrange(count...)
        plainCount = min(plainCount, count)
        plainEnd = min(plainEnd, end)
    }

    package var count: Int { fields.count }

    package mutating func add(
        _ name: StaticString, _ value: String, _ indexing: Indexing = .automatic
    ) {
        let begin = open(name, valueLength: value.utf8.count, indexing)
        append(value)
        close(begin, name, indexing, valueLength: value.utf8.count)
    }

    /// Adds a field whose value is `prefix` and then `value`.
    package mutating func add(
        _ name: StaticString, _ prefix: StaticString, _ value: String, _ indexing: Indexing = .automatic
    ) {
        let length = prefix.utf8CodeUnitCount + value.utf8.count
        let begin = open(name, valueLength: length, indexing)
        prefix.withUTF8Buffer { bytes.append(contentsOf: $0) }
        append(value)
        close(begin, name, indexing, valueLength: length)
    }

    package mutating func add(
        _ name: StaticString, _ value: Span<UInt8>, _ indexing: Indexing = .automatic
    ) {
        let begin = open(name, valueLength: value.count, indexing)
        value.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        close(begin, name, indexing, valueLength: value.count)
    }

    package mutating func add(_ others: HTTP2Headers) {
        precondition(plainCount == fields.count, "a field behind those that go as they are")
        let offset = Int32(bytes.count)
        bytes += others.bytes
        for var field in others.fields {
            field.begin += offset
            field.start += offset
            fields.append(field)
        }
        plainCount += others.plainCount
        plainEnd = Int(offset) + others.plainEnd
    }

    /// Adds a field whose name is known only at run time; the name is in lower case.
    package mutating func add(name: String, _ value: String, _ indexing: Indexing = .automatic) {
        let begin = bytes.count
        if indexing == .verbatim { HTTP2Headers.beginLiteral(nameLength: name.utf8.count, in: &bytes) }
        bytes.append(contentsOf: name.utf8)
        if indexing == .verbatim { HTTP2Headers.append(length: value.utf8.count, to: &bytes) }
        bytes.append(contentsOf: value.utf8)
        close(
            begin, nil, nameLength: name.utf8.count, indexing, valueLength: value.utf8.count)
    }

    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        if fields.isEmpty {
            bytes.reserveCapacity(192)
            fields.reserveCapacity(8)
        }
        let begin = bytes.count
        bytes.append(contentsOf: name)
        bytes.append(contentsOf: value)
        close(begin, nil, nameLength: name.count, .automatic, valueLength: value.count)
    }

    private mutating func append(_ value: String) {
        var value = value
        value.withUTF8 { bytes.append(contentsOf: $0) }
    }

    /// Writes what stands before a value.
    private mutating func open(_ name: StaticString, valueLength: Int, _ indexing: Indexing) -> Int {
        let begin = bytes.count
        guard indexing == .verbatim else { return begin }
        HTTP2Headers.beginLiteral(nameLength: name.utf8CodeUnitCount, in: &bytes)
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        HTTP2Headers.append(length: valueLength, to: &bytes)
        return begin
    }

    private mutating func close(
        _ begin: Int, _ name: StaticString?, nameLength: Int? = nil, _ indexing: Indexing, valueLength: Int
    ) {
        fields.append(
            Field(
                name: name, nameLength: Int32(nameLength ?? name?.utf8CodeUnitCount ?? 0),
                begin: Int32(begin), start: Int32(bytes.count - valueLength),
                valueLength: Int32(valueLength), indexing: indexing))
        guard indexing != .verbatim else { return }
        plainCount += 1
        precondition(plainCount == fields.count, "a field behind those that go as they are")
        plainEnd = bytes.count
    }

    /// Begins a literal that is never indexed, with its name (RFC 7541, 6.2.3).
    private static func beginLiteral(nameLength: Int, in block: inout [UInt8]) {
        block.append(0x10)
        append(length: nameLength, to: &block)
    }

    /// Appends the length of a text that is not compressed (RFC 7541, 5.1 and 5.2).
    private static func append(length: Int, to block: inout [UInt8]) {
        guard length >= 0x7F else { return block.append(UInt8(length)) }
        block.append(0x7F)
        var rest = length - 0x7F
        while rest >= 0x80 {
            block.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        block.append(UInt8(rest))
    }

    /// Returns the value of the first field of this name, `nil` if there is none. Bytes that are not UTF-8
    /// are replaced.
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
        // In a literal the length of the value stands between.
        let start = field.indexing == .verbatim ? nameStart(of: field) : Int(field.begin)
        return bytes[start..<start + Int(field.nameLength)].withUnsafeBufferPointer(body)
    }

    private func nameStart(of field: Field) -> Int {
        var start = Int(field.begin) + 1
        let isLong = bytes[start] == 0x7F
        start += 1
        guard isLong else { return start }
        while bytes[start] & 0x80 != 0 { start += 1 }
        return start + 1
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

    /// Calls `body` with the fields as nghttp2 takes them, without those that are ``Indexing/verbatim``;
    /// before `body` returns it copies all but the names that never change.
    func withFields<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { text in
            withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: plainCount) { list in
                // nghttp2 only reads, whatever its types say.
                let base = UnsafeMutablePointer(mutating: text.baseAddress)
                for index in 0..<plainCount {
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
                return body(UnsafePointer(list.baseAddress), plainCount)
            }
        }
    }

    /// The ``Indexing/verbatim`` fields, as they stand at the end of a header block.
    var verbatim: [UInt8] { plainEnd < bytes.count ? Array(bytes[plainEnd...]) : [] }
}
