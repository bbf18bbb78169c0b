import Clocks

/// The stage of a lane's life: whether the lane has a gateway, has had one, and may have one.
///
/// A fault of the last gateway is remembered until the next gateway is looked at: if that one has none, what blocked the
/// lane is over.
package enum LaneStage: Sendable {
    /// The lane has had no gateway yet, and may have one.
    case bare
    /// The lane has had no gateway yet, and waits until another lane of its app has given its gateway away.
    case newcomer
    /// The lane has a gateway.
    ///
    /// - hasFault: Whether the gateway had a fault when it was looked at last.
    case open(hasFault: Bool)
    /// The lane has lost its gateway, and may have another one.
    case closed(hadFault: Bool)
    /// The lane has given its gateway to another lane of its app, and waits until it gets one again.
    case parked(hadFault: Bool)
    /// The lane's place is free for another lane.
    case gone

    /// Whether the lane has a gateway. Without one nothing is sent, and what waits is kept.
    package var hasGateway: Bool {
        if case .open = self { true } else { false }
    }

    /// Whether the lane waits for a gateway that other lanes have: see `Pipeline+Origins.swift`.
    package var isParked: Bool {
        switch self {
        case .newcomer, .parked: true
        case .bare, .open, .closed, .gone: false
        }
    }

    /// Whether the lane waits for its first gateway.
    var isNewcomer: Bool {
        if case .newcomer = self { true } else { false }
    }

    /// Whether the lane's place is free for another lane.
    package var isGone: Bool {
        if case .gone = self { true } else { false }
    }

    /// Whether the lane's gateway, or the last that it had, had a fault when it was looked at last.
    var hasFault: Bool {
        switch self {
        case .open(let hasFault): hasFault
        case .closed(let hadFault), .parked(let hadFault): hadFault
        case .bare, .newcomer, .gone: false
        }
    }
}

extension Lane {
    /// Gives the lane a gateway: its first, or another one.
    mutating func open() { stage = .open(hasFault: stage.hasFault) }

    /// Takes the lane's gateway away, if it has one.
    mutating func lose() {
        if case .open(let hasFault) = stage { stage = .closed(hadFault: hasFault) }
    }

    /// Takes the lane's gateway away for another lane, or lets a new lane wait for its first one.
    mutating func park() {
        switch stage {
        case .bare: stage = .newcomer
        case .open(let hadFault), .closed(let hadFault): stage = .parked(hadFault: hadFault)
        case .newcomer, .parked, .gone: break
        }
    }

    /// Ends the wait for a gateway: the lane may have one.
    mutating func unpark(at time: MonotonicTime) {
        switch stage {
        case .newcomer: stage = .bare
        case .parked(let hadFault): stage = .closed(hadFault: hadFault)
        case .bare, .open, .closed, .gone: break
        }
        standing.reopened(at: time)
    }

    /// Leaves the lane's place to another lane.
    mutating func vacate() { stage = .gone }

    /// Notes whether the lane's gateway has a fault. One that the lane has just lost may be looked at once more.
    mutating func note(hasFault: Bool) {
        switch stage {
        case .open: stage = .open(hasFault: hasFault)
        case .closed: stage = .closed(hadFault: hasFault)
        case .parked: stage = .parked(hadFault: hasFault)
        case .bare, .newcomer, .gone: break
        }
    }
}
