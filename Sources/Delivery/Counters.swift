import Relay

/// What became of everything since the start. Counts only: nothing here is about one device.
package struct Counters: Equatable, Sendable {
    package var submitted = 0
    package var stored = 0
    package var duplicates = 0
    package var busy = 0
    /// Refusals before storing, by reason word.
    package var refusedByReason: [String: Int] = [:]
    package var delivered = 0
    package var tokensDead = 0
    package var expired = 0
    /// Refusals by a gateway, by its word.
    package var refusedByGateway: [String: Int] = [:]
    package var attempts = 0
    /// Attempts put off, by reason.
    package var deferred: [String: Int] = [:]
    package var commits = 0
    package var failedCommits = 0
    /// Monotonic nanoseconds of the last delivery; `nil`: none yet.
    package var lastDelivery: Int64?

    mutating func count(_ receipt: Receipt) {
        switch receipt {
        case .stored: stored += 1
        case .held: break  // Counted when it was stored.
        case .busy: busy += 1
        case .ended(.refused(let reason, _)), .ended(.tokenDead(let reason, _)):
            refusedByReason[reason, default: 0] += 1
        case .ended(.delivered), .ended(.expired): duplicates += 1
        }
    }

    mutating func count(_ ending: Ending, at time: Int64) {
        switch ending {
        case .delivered:
            delivered += 1
            lastDelivery = time
        case .refused(let reason, _): refusedByGateway[reason, default: 0] += 1
        case .tokenDead: tokensDead += 1
        case .expired: expired += 1
        }
    }
}
