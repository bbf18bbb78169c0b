import Calls
import Doors
import Node
import Overview
import Reactor
import Tor

extension NodeConsole {
    /// Opens the console's places for a node, and tells pages that are open what goes on there.
    func open(for node: RelayNode, _ calls: NodeCalls, _ state: borrowing StateDirectory) throws(NodeError) {
        let dispatcher = node.store.dispatcher
        login.use({ [unowned dispatcher] in dispatcher.keptTime }) { [unowned dispatcher] in
            dispatcher.isKeptTimeSure
        }
        try open(
            at: Site(
                calls: calls,
                stateText: { await calls.desk.put { Array(StatusText.text(of: $0, coloured: false).utf8) } },
                certificate: node.doors.listeners.certificate, sockets: DoorSockets(node.settings),
                onionKey: OnionKeyFile(path: state.consoleOnionKey),
                onionClients: Invitations(path: state.consoleClients), torDirectory: state.torDirectory),
            node.settings)
        let settingsFile = node.host.settingsFile
        let look: @EventLoop () -> Void = { [weak self] in Task { await self?.look(at: settingsFile) } }
        events.onBeat = look
        events.onWatched = { [unowned events, unowned dispatcher] isWatched in
            // What is changed from now on is noticed.
            if isWatched { look() }
            guard isWatched else {
                dispatcher.onActivity = nil
                return
            }
            dispatcher.onActivity = { [weak events] in events?.changed(.state) }
        }
    }
}
