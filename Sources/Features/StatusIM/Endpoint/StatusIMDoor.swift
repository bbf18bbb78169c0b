import Doors
import Encodings
import HTTP1
import Reactor
import Relay

/// Status' messages over HTTP: `POST /status/v1/message`, one message each way.
///
/// 200 with the answer, 204 where Status' servers are silent, 400 for what is no message of a client.
@EventLoop
package final class StatusIMDoor: HTTPDoor {
    private let server: StatusIMServer

    package init(_ server: StatusIMServer) { self.server = server }

    package func handler(for path: String) -> HTTPServer.Handler? {
        guard path == "/status/v1/message" else { return nil }
        return { [self] in take($0, $1) }
    }

    private func take(_ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        guard request.method == "POST" else { return respond(.methodNotAllowed("POST")) }
        server.take(request.body, from: request.senderID) { reply in
            switch reply {
            case .message(let message):
                var response = HTTPResponse(status: 200, body: message)
                response.fields.append("content-type", "application/octet-stream")
                respond(response)
            case .silence: respond(HTTPResponse(status: 204, body: []))
            case .unreadable: respond(HTTPResponse(status: 400, text: "not a signed message of a client"))
            }
        }
    }
}
