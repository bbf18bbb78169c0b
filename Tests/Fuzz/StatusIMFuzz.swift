// Any bytes as a stream of Status' messages, and as each of its messages. Built with the sources of Wire and StatusIM by
// Deploy/tools/fuzz.
@testable import StatusIM
@testable import Wire

func fuzzStatusIM(_ input: [UInt8]) {
    guard !isCostOnly else { return cost(of: input) }
    var pieces: [[UInt8]] = []
    var rest = input[...]
    while let first = rest.first {
        pieces.append(Array(rest.prefix(Int(first) % 23 + 1)))
        rest = rest.dropFirst(Int(first) % 23 + 1)
    }
    let whole = messages(in: [input])
    precondition(whole == messages(in: pieces), "pieces are read differently")
    precondition(whole == messages(in: input.map { [$0] }), "single bytes are read differently")
    for message in whole.0 + [input] { check(message) }
}

/// What the server does with a message, its signature aside: read as the kind that it says, and named by its bytes.
private func cost(of input: [UInt8]) {
    _ = try? SignedMessage(input)
    _ = SignedMessage.id(signer: [], encoded: SignedMessage.digest(of: input))
    if let registration = try? Registration(input) { _ = registration.encoded }
    _ = try? Query(input, limit: 500)
    _ = try? PushRequest(input, limit: 500)
}

/// A short limit is within the reach of short inputs.
private let limit = 600

private func messages(in pieces: [[UInt8]]) -> ([[UInt8]], MessageStreamError?) {
    var stream = MessageStream(maximumLength: limit)
    var found: [[UInt8]] = []
    for piece in pieces {
        var position = 0
        do throws(MessageStreamError) {
            while let message = try stream.next(in: piece.span, from: &position) { found.append(message) }
        } catch {
            return (found, error)
        }
        precondition(position == piece.count)
    }
    return (found, nil)
}

private func check(_ bytes: [UInt8]) {
    if let message = try? SignedMessage(bytes) {
        precondition(message.payload.count <= bytes.count)
        if message.kind != nil { precondition((try? SignedMessage(message.encoded)) == message) }
    }
    if let registration = try? Registration(bytes) {
        precondition((try? Registration(registration.encoded)) == registration, "it is kept as another one")
        _ = try? registration.checkIdentity()
        _ = try? registration.check(storedVersion: 3) { _ in true }
        var response = QueryResponse()
        response.add(registration, foundBy: bytes)
        _ = response.encoded(to: bytes, isSuccess: true)
    }
    if let query = try? Query(bytes, limit: 3) { precondition(query.keyHashes.count <= 3) }
    guard let request = try? PushRequest(bytes, limit: 3) else { return }
    precondition(request.entries.count <= 3)
    for entry in request.entries {
        var registration = Registration()
        registration.accessToken = entry.accessToken
        registration.allowedMentionChats = [entry.chatID]
        if case .answered(.wrongToken) = PushDecision(entry, registration) {
            preconditionFailure("its own token")
        }
        let content = PushContent(entry)
        precondition(content.data.allSatisfy { $0.value.utf8.allSatisfy { $0 >= 0x30 && $0 < 0x7f } })
    }
    _ = PushResponse.encoded(request.entries.map { _ in .accepted }, to: request)
}
