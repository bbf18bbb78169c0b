import Dispatching
import Doors
import HTTP1
import Overview
import Reactor
import Tor

/// The owner's interface, in a browser and by commands.
extension RelayNode {
    /// The console, if the settings have a place for it.
    func makeConsole() throws(NodeError) -> NodeConsole? {
        guard settings.console.isOn else { return nil }
        let console = NodeConsole(state: state, log: log)
        try console.open(
            at: NodeConsole.Site(
                calls: calls,
                stateText: { [unowned self] in Array(StatusText.text(of: report, coloured: false).utf8) },
                certificate: listeners?.certificate, sockets: DoorSockets(settings),
                onionKey: OnionKeyFile(path: state.consoleOnionKey),
                onionClients: Invitations(path: state.consoleClients), torDirectory: state.torDirectory),
            settings)
        let events = console.events
        events.onWatched = { [unowned self, unowned events] isWatched in
            guard isWatched else {
                dispatcher?.onActivity = nil
                return
            }
            dispatcher?.onActivity = { [weak events] in events?.changed(.state) }
        }
        return console
    }

    /// When what was asked for is answered.
    func restartSoon() { Task { onRestart?() } }

    var stateAnswer: HTTPResponse {
        var response = HTTPResponse(status: 200, body: StatusJSON.bytes(of: report))
        response.fields.append("content-type", "application/json")
        return response
    }
}
