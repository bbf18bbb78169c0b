import Clocks
import Figures
import Relay

/// One thing that must be well for notifications to arrive.
package struct Check: Equatable, Sendable {
    package enum Level: String, Comparable, CaseIterable, Sendable {
        case ok
        /// The thing works, and an operator should look before it doesn't.
        case warning
        case failing

        package static func < (left: Level, right: Level) -> Bool {
            allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
        }
    }

    /// A level that needs words about what to do.
    package enum Trouble: Sendable, CaseIterable {
        case warning, failing

        package var level: Level {
            switch self {
            case .warning: .warning
            case .failing: .failing
            }
        }
    }

    package let kind: CheckKind
    package let level: Level
    /// The finding in words. Where something is wrong it is never empty.
    package let state: String
    /// The advice to an operator; `nil` where all is well, and only there.
    package let advice: String?

    /// Makes the check of a thing that is not well. Only a ``Proof`` makes one that is.
    package init(_ kind: CheckKind, level: Trouble, state: String, advice: String) {
        self.kind = kind
        self.level = level.level
        self.state = state
        self.advice = advice
    }

    /// Makes the check of a thing that was shown to be well: see ``Proof``.
    init(ok kind: CheckKind, _ state: String) {
        self.kind = kind
        level = .ok
        self.state = state
        advice = nil
    }

    /// The name of the thing that the check is about.
    package var name: String { kind.name }
    package var isWell: Bool { level != .failing }
}

extension [Check] {
    /// The worst level of the checks; without any check all is well.
    package var level: Check.Level { map(\.level).max() ?? .ok }
}

extension Report {
    /// The time after which pushing has stopped: something has been due for that
    /// time, and its gateway has judged nothing for as long.
    package static let stalledAfter = Duration.seconds(300)
    /// The time for which a notification may wait while nothing
    /// is on its way to a gateway that has made trouble.
    package static let lateAfter = Duration.seconds(30)
    /// Bytes left on the disk below which an operator is warned.
    package static let diskWarning = 1 << 30
    /// Bytes left on the disk below which health fails.
    package static let diskFailing = 128 << 20
    /// Bytes left on the disk below which it is called full, and not nearly full.
    package static let diskFull = 1 << 20
    /// The time without an answer after which the disk counts as silent.
    package static let diskSilent = Duration.seconds(30)
    /// The lateness of the event loop within the last minute that is a warning.
    package static let loopWarning = Duration.milliseconds(250)
    /// The lateness of the event loop within the last minute that is a failure.
    package static let loopFailing = Duration.seconds(2)
    /// The used part of the room for notifications or connections at which an operator is warned.
    package static let fullWarning = 0.8
    /// The part of the outbox's room at which an operator is warned if one lane has taken it.
    package static let laneShare = 0.25
    /// The time for which a lane counts as full after a notification was turned away. Senders retry after
    /// half a minute.
    package static let recentlyFull: Duration = .seconds(60)
    /// The number of circuits closed within a minute at which the check of the circuits fails.
    package static let closedInBulk = 10
    /// The number of peers lost within a minute at which the check of the circuits fails, if at most half as
    /// many are left.
    package static let lostInBulk = 20

    /// The checks of the outbox, the database, the disk, the event loop, the connections, the delivery and
    /// each lane.
    package var deliveryChecks: [Check] {
        [outboxCheck, backlogCheck] + sharedChecks + [
            diskCheck, loopCheck, connectionsCheck, circuitsCheck, pushingCheck, settingsCheck,
        ]
            + lanes.compactMap(check)
    }

    /// The check of the event loop. Everything runs on it: while it is late, all peers, timers and gateways
    /// wait.
    private var loopCheck: Check {
        let worst = max(loop.lag, loop.longestTurn)
        let state = "\(Words.time(worst)) late at worst within a minute"
        guard worst > Report.loopWarning else { return .counted(.loop, state) }
        return Check(
            .loop, level: worst > Report.loopFailing ? .failing : .warning, state: state,
            advice:
                "see whether the machine has processor time to spare; if it has, somebody sends what is costly: "
                + "lower circuits.frames_per_second and bytes_per_second")
    }

    private var outboxCheck: Check {
        if let fault = outbox.fault {
            return Check(.outbox, level: .failing, state: fault, advice: outbox.advice)
        }
        let waits = "\(outbox.waiting) of \(outbox.waitingLimit) wait"
        let part = max(
            Double(outbox.waiting) / Double(max(1, outbox.waitingLimit)),
            Double(outbox.waitingBytes) / Double(max(1, outbox.waitingBytesLimit)))
        guard part >= Report.fullWarning else {
            return lossCheck(waits) ?? .proven(.outbox, "works; \(waits)", commitAge)
        }
        guard part < 1 else {
            return Check(
                .outbox, level: .failing, state: "full: \(waits); senders get Busy and retry",
                advice:
                    "see below which app's notifications wait and why; limits.waiting and waiting_bytes make more room; "
                    + "what need not be delivered any more onionbell outbox drop removes")
        }
        return Check(
            .outbox, level: .warning,
            state: "nearly full: \(waits), \(Words.bytes(outbox.waitingBytes)) "
                + "of \(Words.bytes(outbox.waitingBytesLimit)); when full, senders have to try again later",
            advice:
                "see below which app's notifications wait and why; limits.waiting and waiting_bytes make more room"
        )
    }

    /// The check of the room that the waiting notifications of one app take from all others.
    private var backlogCheck: Check {
        let full = lanes.filter { $0.fullAge.map { $0 <= Report.recentlyFull } ?? false }
        if let lane = full.max(by: { $0.waiting < $1.waiting }) {
            return Check(
                .backlog, level: .failing,
                state:
                    "\(lane.name) has all the room it may have: \(lane.waiting) wait, and senders get Busy and retry",
                advice:
                    "fix what its check names; onionbell outbox drop --app removes what need not be delivered any more"
            )
        }
        guard let lane = lanes.max(by: { $0.waiting < $1.waiting }), outbox.waitingLimit > 0,
            Double(lane.waiting) >= Report.laneShare * Double(outbox.waitingLimit)
        else { return .counted(.backlog, "no app has much waiting") }
        return Check(
            .backlog, level: .warning,
            state: "\(lane.waiting) of \(outbox.waitingLimit) places are taken by \(lane.name)",
            advice:
                "fix what its check names; onionbell outbox drop --app removes what need not be delivered any more"
        )
    }

    private var connectionsCheck: Check {
        let fullest = places.max { $0.open * max(1, $1.limit) < $1.open * max(1, $0.limit) }
        guard let fullest, Double(fullest.open) >= Report.fullWarning * Double(fullest.limit) else {
            return .counted(.connections, "there is room")
        }
        return Check(
            .connections, level: fullest.open >= fullest.limit ? .failing : .warning,
            state: "\(fullest.open) of \(fullest.limit) places of \(fullest.name) are taken, "
                + "\(fullest.heldByFew) of them by circuits or addresses that hold \(Places.few) or more",
            advice: fullest.heldByFew * 2 > fullest.open
                ? "few hold most: lower circuits.connections or doors.https.connections_per_address"
                : "raise the number of connections in the settings, and LimitNOFILE with it")
    }

    /// The time since the last commit, which says of the store that it takes what it is given.
    var commitAge: ProofAge { ProofAge(of: outbox.commits.last, since: begun, at: awake) }

    private var circuitsCheck: Check {
        if closedCircuits >= Report.closedInBulk {
            return Check(
                .circuits, level: .failing,
                state: "tor was asked to close \(closedCircuits) circuits within a minute for broken rules",
                advice:
                    "if honest clients lose their connections, another program of this machine may speak in tor's "
                    + "place: let the onion endpoints be Unix sockets")
        }
        if lostPeers >= Report.lostInBulk, lostPeers >= 2 * peers.open {
            return Check(
                .circuits, level: .failing,
                state: "\(lostPeers) peers were lost within a minute, \(peers.open) are left",
                advice:
                    "see in the log whether tor was started anew, and whether this machine's network was away"
            )
        }
        return .counted(.circuits, "no unusual number was closed")
    }

    private var diskCheck: Check {
        if let silence = outbox.diskSilence, silence > Report.diskSilent {
            return Check(
                .disk, level: .failing, state: "no answer for \(Words.time(silence))",
                advice: "see whether the file system of state_directory hangs")
        }
        let age = ProofAge(of: outbox.diskAnsweredAt, since: begun, at: awake)
        guard let available = outbox.diskAvailable else {
            return .proven(.disk, "it does not say how much room is left", age)
        }
        let state = "\(Words.bytes(available)) left on the outbox's file system"
        guard available < Report.diskWarning else { return .proven(.disk, state, age) }
        return Check(
            .disk, level: available < Report.diskFailing ? .failing : .warning,
            state: available < Report.diskFull ? "full: \(state)" : "nearly full: \(state)",
            advice: "make room on that file system, or move state_directory to a larger one")
    }

    /// The check of the delivery. It fails while something waits that should long have gone, and names the apps.
    private var pushingCheck: Check {
        let stalled = lanes.filter(isStalled)
        guard stalled.isEmpty else {
            let apps = stalled.map { lane in
                let last = lane.figures.lastJudgement.map {
                    "the last answer is \(Words.time(age(of: $0))) old"
                }
                return "\(lane.waiting) wait for \(lane.name), the oldest for "
                    + "\(Words.time(lane.oldestDueAge ?? .zero)), \(last ?? "there was no answer yet")"
            }
            let isBlocked = stalled.contains { $0.blockedReason != nil }
            return Check(
                .pushing, level: .failing, state: "has stopped: " + apps.joined(separator: "; "),
                advice: isBlocked
                    ? "fix what the check of \(stalled.map(\.name).joined(separator: ", ")) names"
                    : Report.adviceAboutLastError(of: stalled.first { $0.gateway?.lastError != nil }))
        }
        guard !hasNobodyToRing else {
            return Check(
                .pushing, level: .warning,
                state: "no app has credentials, so every notification is refused",
                advice:
                    "name an app's files in the configuration; the apps that Bisq publishes need none: onionbell init "
                    + "--bisq --config bisq.yaml writes them into a file of that name, to be copied from there"
            )
        }
        let last = lastDelivery.map { "the last delivery was \(Words.time(age(of: $0))) ago" }
        return .counted(.pushing, last ?? "no delivery since the start")
    }

    /// Whether a lane with due notifications has had no answer for long. A refusal or a dead token is an answer as well.
    private func isStalled(_ lane: Lane) -> Bool {
        guard let oldest = lane.oldestDueAge, oldest >= Report.stalledAfter else { return false }
        guard uptime >= Report.stalledAfter else { return false }
        return lane.figures.lastJudgement.map { age(of: $0) >= Report.stalledAfter } ?? true
    }

    /// Returns the check of a lane. An app without credentials has none: it was left out on purpose, and
    /// ``pushingCheck`` says what still waits for it.
    private func check(_ lane: Lane) -> Check? {
        guard let gateway = lane.gateway else { return lane.service == nil ? Report.leftOver(lane) : nil }
        if let reason = lane.fault { return Report.blocked(lane, reason, gateway) }
        if gateway.isSuspicious {
            return Check(
                .lane(lane.name), level: .failing,
                state: "\(gateway.refusedTokensInARow) device tokens refused in a row: "
                    + "check host, topic and project",
                advice:
                    "these phones belong to another app: correct topic (iPhone) or the service account's project (Android) of \(lane.app)"
            )
        }
        if let fault = lane.credentialFault {
            // Those in use still work; they would not after a restart.
            return Check(
                .lane(lane.name), level: .warning, state: "new credentials rejected: \(fault)",
                advice: "replace the file by the right one; until then the old credentials stay in use")
        }
        if let (wish, left) = wish(of: lane, gateway) {
            return Check(
                .lane(lane.name), level: .warning,
                state: "its push service wants nothing for \(Words.time(left)): \(wish.reason)",
                advice: lane.wishAdvice ?? GatewayAdvice.text(for: wish.reason))
        }
        if let trouble = Report.trouble(of: lane, gateway) {
            return Check(
                .lane(lane.name), level: .warning, state: trouble,
                advice: Report.adviceAboutLastError(of: lane))
        }
        guard let last = lane.figures.lastJudgement else {
            return .counted(
                .lane(lane.name),
                "not known whether it works: nothing was sent since the start, and no trouble is known")
        }
        let open = gateway.connections > 0 ? "open; " : ""
        return .counted(.lane(lane.name), "\(open)the last answer was \(Words.time(age(of: last))) ago")
    }

    private static func adviceAboutLastError(of lane: Lane?) -> String {
        lane?.errorAdvice ?? lane?.gateway?.lastError.map(GatewayAdvice.text(for:)) ?? GatewayAdvice.network
    }

    /// Returns the check of an app that was renamed or closed, for which something waits.
    private static func leftOver(_ lane: Lane) -> Check? {
        guard lane.waiting > 0 else { return nil }
        return Check(
            .lane(lane.name), level: .warning,
            state: "\(lane.waiting) wait for an app that the settings do not name",
            advice:
                "name the app in the settings again, or give them to the app that has its phones now (onionbell outbox move --app \(lane.app) --to NAME); "
                + "what nobody needs any more onionbell outbox drop --app \(lane.app) gives up")
    }

    private static func blocked(_ lane: Lane, _ reason: String, _ gateway: GatewayFigures) -> Check {
        // The connection's own words say what was wrong with it.
        if OwnReason(rawValue: reason) == .tls, let error = gateway.lastError {
            return Check(
                .lane(lane.name), level: .failing, state: "blocked: TLS: \(error)",
                advice: GatewayAdvice.text(forTLS: error))
        }
        return Check(
            .lane(lane.name), level: .failing, state: "blocked: \(reason)",
            advice: lane.blockedAdvice ?? GatewayAdvice.text(for: reason))
    }

    /// Returns the pause that a gateway asked for and the time left of it, while the lane is paused or
    /// something waits. The last connection's error says nothing of that.
    private func wish(
        of lane: Lane, _ gateway: GatewayFigures
    ) -> (wish: GatewayFigures.Wish, left: Duration)? {
        guard let wish = gateway.wish, wish.until > monotonicNow, lane.isPaused || lane.waiting > 0 else {
            return nil
        }
        return (wish, wish.until - monotonicNow)
    }

    /// Returns the trouble of a gateway that may come back by itself; `nil`: there is none. To have no connection while one is
    /// needed is trouble.
    private static func trouble(of lane: Lane, _ gateway: GatewayFigures) -> String? {
        let error = gateway.lastError.map { ": \($0)" } ?? ""
        if lane.isPaused { return "down or overloaded, retried soon\(error)" }
        if gateway.connections == 0, !gateway.isResting, gateway.connectionFailures > 0 {
            return "no connection\(error)"
        }
        let isLate = lane.oldestDueAge.map { $0 >= Report.lateAfter } ?? false
        guard isLate, gateway.inFlight == 0, gateway.lastError != nil else { return nil }
        return "\(lane.waiting) wait, and none is being sent\(error)"
    }
}
