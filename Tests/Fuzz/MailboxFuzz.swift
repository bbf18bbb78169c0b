// Any bytes at a mailbox: frames of a reader's WebSocket, its path, its query and its authorization; pushes of UnifiedPush by
// path, fields and body; replies on the way back. Built with the sources of the door's forms by Deploy/tools/fuzz.
@testable import Encodings
@testable import HTTP1
@testable import JSONCoding
@testable import Relay
@testable import Wire

func fuzzMailbox(_ input: [UInt8]) {
    let whole = messages([input])
    precondition(whole == messages(input.map { [$0] }), "single bytes are read differently")
    let cut = input.isEmpty ? 0 : Int(input[input.count - 1]) % (input.count + 1)
    precondition(
        whole == messages([Array(input[..<cut]), Array(input[cut...])]), "pieces are read differently")
    for message in whole.messages {
        // There is one way to write each, but for the mask and how it is cut into frames.
        let again = messages([message.encoded(mask: [1, 2, 3, 4])])
        precondition(again.messages == [message] && again.fault == nil, "what was read can't be written")
    }
    push(input)
    publish(input)
    if let reply = PhoneReply(input) { precondition(reply.bytes == input, "there are two ways to write it") }
    guard let text = String(validating: input, as: UTF8.self) else { return }
    if let (topics, kind) = MailboxRequest.path(text) {
        precondition((1...Mailbox.mostPushTopics).contains(topics.count))
        precondition("/\(topics.joined(separator: ","))/\(kind.rawValue)" == text)
    }
    read(HTTPRequest(method: "GET", path: "/t/json", query: text))
    var request = HTTPRequest(method: "GET", path: "/t/json")
    request.fields.append("authorization", text)
    request.fields.append("x-since", text)
    read(request)
}

/// What a server of apps sends, and a Matrix server.
private func push(_ input: [UInt8]) {
    if let (key, topic) = MailboxPush.pushKey(in: input), let topic {
        precondition(MailboxPush.isTopic(topic) && key.utf8.count > topic.utf8.count)
    }
    guard let text = String(validating: input, as: UTF8.self) else { return }
    var request = HTTPRequest(method: "POST", path: text, body: input)
    switch MailboxPush(request) {
    case .topic(let topic): precondition("/" + topic == text && MailboxPush.isTopic(topic))
    case .matrix, nil: break
    }
    for name in ["ttl", "urgency", "topic"] {
        var fields = HTTPFields()
        fields.append(name, text)
        guard let message = try? MailboxPushMessage(fields) else { continue }
        precondition((0...MailboxPush.longestLife).contains(message.life))
        precondition((message.replaces?.utf8.count ?? 1) <= 32)
    }
    if let channel = ReplyForm.channel(inPath: text) { precondition(channel.utf8.count == 32) }
    if case .post(let sealed)? = try? ReplyForm(request) { precondition((1...2048).contains(sealed.count)) }
    request.query = text
    request.fields.append("content-type", text)
    do throws(MailboxFault) {
        try PublishOptions.refuse(in: request)
    } catch {
        precondition((try? JSON(error.response.body)) != nil, "the answer is no JSON")
    }
    request = HTTPRequest(method: "GET", path: "/", query: text)
    if case .fetch(let number, let wait)? = try? ReplyForm(request) {
        precondition(number >= 0 && wait >= .zero && wait <= .seconds(3600))
    }
}

/// What a publisher sends, in both forms: what is taken is bounded, and comes out of the store as it was.
private func publish(_ input: [UInt8]) {
    var request = HTTPRequest(method: "POST", path: "/mbabc", body: input)
    check(request) { (request) throws(MailboxFault) in try PublishedText(request, at: 1) }
    if let body = (try? JSON(input, maximumDepth: 8))?.object {
        check(request) { (request) throws(MailboxFault) in try PublishedText(body, in: request, at: 1) }
    }
    guard let text = String(validating: input, as: UTF8.self) else { return }
    for name in ["title", "x-priority", "tags", "click", "x-message", "x-delay", "x-sequence-id"] {
        request = HTTPRequest(method: "POST", path: "/mbabc")
        request.fields.append(name, text)
        check(request) { (request) throws(MailboxFault) in try PublishedText(request, at: 1) }
    }
}

private func check(_ request: HTTPRequest, _ read: (HTTPRequest) throws(MailboxFault) -> PublishedText) {
    do throws(MailboxFault) {
        var text = try read(request)
        text.publisher = "p"
        precondition((1...PublishedText.longestMessage).contains(text.message.utf8.count))
        precondition((1...5).contains(text.priority))
        precondition(text.sequence.isEmpty || MailboxRequest.isTopic(text.sequence))
        precondition((10_001...259_200_001).contains(text.due ?? 10_001), "for later than may be")
        for reserved in ["BisqMessageAndroid|", "BisqMessageiOS|", "OnionbellNotice|"] {
            precondition(!text.message.utf8.starts(with: reserved.utf8), "it passes for Bisq's")
        }
        let kept = (try? JSON(Array(text.json.text.utf8))).flatMap { PublishedText(kept: $0) }
        precondition(kept?.json == text.json, "what was published comes back as another text")
    } catch {
        precondition((try? JSON(error.response.body)) != nil, "the answer is no JSON")
    }
}

private struct Reading: Equatable {
    var messages: [WebSocketMessage] = []
    var fault: WebSocketFault?
}

private func messages(_ pieces: [[UInt8]]) -> Reading {
    var decoder = WebSocketDecoder(isMasked: true, limit: 4096)
    var reading = Reading()
    for piece in pieces {
        decoder.append(piece.span.bytes)
        do throws(WebSocketFault) {
            while let message = try decoder.next() { reading.messages.append(message) }
        } catch {
            reading.fault = error
            return reading
        }
    }
    return reading
}

private func read(_ request: HTTPRequest) {
    do throws(MailboxFault) {
        let wanted = try MailboxRequest(request, topics: ["t"], kind: .json, at: 1_000_000_000_000)
        precondition((wanted.credentials?.token.utf8.count ?? 0) <= 100)
    } catch {
        precondition((try? JSON(error.response.body)) != nil, "the answer is no JSON")
    }
}
