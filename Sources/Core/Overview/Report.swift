import Clocks
import Figures
import Relay

/// All that an operator may see of a node at one moment, as plain values: what the status page, the metrics, `/healthz`
/// and `onionbell status` are made of. Nothing in it is about one device or one sender.
package struct Report: Equatable, Sendable {
    /// The figures of one door, with its name.
    package struct Door: Equatable, Sendable {
        package var name: String
        package var figures: DoorFigures

        package init(name: String, figures: DoorFigures) {
            self.name = name
            self.figures = figures
        }
    }

    /// One app at one host of its push service.
    package struct Lane: Equatable, Sendable {
        package var app: String
        package var host: LaneHost
        /// The name of the push service, as the settings have it; `nil`: no configured app has this lane, and
        /// something is left of one that had.
        package var service: String?
        package var waiting = 0
        /// The time since the oldest waiting notification was submitted; `nil`: nothing waits.
        package var oldestAge: Duration?
        /// The age of the oldest waiting notification, without those whose device its gateway wants spared for a while.
        package var oldestDueAge: Duration?
        package var figures = LaneFigures()
        /// The fault that the operator has to mend, in the service's word; `nil`: none.
        package var blockedReason: String?
        /// The advice of the lane's service about ``blockedReason``; `nil`: nothing more.
        package var blockedAdvice: String?
        /// The advice of its service about the reason why the gateway wants nothing for a while; `nil`: nothing more.
        package var wishAdvice: String?
        /// The advice of its service about the gateway's last error; `nil`: nothing more.
        package var errorAdvice: String?
        /// Whether nothing is sent for a while, since the gateway is overloaded or away.
        package var isPaused = false
        /// The time since a notification was last turned away because this lane had no more room; `nil`: none
        /// was.
        package var fullAge: Duration?
        /// Why credentials that were put in the place of the present ones are not used.
        package var credentialFault: String?
        /// The figures of the app's gateway; `nil`: the app has no credentials.
        package var gateway: GatewayFigures?

        package init(app: String, host: LaneHost, service: String?) {
            self.app = app
            self.host = host
            self.service = service
        }

        /// The fault that the operator has to mend, whether something was sent yet or not; `nil`: none.
        package var fault: String? { blockedReason ?? gateway?.fault }
        /// The name of its host, as a label of metrics.
        package var environment: String { host.name }
        /// The name that an operator reads, and by which the checks are named.
        package var name: String { LaneID(app: app, host: host).name }
    }

    package struct Outbox: Equatable, Sendable {
        package var waiting = 0
        package var waitingLimit = 0
        package var waitingBytes = 0
        package var waitingBytesLimit = 0
        /// Why the last commit failed; `nil` while it works.
        package var fault: String?
        /// The advice to an operator about ``fault``; empty while there is none.
        package var advice = ""
        package var commits = CommitFigures()
        /// The number of device tokens that are known to be dead.
        package var deadTokens = 0
        /// Bytes that the node's user may still write on the disk of the outbox; `nil`: not known.
        package var diskAvailable: Int?
        /// The time at which the disk of the outbox answered last, on the clock of ``Report/awake``; `nil`: it has not.
        package var diskAnsweredAt: MonotonicTime?
        /// Whether a node was here before, and its store was gone or empty at this start.
        package var wasMadeAnew = false
        /// The time for which the disk of the outbox has not answered; `nil`: it answers.
        package var diskSilence: Duration?

        package init() {}
    }

    package struct Connections: Equatable, Sendable {
        package var open = 0
        package var limit = 0
        package var accepted = 0

        package init() {}
    }

    /// The places for connections of one kind of door.
    package struct Places: Equatable, Sendable {
        /// The number of places that a circuit or an address must hold to count among the few that hold many.
        package static let few = 8

        /// The name that the settings have for these places.
        package var name: String
        package var open: Int
        package var limit: Int
        /// The number of places that are held by circuits or addresses with ``few`` or more each.
        package var heldByFew: Int

        package init(_ name: String, open: Int, limit: Int, heldByFew: Int) {
            self.name = name
            self.open = open
            self.limit = limit
            self.heldByFew = heldByFew
        }
    }

    /// The mailboxes with their messages and readers.
    package struct Mailboxes: Equatable, Sendable {
        package var mailboxes = 0
        /// The number of topics of UnifiedPush.
        package var pushTopics = 0
        /// The number of messages in all mailboxes, counted once a minute.
        package var messages = 0
        package var bytes = 0
        /// The number of connected readers with a token.
        package var readers = 0
        package var readersLimit = 0
        /// The number of connected readers without a token.
        package var strangers = 0
        /// The number of readers that were refused for want of room or of a right, and of pushes to topics
        /// that nobody has.
        package var refused = 0

        package init() {}
    }

    /// A Bisq that is asked now and then whether it is there. Its silence rings its owner.
    package struct Watch: Equatable, Sendable {
        package var name: String
        package var isSilent: Bool
        /// The time of the last answer; `nil`: none since the start.
        package var lastAnswer: UnixTime?
        /// The number of questions in a row that had no answer.
        package var missed: Int
        /// The number of times that the owner was rung.
        package var rings: Int

        package init(name: String, isSilent: Bool, lastAnswer: UnixTime?, missed: Int, rings: Int) {
            self.name = name
            self.isSilent = isSilent
            self.lastAnswer = lastAnswer
            self.missed = missed
            self.rings = rings
        }
    }

    package struct Process: Equatable, Sendable {
        /// The start of the process in milliseconds since 1970.
        package var startedAt: UnixTime = 0
        package var processorTime = Duration.zero
        package var residentBytes = 0
        package var virtualBytes = 0
        package var openFiles = 0
        package var openFilesLimit = 0

        package init() {}
    }

    /// The delays of the event loop within the last minute.
    package struct Loop: Equatable, Sendable {
        /// The longest time by which a timer was late.
        package var lag = Duration.zero
        /// The longest time for which the event loop looked at nothing new.
        package var longestTurn = Duration.zero

        package init() {}
    }

    package struct Certificate: Equatable, Sendable {
        /// The name of the app; `https` for the certificate of the listeners.
        package var app: String
        /// The time at which the certificate expires, in seconds since 1970.
        package var end: Int64

        package init(app: String, end: Int64) {
            self.app = app
            self.end = end
        }
    }

    package var version = ""
    /// The moment of the report by the wall clock.
    package var now: UnixTime = 0
    /// The moment of the report on the monotonic clock.
    package var monotonicNow: MonotonicTime = 0

    /// The moment of the report on the clock that stands while the machine sleeps: who sleeps has seen nothing, and is not
    /// late. The events that show a thing to work are timed by it.
    package var awake: MonotonicTime = 0
    /// The moment of the node's start on the same clock.
    package var begun: MonotonicTime = 0
    /// The settings that wait for a restart, and those that can't be used.
    package var settings = SettingsNews()

    package var onion = OnionReport()
    package var outbox = Outbox()
    /// The state of a shared store; `nil`: the store is a file.
    package var shared: Shared?
    package var doors: [Door] = []
    package var lanes: [Lane] = []
    package var certificates: [Certificate] = []

    package var peers = Connections()
    package var peerFrames = 0
    /// Ended connections of peers, by the reason of the end.
    package var peerCloses = WordCounts()
    package var http = Connections()
    package var places: [Places] = []
    package var watches: [Watch] = []
    /// The figures of the mailboxes; `nil`: there is no such door.
    package var mailboxes: Mailboxes?
    /// Bytes in the buffers of all connections.
    package var bufferBytes = 0
    package var bufferBytesLimit = 0
    /// The number of circuits that tor was asked to close within the last minute.
    package var closedCircuits = 0
    /// The number of peers whose connections were lost within the last minute.
    package var lostPeers = 0
    package var httpRequests = 0
    /// The number of HTTP answers by status.
    package var httpAnswers: [Int: Int] = [:]
    /// The number of hits of each limit, by its name. Those of devices and of the outbox are with the doors.
    package var limitsHit = WordCounts()

    /// The number of phones in the phone book; `nil`: it has none.
    package var phones: Int?

    /// Whether no app has what it needs to ring anybody.
    package var hasNobodyToRing = false

    package var process = Process()
    package var loop = Loop()
    package var history = History(at: 0)
    package var timeline = Timeline()
    package var checks: [Check] = []

    /// A restart in place by which the node came.
    package struct Restart: Equatable, Sendable {
        /// The time for which nothing was taken: whoever connected waited.
        package let unserved: Duration
        /// Connections that had waited until the node took them.
        package let waited: Int

        package init(unserved: Duration, waited: Int) { (self.unserved, self.waited) = (unserved, waited) }
    }

    /// The last restart in place; `nil`: the node came to run otherwise.
    package var restart: Restart?

    package init() {}

    /// Returns the age of a moment on the monotonic clock.
    package func age(of time: MonotonicTime) -> Duration { max(.zero, monotonicNow - time) }
    /// Returns the age of a moment by the wall clock.
    package func age(ofUnix time: UnixTime) -> Duration { max(.zero, now - time) }
    package var uptime: Duration { age(ofUnix: process.startedAt) }

    /// The age of the oldest notification that waits; `nil`: nothing waits.
    package var oldestAge: Duration? { lanes.compactMap(\.oldestAge).max() }
    /// Names the time that the last minutes of the history cover: `1 hour`, `24 hours`, or less while the
    /// history is young. The history may be older than the start.
    func span(ofLast minutes: Int) -> String {
        let covered = max(1, Int(history.covered))
        guard covered < minutes else { return minutes == 60 ? "1 hour" : "24 hours" }
        return "the last \(Words.time(.seconds(60 * covered)))"
    }

    /// The time of the last delivery by any gateway.
    package var lastDelivery: MonotonicTime? { lanes.compactMap(\.figures.lastDelivery).max() }
}

extension History.Totals {
    package init(doors: [DoorFigures], lanes: [LaneFigures]) {
        self.init()
        for door in doors {
            stored += door.accepted
            busy += door.busyDevice + door.busyNode
            refused.add(door.refused)
        }
        for lane in lanes {
            delivered += lane.delivered
            deliveryTime &+= lane.deliveryTime.sum
            expired += lane.expired
            refused.add(lane.refused)
            refused.add(lane.tokensDead)
        }
    }
}

/// The modules of a QR code, row by row, without the quiet zone.
package struct Modules: Equatable, Sendable {
    package let width: Int
    package let isDark: [Bool]

    package init(width: Int, isDark: [Bool]) {
        precondition(isDark.count == width * width, "\(isDark.count) modules for a side of \(width)")
        self.width = width
        self.isDark = isDark
    }

    package subscript(row: Int, column: Int) -> Bool {
        guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
        return isDark[row * width + column]
    }
}
