// Any bytes on the peer port. Built by Deploy/tools/fuzz.
@testable import Wire

/// One input: a stream as a peer might send it, and the same bytes as the body of a frame.
func fuzzFrame(_ input: [UInt8]) {
    guard !isCostOnly else { return checkFrame(input) }
    checkStream(input)
    checkBody(input)
    checkFrame(input)
}

/// What a peer's bytes lead to does not depend on how they arrive, and is bounded by them.
private func checkStream(_ input: [UInt8]) {
    let whole = reaction(to: [input])
    precondition(whole == reaction(to: input.map { [$0] }), "single bytes are read differently")
    // The bytes themselves say where to cut, so an input always behaves the same.
    var pieces: [[UInt8]] = []
    var rest = input[...]
    while let first = rest.first {
        pieces.append(Array(rest.prefix(Int(first) % 23 + 1)))
        rest = rest.dropFirst(Int(first) % 23 + 1)
    }
    precondition(whole == reaction(to: pieces), "pieces are read differently")
    precondition(whole.requests.count <= input.count && whole.replies.count <= 16 * input.count + 64)
    for request in whole.requests {
        precondition(rereading(Envelope(messageVersion: 10, message: .notificationRequest(request))))
    }
}

private struct Reaction: Equatable {
    var replies: [UInt8] = []
    var requests: [MobileNotificationRequest] = []
    var close: PeerClose?
    var isFrameIncomplete = false
}

private func reaction(to pieces: [[UInt8]]) -> Reaction {
    var limits = PeerSession.Limits()
    limits.frameLength = 300  // within the reach of short inputs
    limits.framesPerSecond = 20
    var session = PeerSession(network: .mainnet, limits: limits)
    var turn = PeerTurn()
    for piece in pieces { session.receive(piece, at: 5, into: &turn) }
    precondition(turn.close == session.closeReason)
    return Reaction(
        replies: turn.replies, requests: turn.requests, close: turn.close,
        isFrameIncomplete: session.closeReason == nil && session.isFrameIncomplete)
}

/// The same as a whole frame, as long as the node takes them.
private func checkFrame(_ input: [UInt8]) {
    var frame = ProtoWriter()
    frame.varint(UInt64(input.count))
    var session = PeerSession(network: .mainnet)
    var turn = PeerTurn()
    session.receive(frame.bytes + input, at: 5, into: &turn)
}

private func checkBody(_ input: [UInt8]) {
    guard let envelope = try? Envelope(parsing: input) else { return }
    precondition(rereading(envelope))
}

/// What was read can be written and is the same when it is read again.
private func rereading(_ envelope: Envelope) -> Bool {
    guard envelope.message.canBeSent else { return true }
    let frame = envelope.frame
    var decoder = FrameDecoder(maximumLength: frame.count)
    var position = 0
    guard case .within(let range) = try? decoder.nextFrame(in: frame.span, from: &position) else {
        return false
    }
    return position == frame.count && (try? Envelope(parsing: frame.span, in: range)) == envelope
}

extension Message {
    fileprivate var canBeSent: Bool {
        switch self {
        case .nestedBundle, .swallowed, .unknown, .missing: false
        case .bundle(let entries): entries.allSatisfy(\.message.canBeSent)
        default: true
        }
    }
}
