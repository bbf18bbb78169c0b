import CNGHTTP2

/// What client and server sessions share: an nghttp2 session without a socket, and the streams on it.
///
/// nghttp2 must not be entered again from its own callbacks except to submit; so callbacks only note what happened,
/// and whoever owns the session takes the notes afterwards. One owner, one isolation.
package class HTTP2Session {
    /// One stream, from its first header field until it is closed.
    struct Slot {
        /// The client's name for its request; unused by servers.
        var tag = 0
        var streamID: Int32 = 0
        var status = 0
        var headers = HTTP2Headers()
        /// As HTTP/2 counts all header fields that came, kept or not.
        var listSize = 0
        var body: [UInt8] = []
        var outgoing: [UInt8] = []
        var outgoingOffset = 0
        /// What comes now are trailers, which nobody needs.
        var hasHeaders = false
        /// The peer has said all.
        var isComplete = false
        /// Beyond ``incomingLimit``: reset, and nothing more is kept.
        var isTooLarge = false
        /// The first frame of a request has gone to the output.
        var isSent = false
    }

    /// Bytes of a header list or of a body that are accepted from the peer; more resets the stream.
    package static let incomingLimit = 65_536
    /// Bytes the peer may send ahead on the whole connection.
    private static let connectionWindow: Int32 = 16 * 1_048_576

    // Owned, freed in deinit. Set once in `init`, after `self` exists, as nghttp2 keeps a pointer to it.
    private(set) var handle: OpaquePointer!
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// What the peer did wrong, once it is told.
    private var fault: HTTP2Error?
    private(set) final var hasEnded = false
    /// The slot of the header list that is being received: header lists never interleave.
    private var receiving = 0

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
        let code =
            isServer
            ? nghttp2_session_server_new2(&handle, callbacks, owner, option)
            : nghttp2_session_client_new2(&handle, callbacks, owner, option)
        precondition(code == 0, "HTTP/2 session: \(HTTP2Error.unusable(code: code))")
        var entries = settings.map {
            nghttp2_settings_entry(settings_id: Int32($0.id.rawValue), value: $0.value)
        }
        nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entries, entries.count)
        nghttp2_session_set_local_window_size(
            handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Self.connectionWindow)
    }

    deinit { nghttp2_session_del(handle) }

    // MARK: What the role adds

    /// Whether a header field that came is of use to anyone.
    func keeps(_ name: UnsafeBufferPointer<UInt8>) -> Bool { true }

    /// Called once when nothing more can come, or by ``connectionLost()``: no slot survives it.
    func streamClosed(_ slot: Slot, code: HTTP2ErrorCode) {}
    /// The peer has said all it wants on the stream of slot `number`.
    func streamCompleted(_ number: Int) {}
    func note(_ event: HTTP2ConnectionEvent) {}
    /// The slot for a stream that the peer has opened; 0: it may not.
    func slotForNewStream(_ id: Int32) -> Int { 0 }

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

    /// Appends what is to be sent, until `bytes` holds `limit` or slightly more (by less than a frame of 16 KiB).
    ///
    /// - Returns: whether there is more to take.
    package final func takeOutput(into bytes: inout [UInt8], upTo limit: Int = 65_536) -> Bool {
        while bytes.count < limit {
            // Valid until the next call of nghttp2: copied at once.
            var start: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(handle, &start)
            guard count > 0, let start else {
                if count < 0 { end(.unusable(code: Int32(count))) } else { endIfFinished() }
                return false
            }
            bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
        return true
    }

    package final var hasOutput: Bool { nghttp2_session_want_write(handle) != 0 }

    /// The connection is gone: every stream still open becomes an event.
    package final func connectionLost() {
        hasEnded = true
        for index in slots.indices where slots[index].streamID != 0 {
            streamClosed(release(index), code: .internalError)
        }
    }

    private func endIfFinished() {
        if nghttp2_session_want_read(handle) == 0, nghttp2_session_want_write(handle) == 0 {
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

    /// Streams that are not yet closed.
    package final var openStreams: Int { slots.count - freeSlots.count }

    package final func ping(payload: UInt64) {
        withUnsafeBytes(of: payload.bigEndian) { bytes in
            _ = nghttp2_submit_ping(
                handle, UInt8(NGHTTP2_FLAG_NONE.rawValue),
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
    }

    final func submitGoaway(lastStream: Int32, code: HTTP2ErrorCode, debug: [UInt8]) {
        nghttp2_submit_goaway(
            handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStream, code.rawValue, debug, debug.count)
    }

    final func submitReset(_ stream: Int32, code: HTTP2ErrorCode) {
        nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    // MARK: Streams

    /// Slots are known to nghttp2 by their number plus one: 0 is none.
    final func occupy(_ slot: Slot) -> Int {
        if let index = freeSlots.popLast() {
            slots[index] = slot
            return index + 1
        }
        slots.append(slot)
        return slots.count
    }

    final func release(_ index: Int) -> Slot {
        freeSlots.append(index)
        return exchange(&slots[index], with: Slot.empty)
    }

    @discardableResult
    final func withSlot<Result>(_ number: Int, _ body: (inout Slot) -> Result) -> Result? {
        guard number > 0, number <= slots.count else { return nil }
        return body(&slots[number - 1])
    }

    final func slotNumber(of stream: Int32) -> Int {
        Int(bitPattern: nghttp2_session_get_stream_user_data(handle, stream))
    }
}

// MARK: What nghttp2's callbacks call

extension HTTP2Session {
    final func headersBegan(stream: Int32, opensStream: Bool) {
        guard opensStream else {
            receiving = slotNumber(of: stream)
            return
        }
        receiving = slotForNewStream(stream)
        nghttp2_session_set_stream_user_data(
            handle, stream, UnsafeMutableRawPointer(bitPattern: receiving))
    }

    final func headerReceived(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        let isOver = withSlot(receiving) { slot in
            guard !slot.hasHeaders, !slot.isTooLarge else { return false }
            if name.count == 7, name.elementsEqual(":status".utf8) {
                // Anew after an interim answer (1xx).
                slot.status = value.reduce(0) { $0 * 10 + Int($1) - 0x30 }
                slot.headers = HTTP2Headers()
                slot.listSize = 0
                return false
            }
            slot.listSize += name.count + value.count + 32
            guard slot.listSize <= Self.incomingLimit else {
                slot.isTooLarge = true
                return true
            }
            if keeps(name) { slot.headers.add(name, value) }
            return false
        }
        if isOver == true { refuse(receiving) }
    }

    final func bodyReceived(stream: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
        let number = slotNumber(of: stream)
        let isOver = withSlot(number) { slot in
            guard !slot.isTooLarge else { return false }
            guard slot.body.count + bytes.count <= Self.incomingLimit else {
                slot.isTooLarge = true
                return true
            }
            slot.body.append(contentsOf: bytes)
            return false
        }
        if isOver == true { refuse(number) }
    }

    private final func refuse(_ number: Int) {
        guard let stream = withSlot(number, { $0.streamID }) else { return }
        submitReset(stream, code: .enhanceYourCalm)
    }

    final func frameReceived(_ frame: nghttp2_frame) {
        let flags = UInt32(frame.hd.flags)
        switch nghttp2_frame_type(UInt32(frame.hd.type)) {
        case NGHTTP2_HEADERS, NGHTTP2_DATA:
            let number = slotNumber(of: frame.hd.stream_id)
            let endsStream = flags & NGHTTP2_FLAG_END_STREAM.rawValue != 0
            withSlot(number) { slot in
                if slot.status == 0 || slot.status >= 200 { slot.hasHeaders = true }
                if endsStream { slot.isComplete = true }
            }
            if endsStream, number > 0 { streamCompleted(number) }
        case NGHTTP2_SETTINGS where flags & NGHTTP2_FLAG_ACK.rawValue == 0:
            note(.settings(maxConcurrentStreams: maxConcurrentStreams))
        case NGHTTP2_PING where flags & NGHTTP2_FLAG_ACK.rawValue != 0:
            let payload = withUnsafeBytes(of: frame.ping.opaque_data) {
                $0.loadUnaligned(as: UInt64.self)
            }
            note(.pingAcknowledged(payload: UInt64(bigEndian: payload)))
        case NGHTTP2_GOAWAY:
            let goaway = frame.goaway
            let debug = UnsafeBufferPointer(
                start: goaway.opaque_data, count: min(goaway.opaque_data_len, 1024))
            note(
                .goaway(
                    lastStream: goaway.last_stream_id, code: HTTP2ErrorCode(rawValue: goaway.error_code),
                    debug: Array(debug)))
        default: break
        }
    }

    final func frameLeaves(_ frame: nghttp2_frame) {
        switch nghttp2_frame_type(UInt32(frame.hd.type)) {
        case NGHTTP2_HEADERS:
            withSlot(slotNumber(of: frame.hd.stream_id)) { $0.isSent = true }
        case NGHTTP2_GOAWAY where frame.goaway.error_code != NGHTTP2_NO_ERROR.rawValue:
            let reason = UnsafeBufferPointer(
                start: frame.goaway.opaque_data, count: frame.goaway.opaque_data_len)
            fault = .protocolBroken(
                HTTP2ErrorCode(rawValue: frame.goaway.error_code),
                reason: String(decoding: reason, as: UTF8.self))
        default: break
        }
    }

    final func streamEnded(_ stream: Int32, code: UInt32) {
        let number = slotNumber(of: stream)
        guard number > 0, number <= slots.count else { return }
        streamClosed(release(number - 1), code: HTTP2ErrorCode(rawValue: code))
    }

    /// Fills a DATA frame from the body of slot `number`.
    final func readBody(_ number: Int, into room: UnsafeMutableBufferPointer<UInt8>) -> (
        count: Int, isEnd: Bool
    ) {
        let part = withSlot(number) { slot in
            let count = min(room.count, slot.outgoing.count - slot.outgoingOffset)
            slot.outgoing.withUnsafeBufferPointer { body in
                if count > 0 {
                    room.baseAddress!.update(from: body.baseAddress! + slot.outgoingOffset, count: count)
                }
            }
            slot.outgoingOffset += count
            return (count: count, isEnd: slot.outgoingOffset == slot.outgoing.count)
        }
        return part ?? (0, true)
    }

    /// Where nghttp2 gets the body of slot `number` from; `nil` if there is none, so that the headers end the stream.
    final func withBodyProvider<Result>(
        _ number: Int, _ body: (UnsafePointer<nghttp2_data_provider>?) -> Result
    ) -> Result {
        guard withSlot(number, { $0.outgoing.isEmpty }) == false else { return body(nil) }
        let source = nghttp2_data_source(ptr: UnsafeMutableRawPointer(bitPattern: number))
        var provider = nghttp2_data_provider(source: source, read_callback: SessionCallbacks.readBody)
        return withUnsafePointer(to: &provider, body)
    }
}

private func exchange<Value>(_ place: inout Value, with value: Value) -> Value {
    let before = place
    place = value
    return before
}

extension HTTP2Session.Slot {
    /// Without room for headers: what a free slot holds.
    static let empty = HTTP2Session.Slot()
}
