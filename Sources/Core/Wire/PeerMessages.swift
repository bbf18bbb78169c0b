import Encodings

/// Bisq's number for what a peer must be able to do to be talked to: DAO_STATE (Bisq 1, `Capability.java`).
package let mandatoryCapability: Int32 = 9

/// The address at which a peer says it can be reached: an onion host name and a port.
package struct NodeAddress: Hashable, Sendable {
    @ByteText package var hostName: String
    package var port: Int32

    package init(hostName: String = "", port: Int32 = 0) {
        self.hostName = hostName
        self.port = port
    }
}

/// A peer as other peers hear of it.
package struct Peer: Hashable, Sendable {
    package var nodeAddress: NodeAddress?
    /// Milliseconds since 1970.
    package var date: Int64
    package var supportedCapabilities: [Int32]

    package init(nodeAddress: NodeAddress? = nil, date: Int64 = 0, supportedCapabilities: [Int32] = []) {
        self.nodeAddress = nodeAddress
        self.date = date
        self.supportedCapabilities = supportedCapabilities
    }
}

package struct Ping: Hashable, Sendable {
    package var nonce: Int32
    /// Milliseconds.
    package var lastRoundTripTime: Int32

    package init(nonce: Int32 = 0, lastRoundTripTime: Int32 = 0) {
        self.nonce = nonce
        self.lastRoundTripTime = lastRoundTripTime
    }
}

package struct Pong: Hashable, Sendable {
    package var requestNonce: Int32

    package init(requestNonce: Int32 = 0) {
        self.requestNonce = requestNonce
    }
}

/// Announces that the sender closes, and why: one of Bisq's words (``PeerClose/word``).
package struct CloseConnectionMessage: Hashable, Sendable {
    @ByteText package var reason: String

    package init(reason: String = "") {
        self.reason = reason
    }
}

package struct GetPeersRequest: Hashable, Sendable {
    package var senderNodeAddress: NodeAddress?
    package var nonce: Int32
    package var supportedCapabilities: [Int32]
    package var reportedPeers: [Peer]

    package init(
        senderNodeAddress: NodeAddress? = nil, nonce: Int32 = 0, supportedCapabilities: [Int32] = [],
        reportedPeers: [Peer] = []
    ) {
        self.senderNodeAddress = senderNodeAddress
        self.nonce = nonce
        self.supportedCapabilities = supportedCapabilities
        self.reportedPeers = reportedPeers
    }
}

package struct GetPeersResponse: Hashable, Sendable {
    package var requestNonce: Int32
    package var reportedPeers: [Peer]
    package var supportedCapabilities: [Int32]

    package init(requestNonce: Int32 = 0, reportedPeers: [Peer] = [], supportedCapabilities: [Int32] = []) {
        self.requestNonce = requestNonce
        self.reportedPeers = reportedPeers
        self.supportedCapabilities = supportedCapabilities
    }
}

/// A message that Bisq knows and a node has no use for: read only as far as the rules of the connection need.
package struct SwallowedMessage: Hashable, Sendable {
    /// The message's number in the envelope's oneof.
    package let number: Int32
    package var senderNodeAddress: NodeAddress?
    package var supportedCapabilities: [Int32]

    package init(number: UInt32) {
        self.number = Int32(number)
        supportedCapabilities = []
    }
}
