import Doors
import Encodings
import HTTP1
import JSONCoding
import Reactor

/// The console: pages for the owner's browser, the login, and behind it the calls of `/api/v1`.
///
/// Strangers get the pages, which hold nothing of this node, and one answer: 401. The login's answers are the same whether
/// the node has an owner, a passphrase, or neither.
@EventLoop
package final class ConsoleDoor {
    /// A page's file by its name, `screens/start.js`.
    package typealias File = @Sendable (_ name: String) async -> [UInt8]?

    let rules: ConsoleRules
    /// The login; `nil`: every client has entered, by the login of a proxy.
    let login: ConsoleLogin?
    private let calls: any HTTPDoor
    /// The state in plain text, for who has no scripts.
    private let stateText: @EventLoop () async -> [UInt8]
    private let file: File
    private let events: ConsoleEvents
    /// Whether a token lets programs read how the node is, and nothing else.
    private let isWidget: @EventLoop (_ token: String) -> Bool
    let cookie: String
    /// Files that are being read.
    private var reading = 0

    private static let mostReading = 32
    private static let sessionPath = "/api/v1/session"
    private static let passphrasePath = "/api/v1/passphrase"
    private static let eventsPath = "/api/v1/events"
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        + "form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

    /// Makes the console.
    ///
    /// - Parameters:
    ///   - origins: The origins at which browsers find the console (``ConsoleRules/origins``).
    ///   - login: The login; `nil`: a proxy in front has asked for it.
    ///   - cookie: The name of the session's cookie. Cookies are of a machine, not of a port: each console on
    ///     it has its own.
    ///   - calls: The door of all paths below `/api/v1`.
    package init(
        origins: [String], cookie: String, login: ConsoleLogin?, calls: any HTTPDoor,
        stateText: @escaping @EventLoop () async -> [UInt8], events: ConsoleEvents,
        isWidget: @escaping @EventLoop (_ token: String) -> Bool, file: @escaping File
    ) {
        self.events = events
        self.isWidget = isWidget
        rules = ConsoleRules(origins: origins)
        self.cookie = cookie
        self.login = login
        self.calls = calls
        self.stateText = stateText
        self.file = file
    }

    /// Gives an answer that the server itself refuses with the form of refused calls.
    package static func refusal(_ response: HTTPResponse) -> HTTPResponse {
        response.asRefusedCall
    }

    /// Returns the limit of a request's body. Only who has entered may send a long one.
    ///
    /// - Parameter limit: Returns the limit that the calls have.
    package func bodyLimit(
        _ request: HTTPRequest, _ limit: (HTTPRequest) -> Int?
    ) -> Int? {
        guard let limit = limit(request), rules.isForUs(request) else { return nil }
        guard login == nil || session(in: request) != nil else { return nil }
        return limit
    }

    package func answer(_ request: HTTPRequest, respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        answer(request, watching: nil, respond)
    }

    /// Answers a request.
    ///
    /// - Parameter client: The client of a guess, which is judged only while the client waits; `nil`: nobody looks.
    private func answer(
        _ request: HTTPRequest, watching client: LiveAnswer?,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        if answerWidget(request, respond) { return }
        guard rules.isForUs(request) else {
            return respond(
                HTTPResponse(status: 403, text: "open the address that the link has").shielded().notStored)
        }
        if request.path == Self.formPath, request.method == "POST" {
            return enterByForm(request, watching: client, respond)
        }
        let isCall = request.path.hasPrefix("/api/") || request.path == "/status.txt"
        guard isCall else { return answerPage(request, respond) }
        let respond: @EventLoop (HTTPResponse) -> Void = { respond($0.shielded().notStored) }
        let isRead = request.method == "GET" || request.method == "HEAD"
        let origin = isRead ? nil : rules.origin(ofChange: request)
        guard isRead ? rules.mayRead(request) : origin != nil else {
            return respond(
                HTTPResponse(
                    status: 403, fault: "foreign", "only the console's own pages may ask this"))
        }
        let respondToOwner: @EventLoop (HTTPResponse) -> Void = { response in
            var response = response
            response.isForKnown = true
            respond(response)
        }
        guard let login else { return answer(request, of: nil, respondToOwner) }
        if request.path == Self.sessionPath, request.method == "POST" {
            return enter(
                request, isSecure: origin?.hasPrefix("https://") == true, by: login, watching: client, respond
            )
        }
        guard let token = session(in: request) else {
            return respond(HTTPResponse(status: 401, fault: "no_session", "enter first"))
        }
        login.noteUse(of: token, by: BrowserName.name(of: request.fields["user-agent"]))
        answer(request, of: (token, login), respondToOwner)
    }

    // MARK: Pages

    private func answerPage(
        _ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        guard request.method == "GET" || request.method == "HEAD" else {
            return respond(HTTPResponse.methodNotAllowed("GET, HEAD").shielded().notStored)
        }
        let name = request.path == "/" ? "index.html" : String(request.path.dropFirst())
        guard reading < Self.mostReading else {
            return respond(HTTPResponse(status: 503, text: "too many at a time").shielded().notStored)
        }
        reading += 1
        Task {
            let bytes = await file(name)
            reading -= 1
            guard let bytes else {
                return respond(HTTPResponse(status: 404, text: "no such page").shielded().notStored)
            }
            var response = HTTPResponse(status: 200, body: bytes)
            response.fields.append("content-type", HTTPResponse.type(ofFile: name))
            response.fields.append("cache-control", "no-cache")
            response.fields.append("permissions-policy", "camera=(), geolocation=(), microphone=()")
            respond(response.shielded(policy: Self.policy))
        }
    }

    // MARK: The login

    func enter(
        _ request: HTTPRequest, isSecure: Bool, by login: ConsoleLogin, watching client: LiveAnswer?,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        guard
            let body = try? JSON(request.body, maximumDepth: 1)["link"]?.string.map({ ($0, true) })
                ?? JSON(request.body, maximumDepth: 1)["passphrase"]?.string.map({ ($0, false) })
        else {
            return respond(
                HTTPResponse(status: 400, fault: "bad_request", "give a link's secret or a passphrase"))
        }
        let isLink = body.1
        let text = isLink ? ConsoleDoor.secret(inLink: body.0) : body.0
        guard text.utf8.count <= ConsoleAccess.passphraseLengths.upperBound else {
            return respond(refusal)
        }
        let mark = mark(in: request)
        Task {
            let answer =
                isLink
                ? await login.enter(byLink: text, showing: mark, from: request.sender)
                : await login.enter(
                    byPassphrase: text, showing: mark, from: request.sender, watching: client)
            switch answer {
            case .entered(let token, let mark):
                var response = HTTPResponse(status: 204).forKnown
                response.fields.append(
                    "set-cookie", set(cookie, to: token, for: ConsoleAccess.sessionLifetime, isSecure))
                response.fields.append(
                    "set-cookie", set(markCookie, to: mark, for: ConsoleAccess.markLifetime, isSecure))
                respond(response)
            case .refused: respond(refusal)
            case .later(let delay):
                var response = HTTPResponse(
                    status: 429, fault: "too_many_attempts", "too many attempts: wait a little")
                let seconds = (delay.milliseconds + 999) / 1000
                response.fields.append("retry-after", String(max(1, seconds)))
                respond(response)
            }
        }
    }

    private var refusal: HTTPResponse {
        HTTPResponse(status: 403, fault: "not_accepted", "this is no link or passphrase that lets you in")
    }

    // MARK: Programs that read

    /// Answers a program that shows a token; `false`: the request shows none, or is not for figures. A browser shows no
    /// token by itself, so a token is proof enough, under whatever name the node was called.
    private func answerWidget(
        _ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) -> Bool {
        guard WidgetDoor.isForFigures(request), let token = Self.widgetToken(in: request) else {
            return false
        }
        guard token.utf8.count < 100, isWidget(token) else {
            var response = HTTPResponse(status: 401, fault: "bad_token", "this token is none, or was revoked")
            response.fields.append("www-authenticate", "Bearer")
            respond(response.shielded().notStored)
            return true
        }
        var request = request
        request.query = nil
        calls.answer(request) { response in
            var response = response
            response.isForKnown = true
            respond(response.shielded().notStored)
        }
        return true
    }

    /// Returns the token of `Authorization: Bearer TOKEN`, or of `?token=TOKEN` for programs that know
    /// addresses only.
    private static func widgetToken(in request: HTTPRequest) -> String? {
        if let field = request.fields["authorization"] {
            let scheme = "bearer "
            let isBearer = field.utf8.prefix(scheme.utf8.count).elementsEqual(scheme.utf8) {
                ASCII.lowercased($0) == $1
            }
            return isBearer ? String(field.dropFirst(scheme.utf8.count)) : ""
        }
        return request.query.flatMap { query in (try? HTTPQuery(query))?["token"] }
    }

    // MARK: Events

    /// Takes over a request to enter, whose client may hang up, or for the stream of changes; `nil`: it is answered as any
    /// other, and perhaps refused.
    package func opening(of request: HTTPRequest) -> HTTPServer.Opening? {
        if request.method == "POST", [Self.sessionPath, Self.formPath].contains(request.path) {
            return { [self] client in answer(request, watching: client) { client.answer($0) } }
        }
        guard request.path == Self.eventsPath, request.method == "GET", rules.isForUs(request),
            rules.mayRead(request)
        else { return nil }
        guard let login else {
            return { [events] in events.open($0, of: []) { true } }
        }
        guard let token = session(in: request) else { return nil }
        return { [events] in events.open($0, of: Array(token.utf8)) { login.isSession(token) } }
    }

    // MARK: For who has entered

    /// Answers a client that has entered.
    ///
    /// - Parameter owner: The session's token and the login; `nil`: the login is the proxy's, and nothing of
    ///   it can be changed here.
    private func answer(
        _ request: HTTPRequest, of owner: (token: String, login: ConsoleLogin)?,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        if answerSessions(request, of: owner, respond) { return }
        switch (request.path, request.method) {
        case ("/status.txt", "GET"), ("/status.txt", "HEAD"):
            Task {
                var response = HTTPResponse(status: 200, body: await stateText())
                response.fields.append("content-type", "text/plain; charset=utf-8")
                respond(response)
            }
        case (Self.sessionPath, "GET"), (Self.sessionPath, "HEAD"): respond(HTTPResponse(status: 204))
        case (Self.sessionPath, _) where owner == nil, (Self.passphrasePath, _) where owner == nil:
            respond(
                HTTPResponse(status: 409, fault: "login_elsewhere", "the login is that of the platform"))
        case (Self.sessionPath, "DELETE"):
            Task {
                await owner?.login.leave(owner?.token ?? "")
                var response = HTTPResponse(status: 204)
                response.fields.append("set-cookie", set(cookie, to: "", for: .zero, false))
                respond(response)
            }
        case (Self.passphrasePath, "PUT"): setPassphrase(request, of: owner, respond)
        case (Self.passphrasePath, "DELETE"):
            Task { respond(await passphraseSet(nil, by: owner)) }
        case (Self.sessionPath, _): respond(.methodNotAllowed("GET, POST, DELETE"))
        case (Self.eventsPath, _): respond(.methodNotAllowed("GET"))
        case (Self.passphrasePath, _): respond(.methodNotAllowed("PUT, DELETE"))
        case ("/status.txt", _): respond(.methodNotAllowed("GET"))
        case _: calls.answer(request, respond: respond)
        }
    }

    private func setPassphrase(
        _ request: HTTPRequest, of owner: (token: String, login: ConsoleLogin)?,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        guard let text = try? JSON(request.body, maximumDepth: 1)["passphrase"]?.string,
            ConsoleAccess.passphraseLengths.contains(text.utf8.count)
        else {
            return respond(
                HTTPResponse(
                    status: 422, fault: "passphrase_length",
                    "a passphrase has \(ConsoleAccess.passphraseLengths.lowerBound) to \(ConsoleAccess.passphraseLengths.upperBound) bytes"
                ))
        }
        Task { respond(await passphraseSet(text, by: owner)) }
    }

    private func passphraseSet(
        _ text: String?, by owner: (token: String, login: ConsoleLogin)?
    ) async -> HTTPResponse {
        await owner?.login.setPassphrase(text, by: owner?.token ?? "") == true
            ? HTTPResponse(status: 204) : HTTPResponse(status: 503, fault: "busy", "try again in a moment")
    }
}
