import CNGHTTP2

/// nghttp2's callbacks: each finds the session by its user pointer, which lives as long as the nghttp2 session does.
enum SessionCallbacks {
    static func install(in callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, owner in
            guard let frame else { return 0 }
            withSession(owner) {
                $0.headersBegan(
                    stream: frame.pointee.hd.stream_id,
                    opensStream: frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST)
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, _, name, nameLength, value, length, _, owner in
            withSession(owner) {
                $0.headerReceived(
                    UnsafeBufferPointer(start: name, count: nameLength),
                    UnsafeBufferPointer(start: value, count: length))
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _, _, stream, bytes, length, owner in
            withSession(owner) {
                $0.bodyReceived(stream: stream, UnsafeBufferPointer(start: bytes, count: length))
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
            if let frame { withSession(owner) { $0.frameReceived(frame) } }
            return 0
        }
        nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) { _, frame, owner in
            if let frame { withSession(owner) { $0.frameLeaves(frame) } }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
            withSession(owner) { $0.streamEnded(stream, code: code) }
            return 0
        }
    }

    static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, room, flags, source, _ in
        guard let stream = HTTP2Stream.of(source?.pointee.ptr) else {
            return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
        }
        let (count, isEnd) = stream.readBody(into: UnsafeMutableBufferPointer(start: buffer, count: room))
        if isEnd { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }
}

/// Calls `body` with the session that a callback's pointer means: the caller of nghttp2 holds the session meanwhile.
private func withSession(_ owner: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Void) {
    guard let owner else { return }
    Unmanaged<HTTP2Session>.fromOpaque(owner)._withUnsafeGuaranteedRef(body)
}
