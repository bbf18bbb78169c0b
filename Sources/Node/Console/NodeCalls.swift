import Doors
import Encodings
import HTTP1
import JSONCoding
import Logging
import Overview
import Persistence
import Processes
import Reactor

/// The calls of `/api/v1` that the console and programs make, described by the document that it serves.
///
/// It is served to whoever may do everything: over the socket in the state directory, which nobody but the node's user can
/// open, and behind the console's login.
@EventLoop
package final class NodeCalls: HTTPDoor {
    unowned let node: RelayNode
    /// All calls but for the two of the login.
    private let all: [Call]
    var log: Logger { node.log }
    /// The queue of calls to the store. A change waits for the one before it, and the event loop for none.
    private let store = JobQueue(named: "calls")
    /// The queue of copies and settings, which take longer.
    let longJobs = JobQueue(named: "keep")
    var keeping = 0
    var isReaching = false
    /// The question whether the node would start again, as long as it is asked.
    var startCheck: Task<String?, Never>?
    /// Calls that are not answered yet.
    private var running = 0

    nonisolated static let prefix = "/api/v1/"
    private static let mostRunning = 32

    /// Puts the node's report into words.
    var desk: ReportDesk { node.desk }

    init(of node: RelayNode) {
        self.node = node
        all = NodeCalls.all(with: node.settings.built)
    }

    package func handler(for path: String) -> HTTPServer.Handler? {
        guard let callPath = CallPath(path, among: all) else { return nil }
        return { [self] request, respond in answer(request, callPath, respond) }
    }

    package func refusal(_ response: HTTPResponse) -> HTTPResponse {
        guard response.status == 404 else { return ConsoleDoor.refusal(response) }
        return HTTPResponse(CallRefusal(.absent, "unknown_call", "there is no such call"))
    }

    private func answer(
        _ request: HTTPRequest, _ callPath: CallPath, _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        let call: Call
        do throws(CallPath.Refusal) {
            call = try callPath.call(request.method)
        } catch {
            var response = HTTPResponse(status: 405, fault: "bad_method", "only \(error.allowed) here")
            response.fields.append("allow", error.allowed)
            return respond(response)
        }
        guard running < Self.mostRunning else {
            let refusal = CallRefusal(.early, "busy", "too many calls at a time: try again in a moment")
            return respond(HTTPResponse(refusal))
        }
        running += 1
        Task {
            let response = await answer(request, callPath.segments, call)
            if call.method != "GET", response.status < 300 { await changed(call) }
            respond(response)
            running -= 1
        }
    }

    private func answer(_ request: HTTPRequest, _ segments: [String], _ call: Call) async -> HTTPResponse {
        do throws(CallRefusal) {
            let files = files
            switch call.way {
            case .long(let run):
                return try await run(self, LongBody(bytes: request.body, asks: call.text.asks))
            case .node(let run), .either(let run, stopped: _):
                return try await run(self, Asked(request, segments, of: call))
            case .store(let carry):
                let asked = try Asked(request, segments, of: call)
                return try await store.run { Result { () throws(CallRefusal) in try carry(files, asked) } }
                    .get()
            case .files(let carry):
                let asked = try Asked(request, segments, of: call)
                return try await NodeCalls.onFiles {
                    Result { () throws(CallRefusal) in try carry(files, asked) }
                }.get()
            }
        } catch {
            return HTTPResponse(error)
        }
    }

    var files: NodeFiles {
        NodeFiles(
            node.settings,
            running: NodeFiles.Running(
                settingsFile: node.host.settingsFile, clockAhead: node.store.dispatcher.dates.ahead))
    }

    @FileThread
    private static func onFiles<Value: Sendable>(_ body: @Sendable () -> Value) -> Value { body() }

    /// Makes the node take over at once what a call has changed in its store and its files, and tells pages
    /// of it.
    private func changed(_ call: Call) async {
        let kinds = call.kinds
        if kinds.contains(.phones) { await node.store.phoneBook.lookNow() }
        if kinds.contains(.mailboxes) { for door in node.doors.others { await door.lookNow() } }
        if kinds.contains(.peers) { await node.invitations.lookNow() }
        if call.path.first == "console-keys" { await node.console?.onion?.lookNow() }
        node.console?.events.changed(kinds)
    }

    /// Carries out what concerns the store, over a connection of its own.
    func registrations<Value: Sendable>(
        _ body: @escaping @Sendable (borrowing RegistrationFile) throws -> Value
    ) async throws(CallRefusal) -> Value {
        let files = files
        return try await store.run { Result { () throws(CallRefusal) in try files.registrations(body) } }
            .get()
    }
}

extension NodeCalls {
    /// Returns the most bytes that the body of this request may have; `nil`: as many as any.
    nonisolated static func bodyLimit(_ request: HTTPRequest) -> Int? {
        switch (request.method, request.path) {
        case ("POST", "/api/v1/restore"): longestBody
        case ("POST", "/api/v1/settings/check"), ("PUT", "/api/v1/settings"): longestSettings
        case _: nil
        }
    }

    /// Returns all calls as the document has them, but for the two of the login.
    nonisolated static func all(with features: Features) -> [Call] {
        stateCalls + phoneCalls + peerCalls + registrationCalls + keyCalls + keepCalls
            + settingsCalls + wayCalls + credentialCalls + nowCalls + ringCalls + waitingCalls + widgetCalls
            + browserCalls + features.kinds.flatMap { $0.calls }
    }

    /// Returns what an open feature has for its own calls; `nil`: it is not open.
    package func open<Desk: AnyObject>(_ kind: Desk.Type) -> Desk? {
        node.doors.others.lazy.compactMap { $0.desk as? Desk }.first
    }

    private nonisolated static let stateCalls: [Call] = [
        Call(
            CallText(
                "GET state", "getState", "What the status page shows.",
                answer: .json("As /status.json: times and ages in seconds, sizes in bytes.", stateShape)),
            by: .node { calls, _ in await calls.state("application/json") { StatusJSON.bytes(of: $0) } }),
        Call(
            CallText(
                "GET state/drawing", "drawState",
                "The state as the status page draws it, as a part of a page.",
                answer: .html(
                    "Elements with the classes of state.css, and data-word where a label has a translation.")),
            by: .node { calls, _ in await calls.state("text/html; charset=utf-8") { StatusPage.part(of: $0) }
            }),
        Call(
            CallText(
                "GET state/text", "getStateText", "The state as text, for a terminal.",
                asks: ["colours?": .flag.said("With colours of a terminal.")],
                answer: .text("As onionbell status shows it.")),
            by: .node { calls, asked in
                let isColoured = asked.body.flag("colours")
                return await calls.state("text/plain; charset=utf-8") {
                    Array(StatusText.text(of: $0, coloured: isColoured).utf8)
                }
            }),
        Call(
            CallText(
                "GET openapi.json", "getDescription", "This document.",
                answer: .json("The document.", .open("object"))),
            by: .files { files, _ in
                let all = NodeCalls.all(with: files.settings.built)
                return HTTPResponse(status: 200, json: CallDocument.json(of: login + all.map(\.text)))
            }),
        Call(
            CallText(
                "POST links", "makeLink", "Make a link into the console. Those before it become invalid.",
                answer: .made(
                    "One for each address of the console, good once and for 15 minutes.",
                    ["links": .list(.text)]),
                refuses: [.conflict]),
            by: .node { calls, _ async throws(CallRefusal) in
                let links = try await calls.console.makeLinks()
                guard !links.isEmpty else {
                    throw CallRefusal(
                        .conflict, "login_elsewhere",
                        "the console has no login of its own: open it where the platform offers it")
                }
                return HTTPResponse(status: 201, json: ["links": .array(links.map { .string($0) })])
            }),
    ]

    private func state(_ type: String, _ words: @escaping @Sendable (Report) -> [UInt8]) async -> HTTPResponse
    {
        var response = HTTPResponse(status: 200, body: await desk.put(words))
        response.fields.append("content-type", type)
        return response
    }

    private nonisolated static let stateShape = CallShape.named(
        "State",
        .part([
            "version": .text, "time": .number, "status": .level, "checks": .open("array"),
            "restart_due": .list(.text).said(
                "Keys that were changed since the start, and are used after the next one."),
            "restart?": .nullable([
                "unserved": .open("number").said("Seconds for which nothing was taken."),
                "waited": .number.said("Connections that had waited until the node took them."),
            ]).said("The restart in place by which the node came; null: it came otherwise."),
            "onion": .open("object"), "outbox": .open("object"), "endpoints": .open("array"),
            "gateways": .open("array"),
        ]))
}

extension NodeCalls.Call {
    /// The parts that the node looks at after the call, and that a page draws anew.
    var kinds: ConsoleEvents.Kinds {
        switch path.first {
        case "phones", "names": .phones
        case "registrations": [.phones, .mailboxes]
        case "mailboxes": .mailboxes
        case "peers": [.peers, .state]
        case _: .state
        }
    }
}
