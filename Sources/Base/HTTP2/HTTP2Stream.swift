import CNGHTTP2

/// One stream of a session, from its first header field until it is closed. The session then uses the object for its next
/// stream, so that streams cost no allocation. The session owns the object, and nghttp2 points to it.
final class HTTP2Stream {
    /// 0 while it is free, and until nghttp2 has given it one.
    var id: Int32
    /// The client's name for its request; unused by servers.
    var tag = 0
    var status = 0
    /// The headers and body that came and are kept; `nil` as long as there are none.
    var content: Content?
    /// The size of all header fields that came, kept or not, as HTTP/2 counts it.
    var listSize = 0
    var outgoing: [UInt8] = []
    var outgoingOffset = 0
    /// The end of the header block, which nghttp2 knows nothing of; empty once it has gone to the output.
    var blockEnd: [UInt8] = []
    /// Whether the headers have come: further ones are trailers, which nobody needs.
    var hasHeaders = false
    /// Whether the peer has ended its side.
    var isComplete = false
    /// Whether what the peer sent went beyond ``HTTP2Session/incomingLimit``: the stream was reset, and
    /// nothing more is kept.
    var isTooLarge = false
    /// Whether the first frame of the request has gone to the output.
    var isSent = false

    final class Content {
        var headers = HTTP2Headers()
        var body: [UInt8] = []
    }

    init(_ id: Int32) {
        self.id = id
    }

    var headers: HTTP2Headers { content?.headers ?? HTTP2Headers() }
    var body: [UInt8] { content?.body ?? [] }

    func keep(_ change: (Content) -> Void) {
        let content = content ?? Content()
        self.content = content
        change(content)
    }

    func clear() {
        id = 0
        tag = 0
        status = 0
        content = nil
        listSize = 0
        outgoing = []
        outgoingOffset = 0
        blockEnd = []
        hasHeaders = false
        isComplete = false
        isTooLarge = false
        isSent = false
    }

    /// The pointer to the stream as nghttp2 holds it: valid as long as the session that owns it.
    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func of(_ pointer: UnsafeMutableRawPointer?) -> HTTP2Stream? {
        pointer.map { Unmanaged<HTTP2Stream>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Fills a DATA frame.
    func readBody(into room: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isEnd: Bool) {
        let count = min(room.count, outgoing.count - outgoingOffset)
        if count > 0 {
            outgoing.withUnsafeBufferPointer { body in
                room.baseAddress!.update(from: body.baseAddress! + outgoingOffset, count: count)
            }
        }
        outgoingOffset += count
        return (count, outgoingOffset == outgoing.count)
    }

    /// Calls `body` with nghttp2's source of the outgoing body; with `nil` if there is none, so that the headers end the
    /// stream.
    func withBodyProvider<Result>(_ body: (UnsafePointer<nghttp2_data_provider>?) -> Result) -> Result {
        guard !outgoing.isEmpty else { return body(nil) }
        var provider = nghttp2_data_provider(
            source: nghttp2_data_source(ptr: pointer), read_callback: SessionCallbacks.readBody)
        return withUnsafePointer(to: &provider, body)
    }
}
