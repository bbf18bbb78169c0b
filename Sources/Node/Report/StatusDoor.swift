import Doors
import HTTP1
import Overview
import Reactor

/// The door for commands that every node has, over the socket in the state directory: the node's state, and the restart in
/// place. The paths are those of the calls that `Calls` has for the same.
@EventLoop
final class StatusDoor: HTTPDoor {
    private unowned let node: RelayNode

    init(of node: RelayNode) { self.node = node }

    func handler(for path: String) -> HTTPServer.Handler? {
        switch path {
        case "/api/v1/state", "/api/v1/state/text": answerState
        case "/api/v1/restart": answerRestart
        case _: nil
        }
    }

    private func answerState(
        _ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        guard request.method == "GET" else { return respond(.methodNotAllowed("GET")) }
        let isText = request.path == "/api/v1/state/text"
        let isColoured = request.query == "colours=true"
        Task {
            let body = await node.desk.put {
                isText ? Array(StatusText.text(of: $0, coloured: isColoured).utf8) : StatusJSON.bytes(of: $0)
            }
            var response = HTTPResponse(status: 200, body: body)
            response.fields.append(
                "content-type", isText ? "text/plain; charset=utf-8" : "application/json")
            respond(response)
        }
    }

    private func answerRestart(
        _ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        guard request.method == "POST" else { return respond(.methodNotAllowed("POST")) }
        Task {
            let fault = await node.restartInPlace()
            respond(
                fault.map { HTTPResponse(CallRefusal(.conflict, "start_refused", $0)) }
                    ?? HTTPResponse(status: 202, json: [:]))
        }
    }
}
