@testable import Relay

/// A core that is broken on purpose: the checks must find each of them, or they find nothing.
enum Canary: String, CaseIterable, Sendable {
    /// Senders are told `stored` when the commit begins.
    case tellsBeforeTheCommit
    /// The ends that a failed commit held are not in the next one.
    case forgetsTheEndsOfAFailedCommit
    /// A device's second notification is taken for another device's.
    case letsTheSecondOvertakeTheFirst

    /// What waits on disk is handed out in the wrong order.
    case handsOutTheLastFirst
    /// What gateways asked for is not written down.
    case forgetsWishesAtACrash
    /// Whatever the clock says at the start is believed.
    case believesEveryClock

    /// Histories within which it must be found.
    static let patience: UInt64 = 4

    /// What is wrong, as the checks say it; `nil`: they didn't find it.
    func found() -> String? {
        for seed in 1...Canary.patience {
            let world = World(seed: seed, canary: self)
            world.run()
            if let violation = world.violation { return violation }
        }
        return nil
    }
}
