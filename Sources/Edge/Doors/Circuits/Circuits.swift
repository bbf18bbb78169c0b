import Clocks
import Reactor
import Relay

/// Whose a connection is, as far as its share goes.
enum Origin: Hashable {
    case circuit(UInt32)
    /// A connection without an origin of its own, one of many.
    case anybody
    /// The address, as ``Reactor/NetworkAddress/block``.
    case address(NetworkAddress)
}

/// The share of each circuit, and the way in which connections tell theirs.
package struct CircuitsSettings: Equatable, Sendable {
    package var limits = CircuitAccount.Limits()
    /// Whether every connection begins with a ``Wire/ProxyLine``; one that doesn't is closed.
    package var knowsCircuits = false
    /// Whether all connections have one account, ``partsOfAll`` times as large, since tor says nothing of circuits: so
    /// many strangers together, and no more.
    package var areShared = false
    /// The share of all HTTP requests by strangers, however many circuits they come by; `nil`: no limit.
    package var ofStrangers: Rate?
    /// The share of the first requests of strangers' circuits, besides ``ofStrangers``; `nil`: there is none.
    package var ofFirsts: Rate?
    /// Whether connections come from network addresses.
    package var areAddresses = false

    package init() {}

    /// The share of all connections without a known circuit, in shares of one circuit.
    package static let partsOfAll = 16

    fileprivate var ofEach: CircuitAccount.Limits {
        guard areShared, !knowsCircuits else { return limits }
        return CircuitAccount.Limits(
            connections: 0, framesPerSecond: limits.framesPerSecond * CircuitsSettings.partsOfAll,
            bytesPerSecond: limits.bytesPerSecond * CircuitsSettings.partsOfAll, strikes: 0)
    }

    /// Returns the settings for an endpoint for the world.
    ///
    /// - Parameter connections: The most connections of one address at a time; 0: no limit.
    package static func addresses(connections: Int) -> CircuitsSettings {
        var settings = CircuitsSettings.unlimited
        settings.areAddresses = true
        settings.limits.connections = connections
        return settings
    }

    package static var unlimited: CircuitsSettings {
        var settings = CircuitsSettings()
        settings.limits = CircuitAccount.Limits(
            connections: 0, framesPerSecond: 0, bytesPerSecond: 0, strikes: 0)
        return settings
    }
}

/// The circuits by which connections come to the doors, and what each has used up of its share.
///
/// All connections of one circuit share what ``Relay/CircuitAccount`` allows, if tor tells the circuit of
/// each connection (``CircuitsSettings/knowsCircuits``). Where it doesn't, all have one account together
/// (``CircuitsSettings/areShared``), or each connection counts as a circuit of its own. At endpoints for the world an
/// address takes the place of a circuit (``CircuitsSettings/areAddresses``).
@EventLoop
package final class Circuits {
    package struct Counters: Equatable, Sendable {
        /// Circuits that tor has named.
        package var circuits = 0
        /// Connections that were one too many for their circuit, or came by one that was struck out.
        package var refusedConnections = 0
        /// Times that a circuit was read no further for a while.
        package var slowed = 0
        /// Notifications that their gateways refused, or whose devices are dead.
        package var refusedNotifications = 0
        /// Rules broken on whatever connection.
        package var strikes = 0
        /// Circuits that tor was asked to close.
        package var closed = 0
        /// Connections that did not begin as tor begins them.
        package var withoutLine = 0

        package init() {}
    }

    package internal(set) var counters = Counters()
    /// Called when a circuit has misbehaved: tor is to close it, and with it all its streams.
    package var onMisbehaviour: (@EventLoop (_ circuit: UInt32) -> Void)?
    /// Called with each connection that is let in.
    package var onArrival: (@EventLoop () -> Void)?

    package let settings: CircuitsSettings
    /// The share that strangers have together; `nil`: there is none.
    let strangers: StrangersShare?
    /// The limits of each account.
    fileprivate let limits: CircuitAccount.SharedLimits
    private var circuits: [Origin: Circuit] = [:]
    /// All circuits by sender: those in ``circuits``, and one for each connection whose origin is not known.
    private var senders: [SenderID: Circuit] = [:]
    private var sweepAbove = Circuits.leastSweep
    private static let leastSweep = 256

    package init(settings: CircuitsSettings = CircuitsSettings()) {
        self.settings = settings
        limits = CircuitAccount.SharedLimits(settings.ofEach)
        strangers = settings.ofStrangers.map { StrangersShare($0, firsts: settings.ofFirsts) }
    }

    /// Circuits in the table: those with connections, and those whose misdeeds are not forgotten yet.
    package var knownCount: Int { circuits.count }

    /// Returns the circuit that a connection came by; `nil` when it may not come in.
    ///
    /// - Parameter origin: The connection's origin; `nil` where it is not known.
    func join(_ origin: Origin?) -> Circuit? {
        let now = EventLoop.now
        let circuit = circuit(origin, at: now)
        guard circuit.account.open(at: now) else {
            counters.refusedConnections += 1
            circuit.strike()
            return nil
        }
        onArrival?()
        return circuit
    }

    func circuit(_ origin: Origin?, at now: MonotonicTime) -> Circuit {
        guard let origin = origin ?? (settings.areShared ? .anybody : nil) else {
            return add(Circuit(nil, of: self))
        }
        if let circuit = circuits[origin] { return circuit }
        if circuits.count >= sweepAbove {
            // Whenever it has doubled: within twice what is needed, and no connection pays for it each time.
            circuits = circuits.filter { origin, circuit in
                guard circuit.isClean(at: now) else { return true }
                senders[circuit.senderID] = nil
                return false
            }
            sweepAbove = max(Circuits.leastSweep, 2 * circuits.count)
        }
        let circuit = add(Circuit(origin, of: self))
        circuits[origin] = circuit
        if origin != .anybody { counters.circuits += 1 }
        return circuit
    }

    private func add(_ circuit: Circuit) -> Circuit {
        senders[circuit.senderID] = circuit
        return circuit
    }

    fileprivate func left(_ circuit: Circuit) {
        if circuit.origin == nil { senders[circuit.senderID] = nil }
    }

    /// Counts a notification of this sender's that a gateway has refused, or whose device it called dead.
    package func refused(_ sender: SenderID) {
        guard let circuit = senders[sender] else { return }
        counters.refusedNotifications += 1
        circuit.spend(frames: CircuitAccount.framesPerRefusal, bytes: 0)
    }
}

/// One circuit, or one connection where tor does not name circuits.
@EventLoop
final class Circuit {
    /// The origin of the connections; `nil` where it is not known.
    let origin: Origin?
    /// The number that tells the circuit from all others while this process runs.
    let number: Int
    /// TLS handshakes of an address.
    var handshakes = Rate.Use()
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) fileprivate(set) var account: CircuitAccount
    private let circuits: Circuits
    /// Whether the circuit is read no further until the timer ends.
    private(set) var isSlowed = false
    /// Whether somebody has shown by it that he may be here: its next connections are his, too.
    private(set) var isKnown = false
    private var hasAsked = false
    private var timer: Timer?
    private var slowed: [ObjectIdentifier: DoorConnection] = [:]

    fileprivate init(_ origin: Origin?, of circuits: Circuits) {
        self.origin = origin
        self.circuits = circuits
        if let origin {
            number = origin.hashValue
        } else {
            Circuit.unknown += 1
            number = Circuit.unknown
        }
        account = CircuitAccount(limits: circuits.limits)
    }

    /// Connections without a known circuit.
    private static var unknown = 0

    fileprivate var senderID: SenderID { SenderID(number) }

    /// The number of the sender of a submission; 0: nobody's. Where all connections are one, no submission
    /// has a sender: the share of one sender would be that of all together.
    var senderNumber: Int { origin == .anybody ? 0 : number }
    /// The sender of the circuit's submissions, as the core has it.
    var sender: SenderID? { origin == .anybody ? nil : senderID }

    /// Connections to all doors.
    var connections: Int { account.connections }

    fileprivate func isClean(at now: MonotonicTime) -> Bool {
        account.isClean(at: now) && handshakes.isOver(at: now)
    }

    /// Counts what was read. Afterwards the member asks ``askToRead(_:)``.
    func spend(frames: Int, bytes: Int) {
        let pause = account.spend(frames: frames, bytes: bytes, at: EventLoop.now)
        guard pause > .zero, !isSlowed else { return }
        isSlowed = true
        circuits.counters.slowed += 1
        let timer = timer ?? Timer { [unowned self] in readOn() }
        self.timer = timer
        timer.start(after: pause)
    }

    /// Asks for a member to be read. One that has to wait is noted, and hears ``DoorConnection/circuitMayBeRead()`` when
    /// it may be.
    ///
    /// - Returns: Whether the member may be read now.
    func askToRead(_ member: DoorConnection) -> Bool {
        if isSlowed { slowed[ObjectIdentifier(member)] = member }
        return !isSlowed
    }

    private func readOn() {
        // More may have been counted meanwhile.
        let pause = account.spend(frames: 0, bytes: 0, at: EventLoop.now)
        if pause > .zero, let timer { return timer.start(after: pause) }
        isSlowed = false
        let members = slowed
        slowed = [:]
        for member in members.values { member.circuitMayBeRead() }
    }

    /// Counts a rule that one of the connections broke.
    func strike() {
        circuits.counters.strikes += 1
        guard account.strike(at: EventLoop.now), case .circuit(let id) = origin else {
            return
        }
        circuits.counters.closed += 1
        circuits.onMisbehaviour?(id)
    }

    /// Counts a request of the circuit that was refused.
    func refuse() {
        if account.refuse() { strike() }
    }

    /// Forgets the circuit's refusals, because one of its requests came from somebody with a right to be here.
    func wasKnown() {
        account.forgetRefusals()
        // One circuit of tor's is one client's; an address may be many people's.
        if case .circuit? = origin { isKnown = true }
    }

    /// Returns whether a whole request is the circuit's first, and counts it.
    func takesFirst() -> Bool {
        defer { hasAsked = true }
        return !hasAsked
    }

    /// Whether the circuit is heard no more for a while.
    var isStruckOut: Bool { account.isStruckOut(at: EventLoop.now) }

    func leave(_ member: DoorConnection) {
        account.close()
        slowed[ObjectIdentifier(member)] = nil
        circuits.left(self)
    }
}
