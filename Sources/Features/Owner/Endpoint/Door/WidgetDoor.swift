import Doors
import Encodings
import HTTP1
import Reactor

/// The door at which a platform's dashboard reads the figures of a node. No token is needed: the listener serves only this,
/// and accepts only the platform's address.
///
/// Umbrel's `umbreld` asks from the machine, past the app's proxy, for an address that is the same in all installations
/// (`getWidgetData` in `packages/umbreld/source/modules/apps/app.ts`).
@EventLoop
package struct WidgetDoor {
    private let rules: ConsoleRules
    private let calls: any HTTPDoor

    package nonisolated static let path = "/api/v1/widget"

    /// Makes the door.
    ///
    /// - Parameters:
    ///   - place: The listener's endpoint: no page of a browser asks here under a name.
    ///   - calls: The door of all paths below `/api/v1`. Only the figures are asked of it.
    package init(at place: Endpoint, calls: any HTTPDoor) {
        rules = ConsoleRules(origins: ["http://\(place)"])
        self.calls = calls
    }

    /// Whether a request is for the figures, in one of their forms.
    nonisolated static func isForFigures(_ request: HTTPRequest) -> Bool {
        request.method == "GET" && (request.path == path || request.path == path + "/umbrel")
    }

    package func answer(_ request: HTTPRequest, respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        let respond: @EventLoop (HTTPResponse) -> Void = { respond($0.shielded().notStored) }
        guard rules.isForUs(request), rules.mayRead(request) else {
            return respond(HTTPResponse(status: 403, fault: "foreign", "ask by this listener's address"))
        }
        guard Self.isForFigures(request) else {
            return respond(
                HTTPResponse(status: 404, fault: "unknown_call", "here are the figures of widgets only"))
        }
        var request = request
        request.query = nil
        calls.answer(request, respond: respond)
    }
}
