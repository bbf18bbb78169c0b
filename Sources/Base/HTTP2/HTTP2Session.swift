import CNGHTTP2
import Glibc

/// The part that client and server sessions share: an nghttp2 session without a socket, and the streams on it.
///
/// nghttp2 must not be entered again from its own callbacks except to submit; so callbacks only note what happened,
/// and whoever owns the session takes the notes afterwards. One owner, one isolation.
package class HTTP2Session {
    /// Bytes of a header list or of a body that are accepted from the peer; more resets the stream.
    package static let incomingLimit = 65_536
    /// Bytes the peer may send ahead on the whole connection.
    private static let connectionWindow: Int32 = 16 * 1_048_576

    // Owned, freed in deinit. Set once in `init`, after `self` exists, as nghttp2 keeps a pointer to it.
    private(set) final var handle: OpaquePointer!
    /// The stream objects, as many as were ever open at once; nghttp2 holds a pointer to each open one, as
    /// the stream's user data.
    // No closure holds these two inout, so exclusivity needs no check at run time.
    @exclusivity(unchecked) private var streams: [HTTP2Stream] = []
    @exclusivity(unchecked) private var spareStreams: [HTTP2Stream] = []
    /// The peer's fault, once it has been sent to the peer.
    private var fault: HTTP2Error?
    private(set) final var hasEnded = false
    /// The code with which nghttp2 could take nothing more from us, as for want of memory. The connection ends with the
    /// next bytes.
    private var failure: Int32 = 0
    /// Whose header list is being received: header lists never interleave.
    private var receiving: HTTP2Stream?
    /// Whose header block is on its way out, and lacks its end.
    @exclusivity(unchecked) private var leaving: HTTP2Stream?

    /// Makes a session of either role.
    ///
    /// - Parameter presumedStreams: how many requests the peer takes until its first SETTINGS frame.
    init(
        isServer: Bool, presumedStreams: UInt32, settings: [(id: nghttp2_settings_id, value: UInt32)]
    ) {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&option) == 0 else {
            preconditionFailure("out of memory for an HTTP/2 session")
        }
        // Both are copied by the new session.
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(option)
        }
        SessionCallbacks.install(in: callbacks)
        nghttp2_option_set_peer_max_concurrent_streams(option, presumedStreams)
        // A closed stream is remembered only for priorities, which nobody uses.
        nghttp2_option_set_no_closed_streams(option, 1)
        let owner = Unmanaged.passUnretained(self).toOpaque()
        var session: OpaquePointer?
        let code =
            isServer
            ? nghttp2_session_server_new2(&session, callbacks, owner, option)
            : nghttp2_session_client_new2(&session, callbacks, owner, option)
        precondition(code == 0, "HTTP/2 session: \(HTTP2Error.unusable(code: code))")
        handle = session
        var entries = settings.map {
            nghttp2_settings_entry(settings_id: Int32($0.id.rawValue), value: $0.value)
        }
        check(nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entries, entries.count))
        check(
            nghttp2_session_set_local_window_size(
                handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Self.connectionWindow))
    }

    deinit { nghttp2_session_del(handle) }

    // MARK: What the role adds

    /// Whether a header field that came is of use to anyone.
    func keeps(_ name: UnsafeBufferPointer<UInt8>, ofStatus status: Int) -> Bool { true }

    /// Called once when nothing more can come, or by ``connectionLost()``: then `stream` is free for another one.
    func streamClosed(_ stream: HTTP2Stream, code: HTTP2ErrorCode) {}
    /// Called when the peer has said all it wants on that stream.
    func streamCompleted(_ stream: HTTP2Stream) {}
    func note(_ event: HTTP2ConnectionEvent) {}
    /// Returns the object for a stream that the peer has opened; `nil`: the peer may not open it.
    func newStream(_ id: Int32) -> HTTP2Stream? { nil }

    // MARK: Bytes

    /// Takes what came from the peer, all of it. What happened can be taken as events afterwards.
    package final func receive(_ bytes: RawSpan) {
        guard !hasEnded else { return }
        let count = bytes.withUnsafeBytes { bytes in
            nghttp2_session_mem_recv(
                handle, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
        if count < 0 { end(.unusable(code: Int32(count))) } else { endIfFinished() }
    }

    /// Notes a call of nghttp2 that failed. May be called within its callbacks.
    final func check(_ code: Int32) { if code < 0, failure == 0 { failure = code } }

    /// Appends what is to be sent, until `bytes` holds `limit` or slightly more (by less than a frame of 16 KiB).
    ///
    /// - Returns: whether there is more to take.
    package final func takeOutput(into bytes: inout [UInt8], upTo limit: Int = 65_536) -> Bool {
        while bytes.count < limit {
            guard failure == 0 else {
                endIfFinished()
                return false
            }
            // Valid until the next call of nghttp2: copied at once.
            var start: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(handle, &start)
            guard count > 0, let start else {
                if count < 0 { end(.unusable(code: Int32(count))) } else { endIfFinished() }
                return false
            }
            bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
            if let stream = leaving { complete(stream, in: &bytes, from: bytes.count - count) }
        }
        return true
    }

    /// Puts the end of a stream's header block behind what nghttp2 made of it.
    ///
    /// Their content changes no table that both ends share, so that nghttp2 need not know of it.
    ///
    /// - Parameter start: Where the frame begins that nghttp2 has given last.
    private final func complete(_ stream: HTTP2Stream, in bytes: inout [UInt8], from start: Int) {
        let isLast = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)
        // Of several frames it is the last one that says so.
        guard bytes[start + 4] & isLast != 0 else { return }
        leaving = nil
        var rest = stream.blockEnd[...]
        stream.blockEnd = []
        let length = bytes.count - start - HTTP2Session.frameHead + rest.count
        if length <= HTTP2Session.frameLimit {
            for place in 0..<3 {
                bytes[start + place] = UInt8(truncatingIfNeeded: length >> (16 - 8 * place))
            }
            bytes.append(contentsOf: rest)
            return
        }
        bytes[start + 4] &= ~isLast
        while !rest.isEmpty {
            let part = rest.prefix(HTTP2Session.frameLimit)
            rest = rest.dropFirst(part.count)
            for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: part.count >> shift)) }
            bytes.append(UInt8(NGHTTP2_CONTINUATION.rawValue))
            bytes.append(rest.isEmpty ? isLast : 0)
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: stream.id >> shift)) }
            bytes.append(contentsOf: part)
        }
    }

    /// Bytes in front of a frame's own (RFC 9113, 4.1).
    private static let frameHead = 9
    /// The most bytes of a frame's own that every peer takes (RFC 9113, 4.2).
    private static let frameLimit = 16_384

    package final var hasOutput: Bool { nghttp2_session_want_write(handle) != 0 }

    /// Takes note that the connection is gone: every stream still open becomes an event.
    package final func connectionLost() {
        hasEnded = true
        for stream in streams where stream.id != 0 { close(stream, code: .internalError) }
    }

    private func endIfFinished() {
        if failure != 0 {
            end(.unusable(code: failure))
        } else if nghttp2_session_want_read(handle) == 0, nghttp2_session_want_write(handle) == 0 {
            end(fault)
        }
    }

    private func end(_ error: HTTP2Error?) {
        guard !hasEnded else { return }
        connectionLost()
        note(.ended(error))
    }

    // MARK: Control frames

    /// How many requests the peer takes at once, as its last SETTINGS say.
    package final var maxConcurrentStreams: Int {
        Int(
            min(
                nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
                UInt32(Int32.max)))
    }

    /// The number of streams that are not yet closed.
    package final var openStreams: Int { streams.count - spareStreams.count }

    package final func ping(payload: UInt64) {
        withUnsafeBytes(of: payload.bigEndian) { bytes in
            check(
                nghttp2_submit_ping(
                    handle, UInt8(NGHTTP2_FLAG_NONE.rawValue),
                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)))
        }
    }

    final func submitGoaway(lastStream: Int32, code: HTTP2ErrorCode, debug: [UInt8]) {
        check(
            nghttp2_submit_goaway(
                handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStream, code.rawValue, debug, debug.count))
    }

    final func submitReset(_ stream: Int32, code: HTTP2ErrorCode) {
        check(
            nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue))
    }

    // MARK: Streams

    /// Makes a stream, or takes a spare one.
    ///
    /// - Parameter id: 0 until it is known.
    final func open(_ id: Int32) -> HTTP2Stream {
        guard spareStreams.isEmpty else {
            let stream = spareStreams.removeLast()
            stream.id = id
            return stream
        }
        let stream = HTTP2Stream(id)
        streams.append(stream)
        return stream
    }

    final func close(_ stream: HTTP2Stream, code: HTTP2ErrorCode) {
        streamClosed(stream, code: code)
        free(stream)
    }

    final func free(_ stream: HTTP2Stream) {
        stream.clear()
        spareStreams.append(stream)
    }

    /// Returns the open stream of that number.
    final func stream(_ id: Int32) -> HTTP2Stream? {
        HTTP2Stream.of(nghttp2_session_get_stream_user_data(handle, id))
    }

    final func openStream(where isWanted: (HTTP2Stream) -> Bool) -> HTTP2Stream? {
        streams.first { $0.id != 0 && isWanted($0) }
    }
}

// MARK: What nghttp2's callbacks call

extension HTTP2Session {
    final func headersBegan(stream: Int32, opensStream: Bool) {
        guard opensStream else {
            receiving = self.stream(stream)
            return
        }
        receiving = newStream(stream)
        check(nghttp2_session_set_stream_user_data(handle, stream, receiving?.pointer))
    }

    final func headerReceived(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard let stream = receiving, !stream.hasHeaders, !stream.isTooLarge else { return }
        if name.count == 7, memcmp(name.baseAddress!, ":status", 7) == 0 {
            // Anew after an interim answer (1xx).
            stream.status = value.reduce(0) { $0 * 10 + Int($1) - 0x30 }
            stream.content = nil
            stream.listSize = 0
            return
        }
        stream.listSize += name.count + value.count + 32
        guard stream.listSize <= Self.incomingLimit else { return refuse(stream) }
        if keeps(name, ofStatus: stream.status) { stream.keep { $0.headers.add(name, value) } }
    }

    final func bodyReceived(stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        guard let stream = self.stream(stream), !stream.isTooLarge else { return }
        let length = (stream.content?.body.count ?? 0) + bytes.count
        guard length <= Self.incomingLimit else { return refuse(stream) }
        stream.keep { $0.body.append(contentsOf: bytes) }
    }

    private final func refuse(_ stream: HTTP2Stream) {
        stream.isTooLarge = true
        submitReset(stream.id, code: .enhanceYourCalm)
    }

    final func frameReceived(_ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        let flags = UInt32(head.flags)
        switch nghttp2_frame_type(UInt32(head.type)) {
        case NGHTTP2_HEADERS, NGHTTP2_DATA:
            guard let stream = stream(head.stream_id) else { break }
            if stream.status == 0 || stream.status >= 200 { stream.hasHeaders = true }
            guard flags & NGHTTP2_FLAG_END_STREAM.rawValue != 0 else { break }
            stream.isComplete = true
            streamCompleted(stream)
        case NGHTTP2_SETTINGS where flags & NGHTTP2_FLAG_ACK.rawValue == 0:
            note(.settings(maxConcurrentStreams: maxConcurrentStreams))
        case NGHTTP2_PING where flags & NGHTTP2_FLAG_ACK.rawValue != 0:
            let payload = withUnsafeBytes(of: frame.pointee.ping.opaque_data) {
                $0.loadUnaligned(as: UInt64.self)
            }
            note(.pingAcknowledged(payload: UInt64(bigEndian: payload)))
        case NGHTTP2_GOAWAY:
            let goaway = frame.pointee.goaway
            let debug = UnsafeBufferPointer(
                start: goaway.opaque_data, count: min(goaway.opaque_data_len, 1024))
            note(
                .goaway(
                    lastStream: goaway.last_stream_id, code: HTTP2ErrorCode(rawValue: goaway.error_code),
                    debug: Array(debug)))
        default: break
        }
    }

    final func frameLeaves(_ frame: UnsafePointer<nghttp2_frame>) {
        switch nghttp2_frame_type(UInt32(frame.pointee.hd.type)) {
        case NGHTTP2_HEADERS:
            guard let stream = stream(frame.pointee.hd.stream_id) else { break }
            stream.isSent = true
            if !stream.blockEnd.isEmpty { leaving = stream }
        case NGHTTP2_GOAWAY where frame.pointee.goaway.error_code != NGHTTP2_NO_ERROR.rawValue:
            let goaway = frame.pointee.goaway
            let reason = UnsafeBufferPointer(start: goaway.opaque_data, count: goaway.opaque_data_len)
            fault = .protocolBroken(
                HTTP2ErrorCode(rawValue: goaway.error_code), reason: String(decoding: reason, as: UTF8.self))
        default: break
        }
    }

    final func streamEnded(_ stream: Int32, code: UInt32) {
        // Not open any more if the connection was lost before.
        guard let stream = self.stream(stream), stream.id != 0 else { return }
        close(stream, code: HTTP2ErrorCode(rawValue: code))
    }
}
