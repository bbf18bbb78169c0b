// Any bytes from a reader of a mailbox: frames of its WebSocket, its path, its query and its authorization. Built with
// the sources of the door's forms by Deploy/fuzz.
@testable import Encodings
@testable import HTTP1
@testable import JSONCoding
@testable import Registrations

func fuzz(_ input: [UInt8]) {
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
    guard let text = String(validating: input, as: UTF8.self) else { return }
    if let (topics, kind) = MailboxRequest.path(text) {
        precondition((1...10).contains(topics.count))
        precondition("/\(topics.joined(separator: ","))/\(kind.rawValue)" == text)
    }
    read(HTTPRequest(method: "GET", path: "/t/json", query: text))
    var request = HTTPRequest(method: "GET", path: "/t/json")
    request.fields.append("authorization", text)
    request.fields.append("x-since", text)
    read(request)
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
