import Dispatching
import HTTP1
import Reactor
import Relay

/// What `onionbell outbox` asks of a node that runs: `POST /outbox/drop?app=NAME&host=HOST`, either or none of them, and
/// `POST /outbox/move?app=NAME&to=NAME`. Answers with the number of notifications that it is about.
///
/// Served over the socket in the state directory only, which nobody but the node's user can open.
@EventLoop
package final class OutboxDoor: HTTPDoor {
    private let dispatcher: Dispatcher

    package init(dispatcher: Dispatcher) { self.dispatcher = dispatcher }

    package func handler(for path: String) -> HTTPServer.Handler? {
        switch path {
        case "/outbox/drop": { [self] in answer($0, $1, drop) }
        case "/outbox/move": { [self] in answer($0, $1, move) }
        case _: nil
        }
    }

    private func answer(
        _ request: HTTPRequest, _ respond: @EventLoop (HTTPResponse) -> Void,
        _ change: @EventLoop (HTTPQuery) -> HTTPResponse
    ) {
        guard request.method == "POST" else { return respond(.methodNotAllowed("POST")) }
        guard let query = try? HTTPQuery(request.query ?? "") else {
            return respond(HTTPResponse(status: 400, text: "not a query"))
        }
        respond(change(query))
    }

    private func drop(_ query: HTTPQuery) -> HTTPResponse {
        let count = dispatcher.giveUp(app: query["app"], host: query["host"].map { LaneHost($0) })
        return HTTPResponse(status: 200, text: "\(count)")
    }

    private func move(_ query: HTTPQuery) -> HTTPResponse {
        guard let app = query["app"], let other = query["to"] else {
            return HTTPResponse(status: 400, text: "app and to are required")
        }
        guard let count = dispatcher.move(app: app, to: other) else {
            return HTTPResponse(
                status: 409,
                text:
                    "the first app must not be in the settings, or have no credentials, and the other one must have "
                    + "credentials and the same hosts")
        }
        return HTTPResponse(status: 200, text: "\(count)")
    }
}
