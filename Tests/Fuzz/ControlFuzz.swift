// Any bytes from what should be tor's control port. Built with the pure sources of Tor by Deploy/tools/fuzz.

func fuzzControl(_ input: [UInt8]) {
    // The bytes themselves say where to cut, so an input always behaves the same.
    var pieces: [[UInt8]] = []
    var rest = input[...]
    while let first = rest.first {
        pieces.append(Array(rest.prefix(Int(first) % 23 + 1)))
        rest = rest.dropFirst(Int(first) % 23 + 1)
    }
    let whole = replies(in: [input])
    precondition(whole == replies(in: input.map { [$0] }), "single bytes are read differently")
    precondition(whole == replies(in: pieces), "pieces are read differently")
    for reply in whole.0 { check(reply) }
    let text = String(decoding: input, as: UTF8.self)
    if let words = try? ReplyFields(text) { precondition(words.words.count <= input.count) }
    if let version = TorVersion(text) { precondition((3...4).contains(version.numbers.count)) }
}

private func replies(in pieces: [[UInt8]]) -> ([ControlReply], ControlSyntaxError?) {
    // Short limits are within the reach of short inputs.
    var decoder = ControlDecoder(lineLimit: 200, replyLimit: 600)
    decoder.readsCircuits = pieces.first?.first.map { $0 % 2 == 0 } ?? false
    var found: [ControlReply] = []
    for piece in pieces {
        decoder.append(piece.span.bytes)
        do throws(ControlSyntaxError) {
            while let reply = try decoder.next() { found.append(reply) }
        } catch {
            return (found, error)
        }
    }
    return (found, nil)
}

/// Whatever was read is bounded, and what is made of it is fit for a log.
private func check(_ reply: ControlReply) {
    precondition(!reply.lines.isEmpty && reply.lines.allSatisfy { (100...999).contains($0.code) })
    precondition(reply.lines.reduce(0) { $0 + $1.text.unicodeScalars.count } <= 600)
    precondition(ControlRefusal(reply).description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
    _ = try? ProtocolInfo(reply)
    _ = reply["version"]
    _ = Bootstrap(phase: reply.lines[0].text)
    check(reply.circuits)
    switch try? ControlEvent(reply) {
    case .descriptor(let event): precondition(!event.serviceID.isEmpty)
    case .bootstrap(let bootstrap): precondition((0...100).contains(bootstrap.progress))
    default: break
    }
}

private func check(_ book: CircuitBook) {
    let (points, clients) = (book.introductionPoints(of: "a"), book.clients(of: "a"))
    precondition(points + clients <= book.circuits)
    let rendezvous = book.rendezvous { $0 == "a" }
    precondition(clients <= rendezvous.count && points + rendezvous.count <= book.circuits)
    precondition(book.clients { $0 == "a" }.isSubset(of: rendezvous))
}
