/// Why a stream ended.
package enum StreamEnd: Error, Equatable, CustomStringConvertible {
    /// The peer has sent its last byte. What it sent before was handed over.
    case closedByPeer
    /// The peer sent nothing for ``Stream/idleTimeout``.
    case idle
    /// The peer has taken nothing of what waits for it for ``Stream/sendTimeout``.
    case peerReadsNothing
    case failed(SystemError)

    package var description: String {
        switch self {
        case .closedByPeer: "closed by the peer"
        case .idle: "nothing received in time"
        case .peerReadsNothing: "the peer reads nothing"
        case .failed(let error): error.description
        }
    }
}

/// The owner of a ``Stream``.
@EventLoop
package protocol StreamHandler: AnyObject {
    /// Called when bytes came. They lie in a buffer that all streams share and are valid during the call
    /// only.
    func stream(_ stream: Stream, received bytes: RawSpan)
    /// Called when all that was written has gone to the kernel.
    func streamFlushed(_ stream: Stream)
    /// Called once when the stream is over by no act of its owner, never after ``Stream/close()``.
    func stream(_ stream: Stream, ended end: StreamEnd)
}

extension StreamHandler {
    package func streamFlushed(_ stream: Stream) {}
}
