import Calls
import Doors
import HTTP1
import Node
import Overview
import Reactor
import Tor

/// The owner's part beside a node that runs: the calls, and the console that makes them for browsers.
@EventLoop
final class OwnerCompanion: NodeCompanion {
    private unowned let node: RelayNode
    let calls: NodeCalls
    /// The console; `nil`: the settings have no place for it.
    let console: NodeConsole?

    init(of node: RelayNode, console: NodeConsole?) {
        (self.node, self.console) = (node, console)
        calls = NodeCalls(of: node)
    }

    var statusDoor: any HTTPDoor { calls }
    var neighbour: NeighbourService? { console?.onion?.service }

    func bodyLimit(_ request: HTTPRequest) -> Int? { NodeCalls.bodyLimit(request) }

    func open(_ state: borrowing StateDirectory) throws(NodeError) {
        try console?.open(for: node, calls, state)
    }

    func willPublish(_ state: borrowing StateDirectory) {
        console?.onion?.watch(node.presence, Invitations(path: state.consoleClients), log: node.log)
    }

    func changed(_ parts: ChangedParts) { console?.events.changed(parts) }

    func lookNow() async { await console?.onion?.lookNow() }

    func addFigures(to report: inout Report) {
        report.settings.note(.consoleClients, refused: console?.onion?.fault)
    }

    func tellOwner(_ write: @escaping @EventLoop (_ line: String) -> Void) {
        console?.tellLink { write("console: \($0)\n") }
    }

    func close() async { await console?.close() }
}
