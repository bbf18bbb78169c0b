import Clocks
import Reactor

/// The connections that a door has open, and its places for them.
///
/// A new connection, when all places are taken, takes one that is in use: of the circuit, or the address,
/// with the most connections the one that was silent for longest goes. Who waits for an answer is not silent, but has half
/// of the places at most: strangers who wait would keep all newcomers out.
@EventLoop
package final class Places {
    private let limit: Int
    let room: BufferRoom
    /// Connections closed to make room for others, since the start.
    private(set) var evicted = 0
    private var open: [ObjectIdentifier: DoorConnection] = [:]
    private var whenDone: CheckedContinuation<Void, Never>?

    package init(_ limit: Int, room: BufferRoom) {
        self.limit = limit
        self.room = room
    }

    package var count: Int { open.count }

    /// Counts the open connections of circuits or addresses that have `connections` or more.
    func count(heldBy connections: Int) -> Int {
        open.values.count { ($0.circuit?.connections ?? 0) >= connections }
    }

    func enter(_ connection: DoorConnection) {
        if open.count >= limit { makeRoom() }
        open[ObjectIdentifier(connection)] = connection
    }

    func leave(_ connection: DoorConnection) {
        room.forget(connection)
        open[ObjectIdentifier(connection)] = nil
        if open.isEmpty { done() }
    }

    /// The time in which tor says by which circuit a connection comes.
    private static let timeToArrive: Duration = .seconds(1)

    private func makeRoom() {
        // Those who may be here have an eighth of the places to themselves.
        let known = open.values.count(where: \.isKnown)
        let waiting = open.values.count(where: \.isBusy)
        // Those that do not say by which circuit they come are as one. Tor says it at once: who has just come has not been
        // read.
        let justCome = EventLoop.now - Places.timeToArrive
        let arriving = open.values.count { $0.circuit == nil && $0.silentSince < justCome }
        let connections = open.values.filter { !$0.isKnown || known > limit / 8 }
        let victims = Places.victims(
            among: connections.map { connection in
                let since = connection.silentSince
                return Candidate(
                    heldWith: connection.circuit?.connections ?? (since < justCome ? arriving : 1),
                    silentSince: connection.isBusy && waiting <= limit / 2 ? .max : since)
            }, count: max(1, limit / 1024))
        for index in victims { connections[index].end(.evicted) }
        evicted += victims.count
    }

    /// A connection that may have to go for a new one.
    struct Candidate {
        /// The number of connections that its circuit or address has.
        let heldWith: Int
        /// The time since which the connection has said nothing that counts.
        let silentSince: MonotonicTime

        func goes(before other: Candidate) -> Bool {
            heldWith != other.heldWith ? heldWith > other.heldWith : silentSince < other.silentSince
        }
    }

    /// Returns the connections that go: several at a time where there are thousands, so that not every
    /// newcomer looks at all.
    nonisolated static func victims(among candidates: [Candidate], count: Int) -> [Int] {
        var victims: [Int] = []
        for index in candidates.indices {
            if victims.count == count {
                guard candidates[index].goes(before: candidates[victims[count - 1]]) else { continue }
                victims.removeLast()
            }
            let place = victims.firstIndex { candidates[index].goes(before: candidates[$0]) } ?? victims.count
            victims.insert(index, at: place)
        }
        return victims
    }

    /// Shuts all connections down. Returns when they have ended, or when the patience is over: what they took
    /// is written down by then, and the stop has more to do.
    ///
    /// At a restart in place a client that dialled just before has time for its request: nobody is to notice.
    package func shutDown(within patience: Duration = .seconds(5)) async {
        let grace = Handover.shared.isHandingOn ? Places.grace : .zero
        for connection in open.values { connection.shutDown(grace: grace) }
        guard !open.isEmpty else { return }
        let timer = Timer { [self] in done() }
        timer.start(after: patience)
        let endOfGrace = Timer { [self] in for connection in open.values { connection.endGrace() } }
        endOfGrace.start(after: grace)
        await withCheckedContinuation { whenDone = $0 }
        timer.stop()
        endOfGrace.stop()
    }

    /// A circuit of Tor's takes about a second to bring the first bytes of a stream that it has opened.
    private static let grace: Duration = .seconds(2)

    private func done() {
        whenDone?.resume()
        whenDone = nil
    }
}
