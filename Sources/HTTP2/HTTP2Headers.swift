import CNGHTTP2

/// A list of header fields, pseudo-header fields (`:path`, ...) first, in one run of bytes: nothing is allocated for
/// a single field. Names are lower case (RFC 9113, 8.2).
package struct HTTP2Headers: Sendable {
    package enum Indexing: Sendable {
        /// nghttp2 decides: kept in the table that both ends share, except for fields that rarely repeat (`:path`,
        /// `content-length`, ...) and for `authorization`.
        case automatic
        /// A literal that no one on the way may keep either ("never indexed", RFC 7541, 6.2.3): for device tokens.
        case never
    }

    private struct Field {
        var start: Int32
        var nameLength: Int32
        var valueLength: Int32
        var indexing: Indexing
    }

    private var bytes: [UInt8] = []
    private var fields: [Field] = []

    package init() {}

    /// The pseudo-header fields of a request; the path is never indexed.
    package init(method: String, scheme: String = "https", authority: String, path: String) {
        self.init()
        // Apple's, with a provider token.
        bytes.reserveCapacity(768)
        fields.reserveCapacity(16)
        add(":method", method)
        add(":scheme", scheme)
        add(":authority", authority)
        add(":path", path, .never)
    }

    /// An answer's.
    init(status: Int, followedBy rest: HTTP2Headers) {
        bytes.reserveCapacity(16 + rest.bytes.count)
        fields.reserveCapacity(1 + rest.fields.count)
        add(":status", String(status))
        let offset = Int32(bytes.count)
        bytes += rest.bytes
        for var field in rest.fields {
            field.start += offset
            fields.append(field)
        }
    }

    package var count: Int { fields.count }
    /// As HTTP/2 counts a list: 32 bytes for each field beside its name and value (RFC 9113, 6.5.2).
    package var listSize: Int { bytes.count + 32 * fields.count }

    package mutating func add(
        _ name: StaticString, _ value: String, _ indexing: Indexing = .automatic
    ) {
        let start = bytes.count
        var value = value
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        value.withUTF8 { bytes.append(contentsOf: $0) }
        close(start, name.utf8CodeUnitCount, indexing)
    }

    package mutating func add(
        _ name: StaticString, _ value: [UInt8], _ indexing: Indexing = .automatic
    ) {
        let start = bytes.count
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: value)
        close(start, name.utf8CodeUnitCount, indexing)
    }

    /// For names that are known only at run time; in lower case.
    package mutating func add(name: String, _ value: String, _ indexing: Indexing = .automatic) {
        let start = bytes.count
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: value.utf8)
        close(start, name.utf8.count, indexing)
    }

    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        if fields.isEmpty {
            bytes.reserveCapacity(192)
            fields.reserveCapacity(8)
        }
        let start = bytes.count
        bytes.append(contentsOf: name)
        bytes.append(contentsOf: value)
        close(start, name.count, .automatic)
    }

    private mutating func close(_ start: Int, _ nameLength: Int, _ indexing: Indexing) {
        fields.append(
            Field(
                start: Int32(start), nameLength: Int32(nameLength),
                valueLength: Int32(bytes.count - start - nameLength), indexing: indexing))
    }

    /// The value of the first field of this name, `nil` if there is none. Bytes that are not UTF-8 are replaced.
    package subscript(_ name: StaticString) -> String? {
        bytes(of: name).map { String(decoding: $0, as: UTF8.self) }
    }

    package func bytes(of name: StaticString) -> ArraySlice<UInt8>? {
        let range = bytes.withUnsafeBufferPointer { text in
            name.withUTF8Buffer { name -> Range<Int>? in
                for field in fields where field.nameLength == name.count {
                    let start = Int(field.start)
                    let end = start + name.count
                    if UnsafeBufferPointer(rebasing: text[start..<end]).elementsEqual(name) {
                        return end..<end + Int(field.valueLength)
                    }
                }
                return nil
            }
        }
        return range.map { bytes[$0] }
    }

    /// All fields in their order.
    package var all: [(name: String, value: String)] {
        fields.map { field in
            let nameEnd = Int(field.start + field.nameLength)
            return (
                String(decoding: bytes[Int(field.start)..<nameEnd], as: UTF8.self),
                String(decoding: bytes[nameEnd..<nameEnd + Int(field.valueLength)], as: UTF8.self)
            )
        }
    }

    /// The fields as nghttp2 takes them; it copies them before `body` returns.
    func withFields<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { text in
            withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { list in
                // nghttp2 only reads, whatever its types say.
                let base = UnsafeMutablePointer(mutating: text.baseAddress)
                for (index, field) in fields.enumerated() {
                    let name = base.map { $0 + Int(field.start) }
                    let flags = field.indexing == .never ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                    (list.baseAddress! + index).initialize(
                        to: nghttp2_nv(
                            name: name, value: name.map { $0 + Int(field.nameLength) },
                            namelen: Int(field.nameLength),
                            valuelen: Int(field.valueLength), flags: UInt8(flags.rawValue)))
                }
                return body(UnsafePointer(list.baseAddress), fields.count)
            }
        }
    }
}
