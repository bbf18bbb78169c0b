import COpenSSL

/// The "socket" of a session: what OpenSSL reads is the span that is being received, what it writes is gathered.
///
/// OpenSSL takes all input that is there before it asks for more, so nothing of a received span has to be kept.
final class MemoryTransport {
    /// Valid only during ``TLSSession/receive(_:deliver:)``.
    var input = UnsafeRawBufferPointer(start: nil, count: 0)
    var output: [UInt8] = []

    /// Makes a BIO that points to this transport, without keeping it alive.
    func makeBIO() -> OpaquePointer {
        guard let bio = BIO_new(Method.shared.handle) else { preconditionFailure("out of memory for a BIO") }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    private static func of(_ bio: OpaquePointer?) -> MemoryTransport {
        Unmanaged<MemoryTransport>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
    }

    private struct Method: @unchecked Sendable {
        // Unchecked: set up once, then only read. Lives as long as the process.
        let handle: OpaquePointer
        static let shared = Method()

        init() {
            guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "onionbell") else {
                preconditionFailure("out of memory for a BIO method")
            }
            BIO_meth_set_read_ex(method) { bio, target, room, count in
                onionbell_BIO_clear_retry(bio)
                let transport = MemoryTransport.of(bio)
                let available = min(room, transport.input.count)
                guard available > 0, let target, let source = transport.input.baseAddress else {
                    onionbell_BIO_set_retry_read(bio)
                    return 0
                }
                target.withMemoryRebound(to: UInt8.self, capacity: available) {
                    $0.update(from: source.assumingMemoryBound(to: UInt8.self), count: available)
                }
                transport.input = UnsafeRawBufferPointer(rebasing: transport.input[available...])
                count?.pointee = available
                return 1
            }
            BIO_meth_set_write_ex(method) { bio, source, length, count in
                onionbell_BIO_clear_retry(bio)
                let bytes = UnsafeRawBufferPointer(start: source, count: length)
                MemoryTransport.of(bio).output.append(contentsOf: bytes)
                count?.pointee = length
                return 1
            }
            BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
            handle = method
        }
    }
}
