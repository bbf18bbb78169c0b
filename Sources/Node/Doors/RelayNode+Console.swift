import Dispatching
import Doors
import HTTP1
import Overview
import Reactor

/// What the owner sees and does, in a browser and by commands.
extension RelayNode {
    /// The console, if the settings have a place for it.
    func makeConsole() throws(NodeError) -> NodeConsole? {
        guard !settings.console.listen.isEmpty else { return nil }
        let console = NodeConsole(state: state, log: log)
        try console.open(settings, calls: calls) { [unowned self] in
            Array(StatusText.text(of: report, coloured: false).utf8)
        }
        return console
    }

    var stateAnswer: HTTPResponse {
        var response = HTTPResponse(status: 200, body: StatusJSON.bytes(of: report))
        response.fields.append("content-type", "application/json")
        return response
    }
}
