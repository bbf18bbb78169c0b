/// Bounds of one message, in bytes unless said otherwise.
package struct HTTPLimits: Equatable, Sendable {
    /// The head, from the first byte of the request line to the empty line, both included. Also bounds the
    /// request line.
    package var head: Int
    /// Number of header fields.
    package var fields: Int
    /// Bytes of a decoded body: without the framing of chunks.
    package var body: Int

    package init(head: Int = 16_384, fields: Int = 100, body: Int = 32_768) {
        self.head = head
        self.fields = fields
        self.body = body
    }
}
