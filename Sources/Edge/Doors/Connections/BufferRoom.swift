import Reactor

/// How much the buffers of all connections may hold together: frames and requests that are not whole, and answers that
/// nobody takes. When it is too much, the largest holder is closed first.
@EventLoop
package final class BufferRoom {
    private let limit: Int
    package private(set) var used = 0
    /// Connections that held too much.
    package private(set) var closed = 0
    private var holders: [ObjectIdentifier: DoorConnection] = [:]

    /// The step in bytes by which buffers are counted. Less is not counted: nearly all connections hold
    /// nothing nearly always.
    private static let step = 4096

    /// Makes the room.
    ///
    /// - Parameter limit: The bytes that all buffers may hold together.
    package init(limit: Int = 256 << 20) { self.limit = limit }

    @inline(__always)
    func count(_ connection: DoorConnection, _ bytes: Int) {
        let counted = bytes & ~(BufferRoom.step - 1)
        if counted != connection.countedBytes { set(counted, of: connection) }
    }

    func forget(_ connection: DoorConnection) {
        if connection.countedBytes > 0 { set(0, of: connection) }
    }

    private func set(_ bytes: Int, of connection: DoorConnection) {
        used += bytes - connection.countedBytes
        connection.countedBytes = bytes
        holders[ObjectIdentifier(connection)] = bytes > 0 ? connection : nil
        while used > limit, let greediest = holders.values.max(by: { $0.countedBytes < $1.countedBytes }) {
            closed += 1
            greediest.end(.greedy)
        }
    }
}
