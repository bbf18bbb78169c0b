import COpenSSL

/// Bytes in memory that OpenSSL reads and writes as a file. A copy: OpenSSL keeps no pointer into Swift's arrays.
struct MemoryBIO: ~Copyable {
    let handle: OpaquePointer

    /// Makes an empty file, to be written.
    init() {
        guard let handle = BIO_new(BIO_s_mem()) else { preconditionFailure("out of memory for a BIO") }
        self.handle = handle
    }

    /// Makes a file of these bytes, to be read.
    init(_ bytes: [UInt8]) {
        self.init()
        let code = bytes.isEmpty ? 0 : BIO_write(handle, bytes, CInt(clamping: bytes.count))
        precondition(Int(code) == bytes.count, "out of memory for \(bytes.count) bytes")
    }

    deinit { BIO_free(handle) }

    var bytes: [UInt8] {
        var start: UnsafePointer<UInt8>?
        let count = onionbell_BIO_get_mem_data(handle, &start)
        return Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}
