import Reactor

/// A client's connection, as its door sees it.
@EventLoop
protocol DoorConnection: AnyObject {
    /// Takes nothing more, and ends when what it took is answered.
    func shutDown()
}

/// The open connections of one door.
@EventLoop
final class OpenConnections<Connection: DoorConnection> {
    private var open: [ObjectIdentifier: Connection] = [:]
    private var whenDone: CheckedContinuation<Void, Never>?

    nonisolated init() {}

    var count: Int { open.count }

    func insert(_ connection: Connection) { open[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: Connection) {
        open[ObjectIdentifier(connection)] = nil
        if open.isEmpty { done() }
    }

    /// Shuts all of them down. Returns when they have ended, or when the patience is over: what they took is written
    /// down by then, and whoever stops has more to do.
    func shutDown(within patience: Duration = .seconds(5)) async {
        for connection in open.values { connection.shutDown() }
        guard !open.isEmpty else { return }
        let timer = Timer { [self] in done() }
        timer.start(after: patience)
        await withCheckedContinuation { whenDone = $0 }
        timer.stop()
    }

    private func done() {
        whenDone?.resume()
        whenDone = nil
    }
}
