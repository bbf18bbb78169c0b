import Dispatching
import Encodings
import HTTP1
import Reactor
import Relay

/// What `onionbell outbox` asks of a node that runs: `POST /outbox/drop?app=NAME&host=HOST`, either or none of them, the
/// same with `retry`, both with sequence numbers in the body (`12,15`) in place of a lane, and
/// `POST /outbox/move?app=NAME&to=NAME`. Answers with the number of notifications that it is about.
///
/// Served over the socket in the state directory only, which nobody but the node's user can open.
@EventLoop
package final class OutboxDoor: HTTPDoor {
    private let dispatcher: Dispatcher

    package init(dispatcher: Dispatcher) { self.dispatcher = dispatcher }

    package func handler(for path: String) -> HTTPServer.Handler? {
        switch path {
        case "/outbox/drop":
            { [self] in answer($0, $1) { [dispatcher] in change($0, dispatcher.giveUp, dispatcher.giveUp) } }
        case "/outbox/retry":
            { [self] in answer($0, $1) { [dispatcher] in change($0, dispatcher.hurry, dispatcher.hurry) } }
        case "/outbox/move": { [self] in answer($0, $1, move) }
        case _: nil
        }
    }

    private func answer(
        _ request: HTTPRequest, _ respond: @EventLoop (HTTPResponse) -> Void,
        _ change: @EventLoop (Wanted) -> HTTPResponse
    ) {
        guard request.method == "POST" else { return respond(.methodNotAllowed("POST")) }
        guard let query = try? HTTPQuery(request.query ?? "") else {
            return respond(HTTPResponse(status: 400, text: "not a query"))
        }
        let words = request.body.split(separator: UInt8(ascii: ","))
        let sequences = words.compactMap { Int64(String(decoding: $0, as: UTF8.self)) }
        guard sequences.count == words.count else {
            return respond(HTTPResponse(status: 400, text: "not a list of numbers"))
        }
        respond(change((query, sequences)))
    }

    private typealias Wanted = (query: HTTPQuery, sequences: [Int64])

    private func change(
        _ wanted: Wanted, _ lanes: @EventLoop (_ app: String?, _ host: LaneHost?) -> Int,
        _ single: @EventLoop ([Int64]) -> Int
    ) -> HTTPResponse {
        let (query, sequences) = wanted
        let count =
            sequences.isEmpty
            ? lanes(query["app"], query["host"].map { LaneHost($0) }) : single(sequences)
        return HTTPResponse(status: 200, text: "\(count)")
    }

    private func move(_ wanted: Wanted) -> HTTPResponse {
        guard let app = wanted.query["app"], let other = wanted.query["to"] else {
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
