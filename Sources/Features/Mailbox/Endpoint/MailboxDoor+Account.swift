import Doors
import Encodings
import HTTP1
import JSONCoding
import Reactor

/// The questions of ntfy's clients before they subscribe or publish: who they are there, and for a token of their own. Home
/// Assistant asks for both (home-assistant/core, `components/ntfy/config_flow.py`).
extension MailboxDoor {
    package func handler(for path: String) -> HTTPServer.Handler? {
        guard path == "/v1/health" else { return nil }
        return { [self] request, respond in
            guard ["GET", "HEAD"].contains(request.method) else {
                return respond(.methodNotAllowed("GET, HEAD").inFormOfNtfy)
            }
            let isWell = isStoring()
            respond(.mailbox(status: isWell ? 200 : 503, Array("{\"healthy\":\(isWell)}\n".utf8)))
        }
    }

    package func refusal(_ response: HTTPResponse) -> HTTPResponse { response.inFormOfNtfy }

    private static let path = "/v1/account"

    /// Returns the opening for a request about the account or for a token; `nil`: the request is neither.
    func accountOpening(of request: HTTPRequest) -> HTTPServer.Opening? {
        switch request.path {
        case MailboxDoor.path: { [self] live in answer(request, over: live, "GET", account) }
        case MailboxDoor.path + "/token": { [self] live in answer(request, over: live, "POST", token) }
        case _: nil
        }
    }

    private func answer(
        _ request: HTTPRequest, over live: LiveAnswer, _ method: String,
        _ body: (HTTPRequest) throws(MailboxFault) -> JSON
    ) {
        guard request.method != "OPTIONS" else { return live.answer(MailboxDoor.crossOrigin) }
        guard request.method == method || request.method == "HEAD" && method == "GET" else {
            return live.answer(.methodNotAllowed("\(method), OPTIONS").inFormOfNtfy)
        }
        do throws(MailboxFault) {
            live.answer(.mailbox(Array((try body(request).text + "\n").utf8)))
        } catch {
            refuse(error, over: live)
        }
    }

    /// Counts the request, and returns the client's name here; `nil`: it shows no token.
    private func known(in request: HTTPRequest) throws(MailboxFault) -> String? {
        let claim = try claim(in: request)
        try count(directory.owner(of: claim))
        guard let claim else { return nil }
        guard let name = directory.name(of: claim) ?? directory.publisher(of: claim) else {
            throw .unauthorized
        }
        return name
    }

    /// Returns the client's account. Nothing is counted for a user here: limits that do not exist, and what
    /// is left of them, are 0.
    private func account(_ request: HTTPRequest) throws(MailboxFault) -> JSON {
        let name = try known(in: request)
        let counts = [
            "messages", "emails", "calls", "reservations", "attachment_total_size",
        ]
        let limits =
            counts + [
                "messages_expiry_duration", "attachment_file_size", "attachment_expiry_duration",
                "attachment_bandwidth",
            ]
        let stats = counts + counts.map { $0 + "_remaining" }
        return [
            // As ntfy calls nobody.
            "username": .string(name ?? "*"), "role": .string(name == nil ? "anonymous" : "user"),
            "limits": .object(JSON.Object(limits.map { ($0, .integer(0)) })),
            "stats": .object(JSON.Object(stats.map { ($0, .integer(0)) })),
        ]
    }

    /// Returns the client's own token. The operator makes tokens: the client goes on with the one that it
    /// has.
    private func token(_ request: HTTPRequest) throws(MailboxFault) -> JSON {
        guard try known(in: request) != nil,
            let own = MailboxRequest.credentials(of: request, try MailboxParameters(request))
        else { throw .unauthorized }
        return ["token": .string(own.token)]
    }
}
