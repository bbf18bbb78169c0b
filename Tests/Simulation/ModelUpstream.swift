import Clocks
import Vectors

@testable import Relay

/// Another relay behind circuits that take seconds, in moods that change.
final class ModelUpstream {
    enum Mood: CaseIterable {
        case well
        /// Nobody listens: a dial ends after its circuit.
        case refusing
        /// A dial has no end.
        case hanging
        /// Connections stand, and nothing is answered.
        case mute
        /// A connection breaks at its first request.
        case dying
        /// The relay says that it takes nothing.
        case busy
        /// A proxy says that it has lost the relay.
        case lost
        /// A proxy in the relay's place answers with a page.
        case replaced

        /// Whether connections stand.
        var isThere: Bool { self != .refusing && self != .hanging }
    }

    enum Answer { case taken, later, lost, page }

    private unowned let world: RelayWorld
    private let index: Int
    private(set) var mood = Mood.well
    /// The time since when the relay is well; `nil`: it is not.
    private(set) var wellSince: MonotonicTime?
    private(set) var book: [NotificationID: Int] = [:]
    private var connections: [ModelConnection] = []

    init(_ index: Int, in world: RelayWorld) {
        self.index = index
        self.world = world
        wellSince = world.time.now
    }

    func become(_ mood: Mood) {
        guard mood != self.mood else { return }
        self.mood = mood
        wellSince = mood == .well ? world.time.now : nil
        guard mood == .refusing else { return }
        for connection in connections { connection.isBroken() }
    }

    static let slowestCircuit: Duration = .seconds(16)

    /// The time until a dial has an end.
    var circuit: Duration {
        .milliseconds(world.draw(4) == 0 ? 500 + world.draw(2000) : 8000 + world.draw(8000))
    }

    func opened(_ connection: ModelConnection) { connections.append(connection) }
    func ended(_ connection: ModelConnection) { connections.removeAll { $0 === connection } }

    /// Takes a request that has come over a connection.
    func take(_ notification: Notification, over connection: ModelConnection) {
        let takes = world.draw(2) == 0
        switch mood {
        case .well:
            if world.isSpared(notification, at: index) { return connection.answered(.later) }
            note(notification.id)
            connection.answered(.taken)
        case .busy: connection.answered(.later)
        case .replaced: connection.answered(.page)
        case .lost:
            if takes { note(notification.id) }
            connection.answered(.lost)
        case .mute, .hanging: if takes { note(notification.id) }
        case .dying, .refusing:
            if takes { note(notification.id) }
            connection.isBroken()
        }
    }

    private func note(_ id: NotificationID) {
        book[id, default: 0] += 1
        world.noteTaken(id, at: index)
    }
}
