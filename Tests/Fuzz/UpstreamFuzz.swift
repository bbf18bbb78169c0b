// Whatever another relay answers. Built by Deploy/tools/fuzz. How bytes become answers is HTTPFuzz.swift's as well.
@testable import HTTP1
@testable import JSONCoding
@testable import Relay

/// One input: answers as they come over a connection, and the same bytes as the body of an answer of each status.
func fuzzUpstream(_ input: [UInt8]) {
    var decoder = HTTPResponseDecoder(limits: HTTPLimits(body: GatewayAnswer.bodyLimit))
    decoder.append(input.span.bytes)
    while let response = try? decoder.next() {
        precondition(response.body.count <= GatewayAnswer.bodyLimit)
        check(GatewayAnswer(status: response.status, retryAfter: nil, body: response.body))
    }
    let body = Array(input.prefix(GatewayAnswer.bodyLimit))
    checkFrame(body)
    for status in isCostOnly ? [400] : [200, 202, 302, 400, 404, 413, 429, 500, 502, 503, 508, 599] {
        check(GatewayAnswer(status: status, retryAfter: nil, body: body))
    }
}

/// The same of a response frame.
private func checkFrame(_ body: [UInt8]) {
    for status in -1...7 {
        let answer = GatewayAnswer(status: status, retryAfter: nil, body: Array(body.prefix(64)))
        let meaning = RelayAnswer(answer, form: .p2p)
        precondition((meaning == .accepted) == (status == 2))
        if meaning != .accepted { check(meaning, of: answer) }
    }
}

private func check(_ answer: GatewayAnswer) {
    let get = RelayAnswer(answer, form: .bisq1)
    let post = RelayAnswer(answer, form: .bisq2)
    if get == .accepted { precondition(answer.body.elementsEqual("success".utf8)) }
    if post == .accepted {
        precondition((try? JSON(answer.body))?["wasAccepted"]?.bool == true, "taken for accepted")
    }
    for meaning in [get, post] { check(meaning, of: answer) }
}

/// Nothing of a stranger's reaches logs or senders but short words and plain text without a device token.
private func check(_ meaning: RelayAnswer, of answer: GatewayAnswer) {
    switch meaning {
    case .accepted: precondition((200..<300).contains(answer.status))
    case .dead(let reason, let detail), .refused(let reason, let detail):
        check(word: reason)
        guard let detail else { return }
        precondition(detail.utf8.count <= 256 && !DeviceToken.couldBe(in: detail))
        precondition(detail.utf8.allSatisfy { (0x20...0x7e).contains($0) })
    case .doubtful(let reason), .later(let reason, _, _), .unclear(let reason, _), .setup(let reason):
        check(word: reason)
    }
}

private func check(word: String) {
    precondition((1...64).contains(word.utf8.count))
    precondition(
        word.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
        })
}
