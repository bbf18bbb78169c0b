import Clocks

/// The figures of tor and of the onion service: for `/healthz`, metrics and a status page.
///
/// Counts run from the start of the program and never go back. Times are milliseconds since 1970; `nil`: never, or not
/// known. Nothing here names a peer, a circuit's path or a relay.
package struct TorFigures: Equatable, Sendable {
    /// Whether there is a control connection.
    package var isConnected = false
    /// The version of the tor that serves us, or did last.
    package var version: String?
    package var bootstrap: Bootstrap?
    /// The time at which tor last answered, by the clock that stands while the machine sleeps.
    package var lastAnswer: MonotonicTime?
    /// The time at which tor last had a circuit and the service an introduction point, as far as is known: it said so, a
    /// directory took the descriptor, or a call came through. By the same clock.
    package var lastSign: MonotonicTime?
    /// Whether the network is live, as tor sees it; it may say `true` long after the network is gone.
    package var isNetworkLive: Bool?
    /// Whether tor has a circuit that it can use.
    package var hasCircuit: Bool?
    package var clockSkew: ClockSkew?
    /// The start of the consensus that tor has, the network's view of itself: the time is no earlier. Seconds
    /// since 1970.
    package var consensusFrom: Int64?

    // Of circuits that is known which tor answered last.
    /// Introduction points of the service that stand now; usual are 3 for each of the two descriptors.
    package var introductionPoints = 0
    /// Circuits on which clients talk to the service now.
    package var clientCircuits = 0
    /// All circuits of this tor.
    package var circuits = 0
    /// The time at which a client other than the node itself last connected.
    package var lastClient: UnixTime?
    /// The time of ``lastClient``, by the clock that nobody sets.
    var lastClientInstant: MonotonicTime?

    /// Tors of our own that were started.
    package var torStarts = 0
    /// The number of times that the service was given to tor.
    package var publications = 0
    /// The number of times that the service was lost, by ``OnionLoss/word``.
    package var losses: [String: Int] = [:]
    /// Sleeps of the whole machine that were noticed.
    package var suspensions = 0

    package var uploadsBegun = 0
    package var uploads = 0
    /// The failed uploads by tor's reason, such as `UPLOAD_REJECTED`. Tor tells none for a directory that it
    /// can't reach.
    package var uploadFailures: [String: Int] = [:]
    package var lastUpload: UnixTime?

    package var selfDial = SelfDialFigures()

    /// Whether no client has come since the last calls to the own address that failed, wherever the wall clock was set meanwhile.
    var isLonely: Bool { (lastClientInstant ?? .longAgo) < (selfDial.failingSince ?? .longAgo) }

    package init() {}

    /// Takes over what an event tells of tor as a whole or of the service `serviceID`.
    ///
    /// - Parameter clockOffset: see ``ClockSkew/offset``.
    mutating func take(_ event: ControlEvent, of serviceID: String?, at now: UnixTime, clockOffset: Int64) {
        switch event {
        case .bootstrap(let bootstrap): self.bootstrap = bootstrap
        case .networkLiveness(let isUp): isNetworkLive = isUp
        case .circuitEstablished: hasCircuit = true
        case .circuitNotEstablished: hasCircuit = false
        case .clockSkew(let seconds): clockSkew = ClockSkew(reported: seconds, offset: clockOffset)
        case .descriptor(let event) where event.serviceID == serviceID: take(event.action, at: now)
        case .descriptor, .reloaded, .log, .unused: break
        }
    }

    mutating func take(_ circuits: CircuitBook, of serviceID: String?) {
        introductionPoints = circuits.introductionPoints(of: serviceID)
        clientCircuits = circuits.clients(of: serviceID)
        self.circuits = circuits.circuits
    }

    private mutating func take(_ action: DescriptorEvent.Action, at now: UnixTime) {
        switch action {
        case .upload: uploadsBegun += 1
        case .uploaded:
            uploads += 1
            lastUpload = now
        case .failed(let reason):
            // Tor's reasons are a handful of words; another program's could be any.
            let known = uploadFailures[reason] != nil || uploadFailures.count < 16
            uploadFailures[known ? reason : "other", default: 0] += 1
        case .created, .requested, .received, .unused: break
        }
    }
}

/// The figures of the calls that the node makes to its own onion address.
package struct SelfDialFigures: Equatable, Sendable {
    package var dials = 0
    package var failures = 0
    /// The failures since the last call that came through.
    package var failuresInARow = 0
    /// The time at which the first of the last calls that failed was made: of so many as are enough for an alarm. `nil`: the last
    /// call came through.
    var failingSince: MonotonicTime?
    package var lastSuccess: UnixTime?
    /// The time of ``lastSuccess``, by the clock that stands while the machine sleeps.
    package var lastSuccessInstant: MonotonicTime?
    /// Whether tor takes no SOCKS connections, so that nobody calls.
    package var hasNoWay = false
    /// The time from the dial to the door's answer, of the last call that came through.
    package var lastDuration: Duration?
    /// The reason why the last call failed; `nil` if it came through.
    package var lastFailure: String?
    /// Whether another node answered the last call.
    package var isAnsweredByAnother = false
    /// The figures of the address before ours; `nil`: there is none, or it has not been called yet.
    package var front: FrontFigures?

    package init() {}
}

/// The figures of the calls to the address that clients use, where it is not the node's own.
package struct FrontFigures: Equatable, Sendable {
    /// The failures since the last call that came through.
    package var failuresInARow = 0
    /// Whether the ``failuresInARow`` are enough to be an alarm.
    package var isFailing = false
    package var lastSuccess: UnixTime?
    /// The time of ``lastSuccess``, by the clock that stands while the machine sleeps.
    package var lastSuccessInstant: MonotonicTime?
    /// The reason why the last call failed; `nil` if it came through.
    package var lastFailure: String?

    package init() {}
}

/// The difference of this machine's clock, as tor said it. Tor says it once, when it meets a relay that has another time,
/// and never takes it back; so what became of the clock since then is counted in.
package struct ClockSkew: Equatable, Sendable {
    /// Seconds by which the clock was ahead (negative: behind).
    package var reported: Int
    /// Milliseconds of the wall clock less those of a clock that nobody sets, when tor said so.
    package var offset: Int64

    package init(reported: Int, offset: Int64) {
        self.reported = reported
        self.offset = offset
    }

    /// Returns the seconds by which the clock is ahead now (negative: behind).
    package func seconds(at offset: Int64) -> Int {
        // Where either is beyond all sense, so is the sum.
        let moved = offset.subtractingReportingOverflow(self.offset)
        let sum = reported.addingReportingOverflow(Int(moved.partialValue / 1000))
        return moved.overflow || sum.overflow ? reported : sum.partialValue
    }
}
