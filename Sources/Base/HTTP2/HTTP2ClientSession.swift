import CNGHTTP2
import Glibc

/// An answer, whole.
package struct HTTP2Response: Sendable {
    package let status: Int
    /// The header fields without `:status`.
    package let headers: HTTP2Headers
    package let body: [UInt8]
}

/// The reason why a request got no answer.
package enum HTTP2RequestFailure: Equatable, Sendable {
    /// The server surely did not process it (RFC 9113, 8.7): refused, above the last stream of a GOAWAY, or never
    /// sent. It may be sent again at once.
    case refused
    /// The server, or a broken answer, reset the stream. The request may have been processed.
    case reset(HTTP2ErrorCode)
    /// Header list or body over ``HTTP2Session/incomingLimit``.
    case answerTooLarge
    /// Sent, and the connection ended before the answer. The request may have been processed.
    case connectionLost
}

package enum HTTP2ClientEvent: Sendable {
    case answered(tag: Int, HTTP2Response)
    case failed(tag: Int, HTTP2RequestFailure)
    case connection(HTTP2ConnectionEvent)
}

/// The client's end of an HTTP/2 connection (RFC 9113) without a socket.
///
/// Each request ends in exactly one event. Call ``takeEvents()`` after ``HTTP2Session/receive(_:)``, after
/// ``HTTP2Session/takeOutput(into:upTo:)`` and after ``HTTP2Session/connectionLost()``; take the output after
/// anything else.
package final class HTTP2ClientSession: HTTP2Session {
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) private var events: [HTTP2ClientEvent] = []
    private let kept: [[UInt8]]?
    private let keptOfErrors: [[UInt8]]

    /// Makes a client's session.
    ///
    /// - Parameters:
    ///   - presumedStreams: how many requests may be sent before the server's first SETTINGS say how many: 1 where the
    ///     server opens up only after a good request.
    ///   - kept: the header fields of answers that are handed on; `nil`: all.
    ///   - keptOfErrors: further ones, of answers whose status is not 2xx.
    ///   - firstStream: the number of the first request's stream, odd.
    package init(
        presumedStreams: Int = 100, keeping kept: [String]? = nil, ofErrors keptOfErrors: [String] = [],
        firstStream: Int32 = 1
    ) {
        self.kept = kept?.map { Array($0.utf8) }
        self.keptOfErrors = keptOfErrors.map { Array($0.utf8) }
        super.init(
            isServer: false, presumedStreams: UInt32(clamping: presumedStreams),
            settings: [
                (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
                (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(Self.incomingLimit)),
            ])
        precondition(
            nghttp2_session_set_next_stream_id(handle, firstStream) == 0, "the first stream is \(firstStream)"
        )
    }

    /// How many more requests the server takes now; below 0 after it took back some of what it had allowed.
    package var freeStreams: Int { maxConcurrentStreams - openStreams }

    /// Queues a request; beyond ``freeStreams`` it waits in the session.
    ///
    /// - Parameters:
    ///   - head: pseudo-header fields first: ``HTTP2Headers/init(method:scheme:authority:path:)``.
    ///   - tag: comes back in the event that ends the request.
    package func submit(_ head: HTTP2Headers, body: [UInt8], tag: Int) {
        guard !hasEnded else { return events.append(.failed(tag: tag, .refused)) }
        let stream = open(0)
        stream.tag = tag
        stream.outgoing = body
        stream.blockEnd = head.verbatim
        let id = head.withFields { fields, count in
            stream.withBodyProvider { provider in
                nghttp2_submit_request(handle, nil, fields, count, provider, stream.pointer)
            }
        }
        guard id > 0 else {
            // No stream number is left (2^30 requests), or memory: as good as a GOAWAY.
            free(stream)
            events.append(.failed(tag: tag, .refused))
            note(.goaway(lastStream: 0, code: .noError, debug: []))
            return
        }
        stream.id = id
    }

    /// Takes out the events since the last call, in order.
    package func takeEvents() -> [HTTP2ClientEvent] {
        guard !events.isEmpty else { return [] }
        let taken = events
        events = []
        // As much room as this time, unless that was much: what comes in one go is alike.
        events.reserveCapacity(min(taken.count, 256))
        return taken
    }

    /// Resets a stream whose answer came before all of the request was sent: the rest is needless (RFC 9113,
    /// 8.1).
    override func streamCompleted(_ stream: HTTP2Stream) {
        if stream.outgoingOffset < stream.outgoing.count { submitReset(stream.id, code: .cancel) }
    }

    override func streamClosed(_ stream: HTTP2Stream, code: HTTP2ErrorCode) {
        events.append(event(endOf: stream, code: code))
    }

    private func event(endOf stream: HTTP2Stream, code: HTTP2ErrorCode) -> HTTP2ClientEvent {
        if stream.isTooLarge {
            .failed(tag: stream.tag, .answerTooLarge)
        } else if stream.isComplete {
            .answered(
                tag: stream.tag,
                HTTP2Response(status: stream.status, headers: stream.headers, body: stream.body))
        } else if !stream.isSent || code == .refusedStream {
            .failed(tag: stream.tag, .refused)
        } else {
            .failed(tag: stream.tag, hasEnded ? .connectionLost : .reset(code))
        }
    }

    override func keeps(_ name: UnsafeBufferPointer<UInt8>, ofStatus status: Int) -> Bool {
        guard let kept else { return true }
        return HTTP2ClientSession.isIn(kept, name)
            || (status / 100 != 2 && HTTP2ClientSession.isIn(keptOfErrors, name))
    }

    private static func isIn(_ fields: [[UInt8]], _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let start = name.baseAddress else { return false }
        for field in fields where field.count == name.count && memcmp(field, start, name.count) == 0 {
            return true
        }
        return false
    }

    override func note(_ event: HTTP2ConnectionEvent) { events.append(.connection(event)) }
}
