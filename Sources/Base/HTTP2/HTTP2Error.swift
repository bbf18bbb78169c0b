import CNGHTTP2

/// Why a stream or a connection ended (RFC 9113, section 7).
package struct HTTP2ErrorCode: RawRepresentable, Equatable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let noError = HTTP2ErrorCode(rawValue: 0)
    package static let protocolError = HTTP2ErrorCode(rawValue: 1)
    package static let internalError = HTTP2ErrorCode(rawValue: 2)
    package static let streamClosed = HTTP2ErrorCode(rawValue: 5)
    /// The request was not processed: it may be sent again without harm (RFC 9113, 8.7).
    package static let refusedStream = HTTP2ErrorCode(rawValue: 7)
    package static let cancel = HTTP2ErrorCode(rawValue: 8)
    package static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)

    package var description: String { String(cString: nghttp2_http2_strerror(rawValue)) }
}

/// A failure that broke an HTTP/2 connection.
package enum HTTP2Error: Error, Equatable, Sendable, CustomStringConvertible {
    /// The peer broke the protocol, and got this code in a GOAWAY; `reason` is nghttp2's.
    case protocolBroken(HTTP2ErrorCode, reason: String)
    /// The bytes were not HTTP/2 at all, or a flood of frames that must be answered (`NGHTTP2_ERR_...`).
    case unusable(code: Int32)

    package var description: String {
        switch self {
        case .protocolBroken(let code, let reason): "HTTP/2 \(code): \(reason)"
        case .unusable(let code): "HTTP/2: \(String(cString: nghttp2_strerror(code)))"
        }
    }
}

/// An event that concerns the whole connection.
package enum HTTP2ConnectionEvent: Equatable, Sendable {
    /// The peer said how many requests may be under way at once. Comes with every SETTINGS frame.
    case settings(maxConcurrentStreams: Int)
    /// The peer takes no new requests; those above `lastStream` it has not handled. May come several times.
    /// `debug` is cut to 1 KiB.
    case goaway(lastStream: Int32, code: HTTP2ErrorCode, debug: [UInt8])
    case pingAcknowledged(payload: UInt64)
    /// Nothing more can be said on this connection: send what output there is, then close it. An error if it broke,
    /// `nil` after a GOAWAY whose last requests have been answered. Comes once.
    case ended(HTTP2Error?)
}
