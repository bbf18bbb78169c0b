@testable import Relay

/// A core that is broken on purpose: the checks must find each of them, or they find nothing.
enum Canary: String, CaseIterable, Sendable {
    /// Senders are told `stored` when the commit begins.
    case tellsBeforeTheCommit
    /// The ends that a failed commit held are not in the next one.
    case forgetsTheEndsOfAFailedCommit
    /// A device's second notification is taken for another device's.
    case letsTheSecondOvertakeTheFirst

    /// What is put into a mailbox is called delivered.
    case callsTheKeptDelivered
    /// What waits on disk is handed out in the wrong order.
    case handsOutTheLastFirst
    /// One identity of a clock that was ahead keeps all that are older.
    case stopsForgettingAtTheFirst
    /// What gateways asked for is not written down.
    case forgetsWishesAtACrash
    /// Whatever the clock says at the start is believed.
    case believesEveryClock
    /// What its own clock says ends the doubt of that clock.
    case asksItsOwnClock
    /// What a wrong clock has set down stays so when the next process has the right one.
    case keepsTheDatesOfAWrongClock
    /// What a wrong clock has set down goes out so when it is set right.
    case tellsTheDatesOfAWrongClock
    /// No circuit has a share of a lane's room.
    case letsOneCircuitTakeAll

    /// Senders are told `stored` when their notification goes out.
    case tellsStoredForWhatItOnlySent
    /// What goes out first is never stored, however long there is no answer.
    case forgetsToStoreAfterTheWindow
    /// What was delivered before it was stored is sent again when it comes again.
    case forgetsWhatItDelivered
    /// What went out first is not stored when the node stops.
    case stopsWithoutStoring

    /// A shared store makes commits of nodes whose lease is over.
    case hasNoFences
    /// A lease ends by what its node's own clock said.
    case leasesByTheNodesClock
    /// A node gives up shards while something of them is under way.
    case givesUpWhatIsUnderWay
    /// What other nodes have stored for a node is never looked for.
    case looksForNoArrivals
    /// What other nodes have stored for a node is taken for another device's.
    case mistakesWhatArrived
    /// Nobody asks how it ended what another node sends.
    case tellsNoEndsOfOthers

    /// What one token is told is believed of all others.
    case believesEveryToken

    /// Room at an upstream that is not the active one is told to nobody.
    case tellsOnlyTheActiveUpstream
    /// What another lane writes down takes a lane's room, and when it is written nobody tells that lane.
    case letsAnotherLaneTakeRoom
    /// A dial that takes a minute is a connection that lived for a minute.
    case callsALongDialALongLife
    /// What a proxy in a relay's place says ends a notification.
    case takesAProxysPageForTheRelays

    private var isAboutNodes: Bool {
        [
            .hasNoFences, .leasesByTheNodesClock, .givesUpWhatIsUnderWay, .looksForNoArrivals,
            .mistakesWhatArrived, .tellsNoEndsOfOthers,
        ].contains(self)
    }

    var isAboutRelays: Bool {
        [
            .tellsOnlyTheActiveUpstream, .letsAnotherLaneTakeRoom, .callsALongDialALongLife,
            .takesAProxysPageForTheRelays,
        ].contains(self)
    }

    private var isAboutDates: Bool {
        [.keepsTheDatesOfAWrongClock, .tellsTheDatesOfAWrongClock].contains(self)
    }

    private var isAboutWindows: Bool {
        [
            .tellsStoredForWhatItOnlySent, .forgetsToStoreAfterTheWindow, .forgetsWhatItDelivered,
            .stopsWithoutStoring,
        ].contains(self)
    }

    /// Histories within which it must be found.
    static let patience: UInt64 = 8

    /// What is wrong, as the checks say it; `nil`: they didn't find it.
    func found() -> String? {
        // Only a node that was paused for long writes without its fence; and only one that started with its clock ahead leaves an
        // identity that is dated so.
        let isRare = isAboutNodes || self == .stopsForgettingAtTheFirst
        for seed in 1...(isRare ? 8 * Canary.patience : Canary.patience) {
            if self == .believesEveryToken {
                for plan in PoisonWorld.plans(seed) {
                    let world = PoisonWorld(seed: seed, plan, canary: self)
                    world.run()
                    if let violation = world.violation { return violation }
                }
                continue
            }
            guard !isAboutRelays else {
                let world = RelayWorld(seed: seed, canary: self)
                world.run()
                if let violation = world.violation { return violation }
                continue
            }
            guard !isAboutNodes else {
                let cluster = Cluster(seed: seed, canary: self)
                cluster.run()
                if let violation = cluster.violation { return violation }
                continue
            }
            let world = World(
                seed: seed, canary: self, isCrowd: self == .letsOneCircuitTakeAll, isQuiet: isAboutWindows,
                isNeverTold: isAboutDates)
            world.run()
            if let violation = world.violation { return violation }
        }
        return nil
    }
}
