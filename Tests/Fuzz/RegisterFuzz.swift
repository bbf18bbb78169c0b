// Whatever a trusted node answers to a registration, and any pairing code. Built by Deploy/tools/fuzz. How bytes become the
// answers to the handshake and to the pairing is HTTPFuzz.swift's as well.
@testable import Encodings
@testable import HTTP1

func fuzzRegister(_ input: [UInt8]) {
    checkFrames(input, isMasked: false)
    checkFrames(input, isMasked: true)
    checkAnswers(input)
    checkCode(String(decoding: input, as: UTF8.self))
    checkCode(Base64.encodeForURL(input))
}

/// What comes in one piece and what comes in two is the same, no message is over the limit, and what was understood is
/// understood again when we write it.
private func checkFrames(_ input: [UInt8], isMasked: Bool) {
    let limit = 3000
    var whole = WebSocketDecoder(isMasked: isMasked, limit: limit)
    whole.append(input.span.bytes)
    let (messages, fault) = read(&whole)
    for message in messages {
        switch message {
        case .text(let text):
            precondition(text.utf8.count <= limit)
            guard !isCostOnly else {
                _ = TrustedNodeAnswer.call(Array(text.utf8), to: "0123456789abcdef")
                continue
            }
            if !isMasked { checkAnswers(Array(text.utf8)) }
        case .ping(let bytes): precondition(bytes.count <= 125)
        case .pong, .close: break
        }
        guard !isCostOnly else { continue }
        var again = WebSocketDecoder(isMasked: isMasked, limit: limit)
        again.append(message.encoded(mask: isMasked ? [1, 2, 3, 4] : nil).span.bytes)
        precondition(read(&again) == ([message], nil), "what we write is not what we read")
    }
    guard !isCostOnly else { return }
    var inTwo = WebSocketDecoder(isMasked: isMasked, limit: limit)
    let cut = input.count / 2
    inTwo.append(input.span.bytes.extracting(first: cut))
    var (first, firstFault) = read(&inTwo)
    if firstFault == nil {
        inTwo.append(input.span.bytes.extracting(droppingFirst: cut))
        let (rest, restFault) = read(&inTwo)
        first += rest
        firstFault = restFault
    }
    precondition(first == messages && firstFault == fault, "the reads decide what is understood")
}

private func read(_ decoder: inout WebSocketDecoder) -> ([WebSocketMessage], WebSocketFault?) {
    var messages: [WebSocketMessage] = []
    do throws(WebSocketFault) {
        while let message = try decoder.next() { messages.append(message) }
    } catch {
        return (messages, error)
    }
    return (messages, nil)
}

/// What goes into the next request's head ends no line of it, and nobody answers for another request.
private func checkAnswers(_ bytes: [UInt8]) {
    if let session = TrustedNodeAnswer.session(bytes) {
        for word in [session.client, session.id] {
            precondition((1...256).contains(word.utf8.count))
            precondition(word.utf8.allSatisfy { (0x21...0x7e).contains($0) })
        }
    }
    let answer = TrustedNodeAnswer.call(bytes, to: "0123456789abcdef")
    if case .status = answer {
        precondition(TrustedNodeAnswer.call(bytes, to: "another") == .other, "an answer to two requests")
    }
}

/// What is called is printable and bounded.
private func checkCode(_ text: String) {
    guard let code = try? TrustedNodeCode(text) else { return }
    precondition((1...128).contains(code.pairingID.utf8.count) && code.url.utf8.count <= 512)
    precondition((code.pairingID + code.url).utf8.allSatisfy { (0x21...0x7e).contains($0) })
}
