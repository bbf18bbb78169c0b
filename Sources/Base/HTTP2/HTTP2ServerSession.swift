import CNGHTTP2

/// A request, whole.
package struct HTTP2Request: Sendable {
    /// The header fields, with the pseudo-header fields.
    package let headers: HTTP2Headers
    package let body: [UInt8]
}

package enum HTTP2ServerEvent: Sendable {
    /// A request to be answered, or reset, or left without an answer.
    case request(stream: Int32, HTTP2Request)
    /// The client withdrew a request that was not answered yet, or its connection ended.
    case withdrawn(stream: Int32, HTTP2ErrorCode)
    case connection(HTTP2ConnectionEvent)
}

/// The server's end of an HTTP/2 connection (RFC 9113) without a socket: for the Lab's gateways.
///
/// Call ``takeEvents()`` after ``HTTP2Session/receive(_:)``, ``HTTP2Session/takeOutput(into:upTo:)`` and
/// ``HTTP2Session/connectionLost()``; take the output after anything else.
package final class HTTP2ServerSession: HTTP2Session {
    private var events: [HTTP2ServerEvent] = []

    /// Makes a server's session; its first SETTINGS say `maxConcurrentStreams`.
    package init(maxConcurrentStreams: Int) {
        super.init(
            isServer: true, presumedStreams: 0,
            settings: [
                (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: maxConcurrentStreams)),
                (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(Self.incomingLimit)),
            ])
    }

    /// Answers a request. Nothing happens if the client has withdrawn it.
    package func respond(
        _ stream: Int32, status: Int, headers: HTTP2Headers = HTTP2Headers(), body: [UInt8] = []
    ) {
        guard let open = self.stream(stream) else { return }
        open.outgoing = body
        open.outgoingOffset = 0
        let head = HTTP2Headers(status: status, followedBy: headers)
        open.blockEnd = head.verbatim
        head.withFields { fields, count in
            open.withBodyProvider { provider in
                check(nghttp2_submit_response(handle, stream, fields, count, provider))
            }
        }
    }

    /// Resets a stream without an answer.
    package func reset(_ stream: Int32, code: HTTP2ErrorCode) { submitReset(stream, code: code) }

    /// Tells the client to open no more streams, and that none above `lastStream` is handled.
    package func goaway(lastStream: Int32, code: HTTP2ErrorCode, debug: [UInt8] = []) {
        submitGoaway(lastStream: lastStream, code: code, debug: debug)
    }

    package func allow(maxConcurrentStreams: Int) {
        var entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
            value: UInt32(clamping: maxConcurrentStreams))
        check(nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1))
    }

    /// Takes out the events since the last call, in order.
    package func takeEvents() -> [HTTP2ServerEvent] {
        guard !events.isEmpty else { return [] }
        let taken = events
        events.removeAll(keepingCapacity: false)
        return taken
    }

    override func newStream(_ id: Int32) -> HTTP2Stream? { open(id) }

    override func streamCompleted(_ stream: HTTP2Stream) {
        guard !stream.isTooLarge else { return }
        events.append(
            .request(stream: stream.id, HTTP2Request(headers: stream.headers, body: stream.body)))
    }

    override func streamClosed(_ stream: HTTP2Stream, code: HTTP2ErrorCode) {
        if stream.isComplete, !stream.isTooLarge, code != .noError {
            events.append(.withdrawn(stream: stream.id, code))
        }
    }

    override func note(_ event: HTTP2ConnectionEvent) { events.append(.connection(event)) }
}
