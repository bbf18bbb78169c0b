import Doors
import Encodings
import HTTP1
import JSONCoding
import Logging
import Persistence
import Programs
import Reactor

/// What the console and programs ask of the node: the calls of `/api/v1`, described by the document that it serves.
///
/// It is served to whoever may do everything: over the socket in the state directory, which nobody but the node's user can
/// open, and behind the console's login.
@EventLoop
final class NodeCalls: HTTPDoor {
    /// One call: a method, a path, and what it does.
    struct Call: Sendable {
        typealias Run =
            @EventLoop @Sendable (NodeCalls, Asked) async throws(CallRefusal) -> HTTPResponse

        let method: String
        /// Below `/api/v1/`; `{}` stands for any segment.
        let path: [String]
        /// Its body may be long, and is read by the call itself, off the loop.
        let isLong: Bool
        let run: Run

        init(_ method: String, _ path: String..., isLong: Bool = false, run: @escaping Run) {
            (self.method, self.path, self.isLong, self.run) = (method, path, isLong, run)
        }
    }

    /// What was asked of a call.
    struct Asked {
        /// Where the path has `{}`.
        let segment: String
        /// Empty for a long call.
        let body: CallBody
        let bytes: [UInt8]
    }

    unowned let node: RelayNode
    var log: Logger { node.log }
    /// One after the other: a change waits for the one before it, and the event loop for none.
    private let store = JobQueue(named: "calls")
    /// Of copies and settings, which take longer.
    let longJobs = JobQueue(named: "keep")
    var keeping = 0
    var isReaching = false
    /// Calls that are not answered yet.
    private var running = 0

    nonisolated static let prefix = "/api/v1/"
    private static let mostRunning = 32

    init(of node: RelayNode) { self.node = node }

    func handler(for path: String) -> HTTPServer.Handler? {
        guard path.hasPrefix(Self.prefix), path.utf8.count <= 200 else { return nil }
        let segments = path.dropFirst(Self.prefix.utf8.count).split(
            separator: "/", omittingEmptySubsequences: false)
        let fitting = Self.all.filter { call in
            call.path.count == segments.count
                && zip(call.path, segments).allSatisfy { $0 == "{}" ? !$1.isEmpty : $1 == $0 }
        }
        // A word of a path is no name.
        let exact = fitting.filter { !$0.path.contains("{}") }
        let found = exact.isEmpty ? fitting : exact
        guard let any = found.first else { return nil }
        let place = any.path.firstIndex(of: "{}")
        let segment = place.map { String(segments[$0]) } ?? ""
        return { [self] request, respond in answer(request, segment, found, respond) }
    }

    private func answer(
        _ request: HTTPRequest, _ segment: String, _ calls: [Call],
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        let method = request.method == "HEAD" ? "GET" : request.method
        guard let call = calls.first(where: { $0.method == method }) else {
            var response = HTTPResponse(
                status: 405, fault: "bad_method", "only \(calls.map(\.method).joined(separator: ", ")) here")
            response.fields.append("allow", calls.map(\.method).joined(separator: ", "))
            return respond(response)
        }
        guard running < Self.mostRunning else {
            return respond(HTTPResponse(status: 503, fault: "busy", "too many calls at a time"))
        }
        running += 1
        Task {
            let response = await answer(request, segment, call)
            if call.method != "GET", response.status < 300 { node.console?.events.changed(call.kinds) }
            respond(response)
            running -= 1
        }
    }

    private func answer(_ request: HTTPRequest, _ segment: String, _ call: Call) async -> HTTPResponse {
        do throws(CallRefusal) {
            let body = try CallBody(call.isLong ? [] : request.body)
            return try await call.run(self, Asked(segment: segment, body: body, bytes: request.body))
        } catch {
            return HTTPResponse(status: error.status, fault: error.word, error.sentence)
        }
    }
}

extension NodeCalls {
    /// Bytes that the body of such a request may have; `nil`: as many as any.
    nonisolated static func bodyLimit(_ request: HTTPRequest) -> Int? {
        switch (request.method, request.path) {
        case ("POST", "/api/v1/restore"): longestBody
        case ("POST", "/api/v1/settings/check"), ("PUT", "/api/v1/settings"): longestSettings
        case _: nil
        }
    }

    /// As the document has them, but for the two of the login.
    static let all: [Call] =
        stateCalls + phoneCalls + peerCalls + mailboxCalls + keepCalls + settingsCalls + nowCalls
        + widgetCalls

    private static let stateCalls: [Call] = [
        Call("GET", "state") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            return calls.node.stateAnswer
        },
        Call("GET", "openapi.json") { _, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            guard let document = await ConsolePage.read(ConsolePage.description) else {
                throw CallRefusal(
                    .unavailable, "not_installed",
                    InstalledFile.absence(of: "console/\(ConsolePage.description)"))
            }
            var response = HTTPResponse(status: 200, body: document)
            response.fields.append("content-type", "application/json")
            return response
        },
        Call("POST", "links") { calls, asked throws(CallRefusal) in
            try asked.body.refuseOthers()
            let links = try await calls.console.makeLinks()
            guard !links.isEmpty else {
                throw CallRefusal(
                    .conflict, "login_elsewhere",
                    "the console has no login of its own: open it where the platform offers it")
            }
            return HTTPResponse(status: 201, json: ["links": .array(links.map { .string($0) })])
        },
    ]

    /// Carries out what concerns the store, over a connection of its own as the commands beside the node have one.
    ///
    /// - Parameter body: Throws a ``CallRefusal`` for what is not to be.
    func registrations<Value: Sendable>(
        changing: Bool = false,
        _ body: @escaping @Sendable (borrowing RegistrationFile) throws -> Value
    ) async throws(CallRefusal) -> Value {
        let settings = node.settings
        let result = await store.run { () -> Result<Value, CallRefusal> in
            do {
                return .success(try body(try RegistrationFile(try settings.store(), isReadOnly: !changing)))
            } catch let error as CallRefusal {
                return .failure(error)
            } catch let error as SQLiteError {
                let path = StateDirectory.outbox(in: settings.stateDirectory)
                return .failure(CallRefusal(.unavailable, "store_failed", "\(error.explained(path: path))"))
            } catch {
                return .failure(CallRefusal(.unavailable, "store_failed", "\(error)"))
            }
        }
        return try result.get()
    }
}

extension NodeCalls.Call {
    /// What a page has to draw anew after it.
    var kinds: ConsoleEvents.Kinds {
        switch path.first {
        case "phones", "names": .phones
        case "mailboxes": .mailboxes
        case "peers": [.peers, .state]
        case _: .state
        }
    }
}
