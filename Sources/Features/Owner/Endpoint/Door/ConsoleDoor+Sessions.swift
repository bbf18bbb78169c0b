import Doors
import Encodings
import HTTP1
import JSONCoding
import Reactor

/// The browsers that have entered, as their owner sees and ends them.
extension ConsoleDoor {
    private static let sessionsPath = "/api/v1/sessions"

    /// Answers a request about sessions; `false`: it is about something else.
    ///
    /// - Parameter owner: The session's token and the login; `nil`: the login is the proxy's.
    func answerSessions(
        _ request: HTTPRequest, of owner: (token: String, login: ConsoleLogin)?,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) -> Bool {
        guard request.path.hasPrefix(Self.sessionsPath) else { return false }
        let rest = request.path.utf8.dropFirst(Self.sessionsPath.utf8.count)
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") else { return false }
        guard let owner else {
            respond(HTTPResponse(status: 409, fault: "login_elsewhere", "the login is that of the platform"))
            return true
        }
        let id = String(decoding: rest.dropFirst(), as: UTF8.self)
        switch (id.isEmpty, request.method) {
        case (true, "GET"), (true, "HEAD"):
            respond(
                HTTPResponse(
                    status: 200, json: ["sessions": .array(owner.login.sessions(of: owner.token).map(\.json))]
                ))
        case (false, "DELETE"):
            Task {
                let isEnded = await owner.login.end(id)
                respond(
                    isEnded
                        ? HTTPResponse(status: 204)
                        : HTTPResponse(status: 404, fault: "unknown_session", "there is no such session"))
            }
        case (true, _): respond(.methodNotAllowed("GET"))
        case (false, _): respond(.methodNotAllowed("DELETE"))
        }
        return true
    }
}

extension ConsoleLogin.Entered {
    fileprivate var json: JSON {
        [
            "id": .string(session.id), "browser": .string(session.browser), "used": .integer(session.used),
            "ends": .integer(session.ends), "own": .bool(isOwn),
        ]
    }
}
