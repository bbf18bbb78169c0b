/// The actions that one read from a peer calls for. The owner of many sessions keeps one and clears it after each read.
///
/// One reused value, rather than a callback per frame or a list of actions: replies gather into one write, the
/// requests of a read are handed on together, no frame costs an allocation beyond its own strings, and no closure
/// crosses from this pure module to the loop's isolation.
package struct PeerTurn {
    /// A request that a peer makes of the way back.
    package enum WayBack: Equatable, Sendable {
        case post(MobileReplyRequest)
        case fetch(MobileReplyFetch)
    }

    /// The bytes to be written to the peer, in this order, before it is closed.
    package var replies: [UInt8] = []
    /// The requests to be submitted, in this order, also when the connection is to be closed.
    package var requests: [MobileNotificationRequest] = []
    /// Requests of those who post replies for phones or fetch them, in the order in which they came.
    package var wayBack: [WayBack] = []
    /// Close once the replies are flushed.
    package var close: PeerClose?
    /// Whole frames in this read.
    package var frameCount = 0
    /// Whole frames in this read, with each entry of a bundle counted as one.
    package var weight = 0

    package init() {}

    /// Moves the request out of the turn.
    package mutating func takeRequest(at index: Int) -> MobileNotificationRequest {
        var request = MobileNotificationRequest()
        swap(&request, &requests[index])
        return request
    }

    package mutating func clear() {
        // What one large read left behind is not kept for ever.
        replies.removeAll(keepingCapacity: replies.capacity <= 65_536)
        requests.removeAll(keepingCapacity: requests.capacity <= 1_024)
        wayBack = []
        close = nil
        frameCount = 0
        weight = 0
    }
}
