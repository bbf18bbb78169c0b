/// Why a peer's connection ends. The raw value is the label of metrics.
package enum PeerClose: String, CaseIterable, Sendable {
    // Rules that the peer broke; it hears which.
    case invalidDataType = "invalid_data_type"
    case wrongNetworkID = "wrong_network_id"
    case messageTooLarge = "message_too_large"
    case throttleExceeded = "throttle_exceeded"
    case tooManyReportedPeers = "too_many_reported_peers"
    // The node's own wish; the peer hears of it.
    case shutDown = "shut_down"
    case tooManyConnections = "too_many_connections"
    // Nothing is said.
    case requestedByPeer = "requested_by_peer"
    case mandatoryCapabilityMissing = "mandatory_capability_missing"
    case senderAddressChanged = "sender_address_changed"
    /// The peer sent nothing for too long.
    case idle = "idle"
    /// A frame was begun and not ended in time.
    case frameTimeout = "frame_timeout"
    /// The peer reads too slowly, or not at all, what it asked for.
    case slowReader = "slow_reader"
    /// The socket ended, with or without an error.
    case connectionLost = "connection_lost"
    /// The connection did not begin with tor's word on its circuit: it did not come from our tor.
    case noCircuit = "no_circuit"

    /// The word of the CloseConnectionMessage, or `nil` when none is sent (Bisq 1, `CloseConnectionReason.java`,
    /// `RuleViolation.java`).
    package var word: String? {
        switch self {
        case .invalidDataType: "INVALID_DATA_TYPE"
        case .wrongNetworkID: "WRONG_NETWORK_ID"
        case .messageTooLarge: "MAX_MSG_SIZE_EXCEEDED"
        case .throttleExceeded: "THROTTLE_LIMIT_EXCEEDED"
        case .tooManyReportedPeers: "TOO_MANY_REPORTED_PEERS_SENT"
        case .shutDown: "APP_SHUT_DOWN"
        case .tooManyConnections: "TOO_MANY_CONNECTIONS_OPEN"
        case .requestedByPeer, .mandatoryCapabilityMissing, .senderAddressChanged, .idle, .frameTimeout,
            .slowReader, .connectionLost, .noCircuit:
            nil
        }
    }

    /// Whether an honest peer would hardly come to this: it counts against the circuit that the peer came by.
    package var isMisdeed: Bool {
        switch self {
        case .invalidDataType, .messageTooLarge, .throttleExceeded, .tooManyReportedPeers, .frameTimeout,
            .slowReader:
            true
        // Too many connections of a circuit are counted where they are refused.
        case .wrongNetworkID, .shutDown, .tooManyConnections, .requestedByPeer, .mandatoryCapabilityMissing,
            .senderAddressChanged, .idle, .connectionLost, .noCircuit:
            false
        }
    }
}
