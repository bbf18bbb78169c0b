import Doors
import Encodings
import HTTP1
import JSONCoding
import Logging
import Node
import Overview
import Persistence
import Processes
import Reactor

/// The calls of `/api/v1` that the console and programs make, each a feature's.
///
/// It is served to whoever may do everything: over the socket in the state directory, which nobody but the node's user can
/// open, and behind the console's login.
@EventLoop
package final class NodeCalls: HTTPDoor {
    package unowned let node: RelayNode
    /// All calls but for those of the login.
    private let all: [Call]
    package var log: Logger { node.log }
    /// The queue of calls to the store. A change waits for the one before it, and the event loop for none.
    private let store = JobQueue(named: "calls")
    /// The queue of copies and settings, which take longer.
    package let longJobs = JobQueue(named: "keep")
    package var keeping = 0
    package var isReaching = false
    /// Calls that are not answered yet.
    private var running = 0

    package nonisolated static let prefix = "/api/v1/"
    private static let mostRunning = 32

    /// Puts the node's report into words.
    package var desk: ReportDesk { node.desk }

    package init(of node: RelayNode) {
        self.node = node
        all = NodeCalls.all(with: node.settings.built)
    }

    package func handler(for path: String) -> HTTPServer.Handler? {
        guard let callPath = CallPath(path, among: all) else { return nil }
        return { [self] request, respond in answer(request, callPath, respond) }
    }

    package func refusal(_ response: HTTPResponse) -> HTTPResponse {
        guard response.status == 404 else { return response.asRefusedCall }
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

    package var files: NodeFiles {
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
        if call.path.first == "console-keys" {
            for companion in node.companions { await companion.lookNow() }
        }
        node.tell(kinds)
    }

    /// Returns what an open feature has for its own calls; `nil`: it is not open.
    package func open<Desk: AnyObject>(_ kind: Desk.Type) -> Desk? {
        node.doors.others.lazy.compactMap { $0.desk as? Desk }.first
    }

    /// Carries out what concerns the store, over a connection of its own.
    package func registrations<Value: Sendable>(
        _ body: @escaping @Sendable (borrowing RegistrationFile) throws -> Value
    ) async throws(CallRefusal) -> Value {
        let files = files
        return try await store.run { Result { () throws(CallRefusal) in try files.registrations(body) } }
            .get()
    }
}

extension NodeCalls {
    /// Returns all calls as the document has them, but for those of the login.
    package nonisolated static func all(with features: Features) -> [Call] {
        features.kinds.flatMap { ($0 as? any FeatureWithCalls.Type)?.calls ?? [] }
    }
}

extension NodeCalls.Call {
    /// The parts that the node looks at after the call, and that a page draws anew.
    var kinds: ChangedParts {
        switch path.first {
        case "phones", "names": .phones
        case "registrations": [.phones, .mailboxes]
        case "mailboxes": .mailboxes
        case "peers": [.peers, .state]
        case _: .state
        }
    }
}

extension HTTPResponse {
    /// The answer that a server itself refuses with, in the form of refused calls.
    package var asRefusedCall: HTTPResponse {
        var refusal = HTTPResponse(
            status: status, fault: "bad_request", String(decoding: body, as: UTF8.self))
        refusal.isKeptAlive = isKeptAlive
        return refusal.shielded().notStored
    }

    package var notStored: HTTPResponse {
        var response = self
        response.fields.append("cache-control", "no-store")
        return response
    }
}
