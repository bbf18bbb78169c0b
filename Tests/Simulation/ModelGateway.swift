@testable import Relay

/// A push service that takes, refuses, forgets to answer: for each request it decides what becomes of it and what the
/// node hears.
struct ModelGateway {
    enum Mood: CaseIterable { case well, busy, blocked, silent, leaving, mixed }

    struct Verdict {
        /// What the node hears.
        let outcome: Outcome
        /// Whether the service takes the notification, whatever the node hears.
        let isTaken: Bool
        /// Whether it does so as soon as the request arrives, or just before it answers.
        let isTakenOnArrival: Bool
    }

    private var moods: [LaneID: Mood] = [:]
    /// The id under which each notification was taken, by its sequence number.
    private(set) var taken: [Int64: NotificationID] = [:]
    /// Times one was taken that had been before.
    private(set) var repeated = 0

    mutating func change(_ lane: LaneID, to mood: Mood) { moods[lane] = mood }
    mutating func take(_ sequence: Int64, _ id: NotificationID) {
        if taken.updateValue(id, forKey: sequence) != nil { repeated += 1 }
    }
    /// A new process numbers anew what it sends before it is stored.
    mutating func forgetUnstored() { taken = taken.filter { $0.key < 1 << 48 } }

    mutating func heal() { moods = [:] }

    func verdict(for lane: LaneID, using random: inout some RandomNumberGenerator) -> Verdict {
        let draw = Int.random(in: 0..<100, using: &random)
        let isAtOnce = Bool.random(using: &random)
        func hears(_ outcome: Outcome, isTaken: Bool = false) -> Verdict {
            Verdict(outcome: outcome, isTaken: isTaken, isTakenOnArrival: isTaken && isAtOnce)
        }
        let accepted = hears(.accepted, isTaken: true)
        switch moods[lane] ?? .well {
        case .well: return accepted
        case .busy:
            return draw < 80
                ? hears(
                    .deferred(
                        Deferral(
                            reason: "busy", scope: draw % 2 == 0 || lane.host.isOrigin ? .host : .app,
                            retryAfter: wish(draw), witnesses: draw % 3 == 0 ? 1 : Deferral.fewWitnesses))
                ) : accepted
        case .blocked: return draw < 90 ? hears(.blocked(reason: "key")) : accepted
        case .silent:
            // The answer is lost or never given: one in three was taken all the same.
            let scope: Deferral.Scope = draw < 50 ? .host : .device
            return hears(.deferred(Deferral(reason: "silence", scope: scope)), isTaken: draw % 3 == 0)
        case .leaving:
            return draw < 70
                ? hears(.deferred(Deferral(reason: "goaway", scope: .host, isUnharmed: true))) : accepted
        case .mixed:
            switch draw {
            case 0..<5: return hears(.tokenDead(reason: "Unregistered", since: draw == 0 ? .max : nil))
            case 5..<12: return hears(.refused(reason: "BadPath"))
            case 12..<30:
                return hears(.deferred(Deferral(reason: "429", scope: .device, retryAfter: wish(draw))))
            case 30..<36: return hears(.deferred(Deferral(reason: "lost", scope: .device)), isTaken: true)
            case 36..<40: return hears(.deferred(Deferral(reason: "503", scope: .host)))
            default: return accepted
            }
        }
    }

    private func wish(_ draw: Int) -> Duration? {
        switch draw % 7 {
        case 0: .seconds(Int64.max)
        case 1: .seconds(300)
        case 2: .seconds(-7)
        case 3: .milliseconds(1500)
        default: nil
        }
    }
}
