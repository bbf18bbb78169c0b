import Clocks

/// The node's side of one peer's connection: bytes in, replies and notifications out. Holds no socket, clock or task.
///
/// A strict neighbour of Bisq 1's network, whichever side dialled: it answers a Ping with a Pong and a GetPeersRequest
/// with no peers, swallows what has no use here, and tells a peer that breaks a rule which one before it closes.
/// Each frame is looked at in Bisq's order (`Connection.java`): it parses; its type is known; rate; message version;
/// capabilities; request to close; the sender's address; then the message itself. Departures: a length over the
/// limit closes before the body is read, and a frame that doesn't parse leaves the next one readable, since its end
/// is known. And large bundles count for more than one frame.
///
/// Memory: under 400 bytes, and the part of a frame while one is incomplete.
package struct PeerSession {
    /// Settings, the same for all peers.
    package struct Limits: Equatable, Sendable {
        /// The most bytes of a frame's body (`peers.frame_bytes`).
        package var frameLength = FrameDecoder.usualMaximumLength
        /// The first frame in less than a second that is too many; 1 to 65,535.
        package var framesPerSecond = 200
        /// The first frame in less than ten seconds that is too many; 1 to 65,535.
        package var framesPerTenSeconds = 1_000
        /// The most peers in one GetPeersRequest: Bisq's 1,000 + 30 + 10.
        package var reportedPeers = 1_040

        package init() {}
    }

    private enum Rule {
        case dataType, rate, reportedPeers
    }

    /// Violations of the rules that forgive one.
    private struct Violations {
        private var dataType = false
        private var rate = false
        private var reportedPeers = false

        /// Notes that a rule was broken; true from the second time on.
        mutating func again(_ rule: Rule) -> Bool {
            switch rule {
            case .dataType: Self.set(&dataType)
            case .rate: Self.set(&rate)
            case .reportedPeers: Self.set(&reportedPeers)
            }
        }

        private static func set(_ flag: inout Bool) -> Bool {
            defer { flag = true }
            return flag
        }
    }

    /// The version that each envelope bears.
    package let messageVersion: Int32
    private let maximumReportedPeers: Int
    private var decoder: FrameDecoder
    private var perSecond: FrameRate
    private var perTenSeconds: FrameRate
    private var violations = Violations()
    /// A hash under the process's random key: enough to see a change, and the claim itself is not kept.
    private var senderAddressHash: Int?
    private var closed: PeerClose?

    package init(network: BisqNetwork, limits: Limits = Limits()) {
        messageVersion = network.messageVersion
        maximumReportedPeers = limits.reportedPeers
        decoder = FrameDecoder(maximumLength: limits.frameLength)
        perSecond = FrameRate(limit: limits.framesPerSecond, withinSeconds: 1)
        perTenSeconds = FrameRate(limit: limits.framesPerTenSeconds, withinSeconds: 10)
    }

    /// Whether a frame has begun and not ended: it has a deadline.
    package var isFrameIncomplete: Bool { decoder.isIncomplete }

    package var heldBytes: Int { decoder.heldBytes }

    /// Why the connection is to be closed, if it is. What comes after that is not read.
    package var closeReason: PeerClose? { closed }

    /// Takes what was read and adds to `turn` what is to be done about it.
    package mutating func receive(_ bytes: RawSpan, at now: MonotonicTime, into turn: inout PeerTurn) {
        receive(Span<UInt8>(_bytes: bytes), at: now, into: &turn)
    }

    package mutating func receive(_ bytes: [UInt8], at now: MonotonicTime, into turn: inout PeerTurn) {
        receive(bytes.span, at: now, into: &turn)
    }

    /// Closes the session from this side: a shutdown, a deadline, too many connections.
    package mutating func close(_ reason: PeerClose, into turn: inout PeerTurn) {
        guard closed == nil else { return }
        closed = reason
        turn.close = reason
        if let word = reason.word {
            reply(.closeConnection(CloseConnectionMessage(reason: word)), in: &turn)
        }
    }

    private func reply(_ message: consuming Message, in turn: inout PeerTurn) {
        Envelope(messageVersion: messageVersion, message: message).appendFrame(to: &turn.replies)
    }

    private mutating func receive(_ bytes: Span<UInt8>, at now: MonotonicTime, into turn: inout PeerTurn) {
        var position = 0
        while closed == nil {
            do throws(FrameError) {
                guard let frame = try decoder.nextFrame(in: bytes, from: &position) else { return }
                turn.frameCount += 1
                turn.weight += 1
                switch frame {
                case .within(let range): handle(bytes, in: range, at: now, into: &turn)
                case .assembled(let body): handle(body.span, in: 0..<body.count, at: now, into: &turn)
                }
            } catch {
                close(.messageTooLarge, into: &turn)
            }
        }
    }

    private mutating func handle(
        _ bytes: Span<UInt8>, in range: Range<Int>, at now: MonotonicTime, into turn: inout PeerTurn
    ) {
        guard let envelope = try? Envelope(parsing: bytes, in: range), envelope.message.isResolved else {
            return violate(.dataType, .invalidDataType, into: &turn)
        }
        for _ in 0..<envelope.message.frameWeight {
            let isTooFast = perSecond.exceeds(at: now)
            if perTenSeconds.exceeds(at: now) || isTooFast { violate(.rate, .throttleExceeded, into: &turn) }
        }
        guard closed == nil else { return }
        guard envelope.messageVersion == messageVersion else { return close(.wrongNetworkID, into: &turn) }
        if let capabilities = envelope.message.supportedCapabilities, !capabilities.isEmpty,
            !capabilities.contains(mandatoryCapability)
        {
            return close(.mandatoryCapabilityMissing, into: &turn)
        }
        switch envelope.message {
        case .closeConnection: close(.requestedByPeer, into: &turn)
        case .bundle(let entries):
            turn.weight += max(0, entries.count - 1)
            deliver(entries, into: &turn)
        case .ping, .pong, .nestedBundle, .getPeersRequest, .getPeersResponse, .notificationRequest,
            .notificationResponse, .replyRequest, .replyResponse, .replyFetch, .replies, .swallowed, .unknown,
            .missing:
            deliver(envelope.message, into: &turn)
        }
    }

    /// Delivers the entries of a bundle. They are not checked for version, capabilities and
    /// closing, and equal ones count once, as in Bisq.
    private mutating func deliver(_ entries: [Envelope], into turn: inout PeerTurn) {
        var seen = Set<Envelope>(minimumCapacity: entries.count)
        var hasNestedBundle = false
        for entry in entries where closed == nil && seen.insert(entry).inserted {
            if case .nestedBundle = entry.message { hasNestedBundle = true }
            deliver(entry.message, into: &turn)
        }
        if hasNestedBundle { violate(.dataType, .invalidDataType, into: &turn) }
    }

    private mutating func deliver(_ message: Message, into turn: inout PeerTurn) {
        guard keepSender(message.senderNodeAddress) else {
            return close(.senderAddressChanged, into: &turn)
        }
        switch message {
        case .ping(let ping): reply(.pong(Pong(requestNonce: ping.nonce)), in: &turn)
        case .getPeersRequest(let request):
            let response = GetPeersResponse(
                requestNonce: request.nonce, supportedCapabilities: [mandatoryCapability])
            reply(.getPeersResponse(response), in: &turn)
            if request.reportedPeers.count > maximumReportedPeers {
                violate(.reportedPeers, .tooManyReportedPeers, into: &turn)
            }
        case .notificationRequest(let request): turn.requests.append(request)
        case .replyRequest(let request): turn.wayBack.append(.post(request))
        case .replyFetch(let fetch): turn.wayBack.append(.fetch(fetch))
        case .pong, .getPeersResponse, .notificationResponse, .replyResponse, .replies, .swallowed,
            .closeConnection, .bundle,
            .nestedBundle, .unknown, .missing:
            break
        }
    }

    private mutating func violate(_ rule: Rule, _ reason: PeerClose, into turn: inout PeerTurn) {
        if violations.again(rule) { close(reason, into: &turn) }
    }

    /// Keeps the hash of the sender's address that a message carries; a message without one changes nothing.
    ///
    /// - Returns: Whether the message carries no other address than the one before.
    private mutating func keepSender(_ address: NodeAddress?) -> Bool {
        guard let hash = address?.hashValue else { return true }
        defer { senderAddressHash = hash }
        return senderAddressHash == nil || senderAddressHash == hash
    }
}

extension Message {
    /// Whether Bisq, or this protocol, has a handler for the message.
    fileprivate var isResolved: Bool {
        switch self {
        case .unknown, .missing, .nestedBundle: false
        case .ping, .pong, .closeConnection, .bundle, .getPeersRequest, .getPeersResponse,
            .notificationRequest, .notificationResponse, .replyRequest, .replyResponse, .replyFetch, .replies,
            .swallowed:
            true
        }
    }

    /// The number of frames that the message counts as. Bisq counts a bundle as one; here each 32 entries
    /// more are another, since 64 KiB hold thousands of small ones, and each costs as much as a frame.
    fileprivate var frameWeight: Int {
        if case .bundle(let entries) = self { 1 + entries.count / 32 } else { 1 }
    }

    /// The capabilities that a peer claims, in the messages in which Bisq looks for them.
    fileprivate var supportedCapabilities: [Int32]? {
        switch self {
        case .getPeersRequest(let message): message.supportedCapabilities
        case .getPeersResponse(let message): message.supportedCapabilities
        case .swallowed(let message): message.supportedCapabilities
        case .ping, .pong, .closeConnection, .bundle, .nestedBundle, .notificationRequest,
            .notificationResponse, .replyRequest, .replyResponse, .replyFetch, .replies, .unknown, .missing:
            nil
        }
    }

    /// The address a peer claims, in the messages in which Bisq looks for it. That of a notification request is for
    /// other uses and need not stay the same.
    fileprivate var senderNodeAddress: NodeAddress? {
        switch self {
        case .getPeersRequest(let message): message.senderNodeAddress
        case .swallowed(let message): message.senderNodeAddress
        case .ping, .pong, .closeConnection, .bundle, .nestedBundle, .getPeersResponse, .notificationRequest,
            .notificationResponse, .replyRequest, .replyResponse, .replyFetch, .replies, .unknown, .missing:
            nil
        }
    }
}
