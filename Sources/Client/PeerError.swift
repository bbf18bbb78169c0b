import Reactor
import Wire

/// Why a peer got no answer.
package enum PeerError: Error, Equatable, CustomStringConvertible {
    /// The node said that it closes, and why.
    case closedByNode(PeerClose?)
    case connectionEnded(StreamEnd)
    /// The connection was closed by this side.
    case closed
    case noAnswer(after: Duration)
    /// The node's bytes are no frames of the peer wire.
    case badFrame(FrameError)
    case badEnvelope
    /// The node answered, but another question than was asked.
    case wrongAnswer
    /// A request with the same uid waits for its answer on this connection.
    case uidInUse
    /// No request with this uid was sent with `awaitsOutcome`, or its outcome has come already.
    case noOutcomeExpected

    /// Whether the node has said what it will say to the same bytes for ever: of another network, not read, too large.
    package var isFinal: Bool {
        switch self {
        case .closedByNode(.wrongNetworkID), .closedByNode(.invalidDataType), .closedByNode(.messageTooLarge):
            true
        case .closedByNode, .connectionEnded, .closed, .noAnswer, .badFrame, .badEnvelope, .wrongAnswer,
            .uidInUse,
            .noOutcomeExpected:
            false
        }
    }

    /// Whether the node may have taken what was sent: nothing that came says that it has not.
    package var mayBeTaken: Bool {
        switch self {
        case .badFrame, .badEnvelope, .uidInUse, .noOutcomeExpected: false
        case .closedByNode: !isFinal
        case .connectionEnded, .closed, .noAnswer, .wrongAnswer: true
        }
    }

    package var description: String {
        switch self {
        case .closedByNode(.wrongNetworkID):
            "the node closed the connection: WRONG_NETWORK_ID. It serves another of Bisq's networks: name that with --network, or set onion.network there"
        case .closedByNode(let reason):
            "the node closed the connection: \(reason?.word ?? "a reason unknown here")"
        case .connectionEnded(let end): "the connection to the node ended: \(end)"
        case .closed: "the connection was closed"
        case .noAnswer(let duration): "no answer from the node after \(duration)"
        case .badFrame(.overlongPrefix): "what answers there does not speak the peer wire"
        case .badFrame(.tooLong(let length, let maximum)):
            "the node sent a frame of \(length) bytes; the limit is \(maximum)"
        case .badEnvelope: "what answers there does not speak the peer wire"
        case .wrongAnswer: "the node answered with another kind of message than was asked for"
        case .uidInUse: "a request with this uid is under way"
        case .noOutcomeExpected: "no outcome is expected for this uid"
        }
    }
}
