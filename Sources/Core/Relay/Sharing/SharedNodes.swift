import Clocks
import Encodings

/// The figures that a node of a shared store gives the others of itself, with each of its commits.
package struct NodeFigures: Equatable, Sendable {
    /// Notifications that wait for the node to send them.
    package var waiting = 0
    /// Bytes of the notifications that wait.
    package var bytes = 0
    /// The time at which the oldest was accepted; `nil`: nothing waits, or it is not known.
    package var oldestAcceptedAt: UnixTime?

    package init(waiting: Int = 0, bytes: Int = 0, oldestAcceptedAt: UnixTime? = nil) {
        self.waiting = waiting
        self.bytes = bytes
        self.oldestAcceptedAt = oldestAcceptedAt
    }

    package static func += (left: inout NodeFigures, right: NodeFigures) { left = left + right }

    static func + (left: NodeFigures, right: NodeFigures) -> NodeFigures {
        NodeFigures(
            waiting: left.waiting + right.waiting, bytes: left.bytes + right.bytes,
            oldestAcceptedAt: [left.oldestAcceptedAt, right.oldestAcceptedAt].compactMap(\.self).min())
    }
}

/// A node of a shared store, as the store knows it.
package struct SharedNode: Equatable, Sendable {
    /// The node's number, given by the store: as long as the node is there no other has it.
    package var number: Int
    /// The name of the node's machine.
    package var name: String
    /// The version of the node's program.
    package var version: String
    package var isHere: Bool
    package var shards: Shards
    /// The figures that the node gave with its last commit.
    package var figures: NodeFigures
    /// The notifications that other nodes have put there for the node, and that it has not seen yet.
    package var unseen: NodeFigures
    /// The time since the node renewed its lease, by the store's clock.
    package var leaseAge: Duration
    /// The time by which the node's clock is ahead of the store's.
    package var clockAhead: Duration

    package init(
        number: Int, name: String = "", version: String = "", isHere: Bool = false, shards: Shards,
        figures: NodeFigures = NodeFigures(), unseen: NodeFigures = NodeFigures(), leaseAge: Duration = .zero,
        clockAhead: Duration = .zero
    ) {
        self.number = number
        self.name = name
        self.version = version
        self.isHere = isHere
        self.shards = shards
        self.figures = figures
        self.unseen = unseen
        self.leaseAge = leaseAge
        self.clockAhead = clockAhead
    }

    /// The notifications that wait for the node in the store.
    package var waiting: NodeFigures { figures + unseen }
    package var isAlive: Bool { leaseAge <= SharedNode.lease }

    /// The time for which the store lets nobody else have what a node has.
    package static let lease: Duration = .seconds(8)
}

/// All nodes that a shared store knows.
package struct SharedNodes: Equatable, Sendable {
    package var nodes: [SharedNode] = []
    /// The notifications for shards of no node, as far as nobody has seen them.
    package var unseenOfNobody = NodeFigures()

    package init(_ nodes: [SharedNode] = [], unseenOfNobody: NodeFigures = NodeFigures()) {
        self.nodes = nodes
        self.unseenOfNobody = unseenOfNobody
    }

    /// How far this node's clock is ahead of the time. Of this clock, the store's and those of other living nodes, two that
    /// agree are right: less than half a minute is no error. `nil`: no two agree, or there is no other node.
    package var clockError: Duration? {
        func agree(_ one: Duration, _ other: Duration) -> Bool {
            one - other > .seconds(-30) && one - other < .seconds(30)
        }
        guard let here = nodes.first(where: \.isHere)?.clockAhead else { return nil }
        let others = nodes.filter { !$0.isHere && $0.isAlive }.map(\.clockAhead)
        guard !others.isEmpty else { return nil }
        if agree(here, .zero) { return .zero }
        if others.contains(where: { agree($0, .zero) }) { return here }
        return others.contains { agree($0, here) } ? .zero : nil
    }

    package var withoutOwner: Int {
        Shards.total - nodes.lazy.filter(\.isAlive).reduce(0) { $0 + $1.shards.count }
    }
}

/// The shards that were taken over from nodes that did not give them up.
package struct TakeOvers: Equatable, Sendable {
    package private(set) var count = 0
    /// The number of the shards' notifications that went out twice, at most.
    package private(set) var mayRepeat = 0

    package init() {}

    package mutating func add(_ one: TakeOver?) {
        guard let one else { return }
        count += 1
        mayRepeat += one.mayRepeat
    }
}

/// The notifications that wait for the other nodes of a shared store, as far as this node knows, so that it gives no node
/// more than its limit.
///
/// About once a second the store says how much waits for each node. This node adds what it has put there since the question
/// before the last: anything earlier is in the store's answer, and counting something twice does no harm. All nodes do so at
/// the same time, so each takes only its part of the free room. So at most twice the limit waits for a node: as much as it
/// accepts itself, and as much from all others.
struct Elsewhere: Equatable, Sendable {
    private struct Room: Equatable, Sendable {
        /// The figures in the last answer of the store.
        var reported = NodeFigures()
        /// The figures of what this node has put there that the answer may not hold yet.
        var added = NodeFigures()
    }

    private var rooms = [Room()]
    /// The place of each shard's owner among ``rooms``, by shard.
    private var places = [UInt8](repeating: 0, count: Shards.total)
    /// The figures of what was added after the last question, by shard.
    private var sinceAsked = [NodeFigures](repeating: NodeFigures(), count: Shards.total)
    /// The figures of what was added between the last question and that before, by shard.
    private var before = [NodeFigures](repeating: NodeFigures(), count: Shards.total)
    /// The figures of what was added earlier, by shard.
    private var earlier = [NodeFigures](repeating: NodeFigures(), count: Shards.total)
    private var others = 1

    /// The most nodes with a room of their own; those beyond share a room.
    private static let mostRooms = 250

    mutating func ask() {
        for shard in 0..<Shards.total {
            earlier[shard] = earlier[shard] + before[shard]
            before[shard] = sinceAsked[shard]
            sinceAsked[shard] = NodeFigures()
        }
    }

    /// Takes the answer to the last question.
    mutating func take(_ latest: SharedNodes) {
        others = max(1, latest.nodes.count(where: \.isAlive) - 1)
        rooms = [Room(reported: latest.unseenOfNobody)]
        places = [UInt8](repeating: 0, count: Shards.total)
        for node in latest.nodes.prefix(Elsewhere.mostRooms) {
            rooms.append(Room(reported: node.waiting))
            for shard in node.shards.numbers { places[shard] = UInt8(rooms.count - 1) }
        }
        for shard in 0..<Shards.total {
            earlier[shard] = NodeFigures()
            rooms[Int(places[shard])].added =
                rooms[Int(places[shard])].added + before[shard] + sinceAsked[shard]
        }
    }

    func hasRoom(for token: Digest, size: Int, within limits: Admission.Limits) -> Bool {
        let room = rooms[Int(places[Shards.number(of: token)])]
        return room.reported.waiting + room.added.waiting * others < limits.waiting
            && room.reported.bytes + room.added.bytes * others + size <= limits.waitingBytes
    }

    mutating func add(_ token: Digest, size: Int) {
        let shard = Shards.number(of: token)
        let one = NodeFigures(waiting: 1, bytes: size)
        sinceAsked[shard] = sinceAsked[shard] + one
        rooms[Int(places[shard])].added = rooms[Int(places[shard])].added + one
    }
}
