import Clocks
import Figures
import QR
import Relay

@testable import Overview

/// Reports as nodes give them, filled everywhere.
enum Sample {
    static let now: Int64 = 1_795_300_000_000
    static let address = String(repeating: "onionbellexample234567", count: 3).prefix(56) + ".onion"

    static func times(_ nanoseconds: [Int64]) -> Histogram {
        var histogram = Histogram()
        for time in nanoseconds { histogram.add(time) }
        return histogram
    }

    static func words(_ counts: [String: Int]) -> WordCounts {
        var words = WordCounts()
        for (word, count) in counts { words.add(word, count) }
        return words
    }

    /// A day of a node that is used: fewer at night.
    static var history: History {
        var history = History(at: -1)
        var totals = History.Totals()
        for minute in 0..<1440 as Range<Int64> {
            let wave = minute < 500 ? 1 : 3 + Int(minute * 7 % 11) - Int(minute % 4)
            totals.delivered += wave
            totals.deliveryTime += Int64(wave) * (120_000_000 + minute % 90 * 2_000_000)
            totals.stored += wave
            if minute % 37 == 0 { totals.refused.add("Unregistered") }
            if minute % 53 == 0 { totals.refused.add("BadDeviceToken", 2) }
            if minute % 211 == 0 { totals.expired += 1 }
            if (1390..<1400).contains(minute) { totals.refused.add("BadMessage", 6) }
            history.read(totals, waiting: minute % 61 == 0 ? 7 : wave / 4, at: minute)
        }
        return history
    }

    static func lane(_ app: String, host: LaneHost = .production, service: String = "apns")
        -> Report.Lane
    {
        var lane = Report.Lane(app: app, host: host, service: service)
        lane.figures.delivered = host == .sandbox ? 12 : 48_211
        lane.figures.attempts = host == .sandbox ? 12 : 48_377
        lane.figures.expired = 3
        lane.figures.refused = words(["DeviceTokenNotForTopic": 2])
        lane.figures.tokensDead = words(["Unregistered": 39])
        lane.figures.deferred = words(["ServiceUnavailable": 12, "GoAway": 4])
        lane.figures.deliveryTime = times([40_000_000, 61_000_000, 90_000_000, 310_000_000])
        lane.figures.lastDelivery =
            MonotonicTime(nanoseconds: 7_000_000_000_000) - .seconds(host == .sandbox ? 5000 : 14)
        lane.figures.lastJudgement = lane.figures.lastDelivery
        var gateway = GatewayFigures()
        gateway.connections = 1
        gateway.connectionsOpened = 9
        gateway.requests = lane.figures.attempts
        gateway.goAways = words(["-": 7])
        gateway.ownFaults = words(["PayloadEmpty": 1])
        gateway.answerTime = times([31_000_000, 52_000_000, 77_000_000, 290_000_000])
        lane.gateway = gateway
        return lane
    }

    /// All is well.
    static var good: Report {
        var report = Report()
        report.version = "0.1.0"
        report.now = UnixTime(milliseconds: now)
        report.monotonicNow = 7_000_000_000_000
        report.awake = report.monotonicNow
        report.process.startedAt = report.now - .seconds(19 * 86_400)
        report.process.processorTime = .seconds(1234)
        report.process.residentBytes = 29 << 20
        report.process.virtualBytes = 300 << 20
        report.process.openFiles = 143
        report.process.openFilesLimit = 524_288
        report.onion = onion
        report.outbox.waiting = 2
        report.outbox.waitingLimit = 100_000
        report.outbox.waitingBytes = 1312
        report.outbox.waitingBytesLimit = 256 << 20
        report.outbox.commits.done = 41_000
        report.outbox.commits.last = report.monotonicNow - .seconds(2)
        report.outbox.diskAnsweredAt = report.monotonicNow - .seconds(1)
        report.outbox.commits.time = times([800_000, 1_200_000, 2_000_000, 9_000_000])
        report.outbox.deadTokens = 51
        report.shared = shared
        report.outbox.diskAvailable = 18 << 30
        for (name, stored) in [("peer", 31_000), ("bisq1", 9_000), ("bisq2", 8_400)] {
            var figures = DoorFigures()
            figures.stored = stored
            figures.duplicates = 31
            figures.busyDevice = 7
            figures.refused = words(["BadMessage": 60, "Unregistered": 44])
            figures.receiptTime = times([1_100_000, 1_900_000, 2_400_000, 12_000_000])
            figures.events = words(["refused": 3])
            report.doors.append(Report.Door(name: name, figures: figures))
        }
        report.lanes = [
            lane("bisq-remote-ios"), lane("bisq-remote-ios", host: .sandbox),
            lane("bisq-remote-android", service: "fcm"),
        ]
        report.lanes[0].waiting = 2
        report.lanes[0].oldestAge = .milliseconds(240)
        report.certificates = [.init(app: "bisq-remote-ios", end: now / 1000 + 211 * 86_400)]
        report.peers.open = 118
        report.peers.limit = 20_000
        report.peers.accepted = 90_400
        report.peerFrames = 181_000
        report.peerCloses = words(["connection_lost": 90_000, "idle": 270])
        report.http.open = 3
        report.http.limit = 5000
        report.http.accepted = 17_800
        report.httpRequests = 17_900
        report.httpAnswers = [200: 17_400, 400: 480, 429: 20]
        report.mailboxes = Report.Mailboxes()
        report.watches = [.init(name: "home", isSilent: true, lastAnswer: nil, missed: 3, rings: 1)]
        report.limitsHit = words(["peer_frame_rate": 2, "peer_connections": 0])
        report.history = history
        report.phones = 3
        report.lanes[0].figures.probes = 288
        report.lanes[0].figures.lastProbe = report.monotonicNow - .seconds(120)
        for minutes in stride(from: 1420 as Int64, through: 0, by: -10) {
            let isOut = (300..<345).contains(minutes)
            let isSlow = (700..<720).contains(minutes)
            report.timeline.note(
                [
                    isOut
                        ? Check(
                            .onion, level: .failing, state: "no directory accepted its descriptor",
                            advice: "wait")
                        : isSlow
                            ? Check(.onion, level: .warning, state: "slow", advice: "wait")
                            : .ok(.onion, "published")
                ], at: now - minutes * 60_000)
        }
        report.checks =
            [.ok(.onion, report.onion.sentence)] + report.deliveryChecks
        return report
    }

    private static var shared: Report.Shared {
        var shared = Report.Shared()
        shared.shards = 128
        shared.takeOvers = 1
        shared.mayRepeat = 37
        shared.medianCommit = .microseconds(1200)
        shared.longestCommit = .milliseconds(48)
        shared.nodes = [
            SharedNode(
                number: 1, name: "host-a", version: "0.1.0", isHere: true, shards: Shards(0..<128),
                figures: NodeFigures(waiting: 2, oldestAcceptedAt: UnixTime(milliseconds: 1_795_299_999_760)),
                leaseAge: .milliseconds(350)),
            SharedNode(
                number: 2, name: "host-b", version: "0.1.0", shards: Shards(128..<256),
                leaseAge: .milliseconds(1400), clockAhead: .milliseconds(-3)),
        ]
        return shared
    }

    private static var onion: OnionReport {
        var onion = OnionReport()
        onion.address = String(address)
        onion.ports = [9999, 80, 8021]
        onion.state = .published
        onion.sentence = "senders find the onion address in the Tor network"
        if let code = try? QRCode(String(address), level: .medium) {
            let rows = 0..<code.width
            onion.qrCode = Modules(
                width: code.width,
                isDark: rows.flatMap { row in rows.map { code.isDark(row: row, column: $0) } })
        }
        onion.isConnected = true
        onion.version = "0.4.9.8"
        onion.bootstrap = 100
        onion.isNetworkLive = true
        onion.hasCircuit = true
        onion.introductionPoints = 6
        onion.clientCircuits = 41
        onion.lastClient = UnixTime(milliseconds: now - 3000)
        onion.torStarts = 1
        onion.publications = 2
        onion.losses = words(["process": 1])
        onion.uploads = 16
        onion.uploadFailures = words(["UPLOAD_REJECTED": 1])
        onion.lastUpload = UnixTime(milliseconds: now - 2_100_000)
        onion.selfDials = 410
        onion.selfDialFailures = 2
        onion.lastSelfDial = UnixTime(milliseconds: now - 290_000)
        onion.lastSelfDialTime = .milliseconds(840)
        return onion
    }

    /// Works, and something will go wrong.
    static var warned: Report {
        var report = good
        report.outbox.diskAvailable = 600 << 20
        report.lanes[2].isPaused = true
        report.lanes[2].gateway?.lastError = "connection refused"
        report.checks =
            [
                .ok(.onion, report.onion.sentence),
                Check(
                    .certificate(of: "bisq-remote-ios"), level: .warning,
                    state: "the push certificate expires in 23 days", advice: "make a new one"),
            ] + report.deliveryChecks
        return report
    }

    /// A wrong key and no way in.
    static var broken: Report {
        var report = good
        report.onion.state = .lost
        report.onion.sentence =
            "the onion service can't be reached: no directory accepted its descriptor within 180 s"
        report.onion.hasCircuit = false
        report.onion.isNetworkLive = false
        report.lanes[0].blockedReason = "InvalidProviderToken"
        report.lanes[0].blockedAdvice = "key_file, key_id and team_id must belong together"
        report.lanes[0].waiting = 1412
        report.lanes[0].oldestAge = .seconds(3 * 3600)
        report.lanes[0].oldestDueAge = .seconds(3 * 3600)
        report.lanes[0].figures.lastJudgement = report.monotonicNow - .seconds(10_800)
        report.outbox.waiting = 1412
        report.outbox.waitingBytes = 1 << 20
        report.checks =
            [
                Check(
                    .onion, level: .failing, state: report.onion.sentence,
                    advice: "run onionbell doctor")
            ] + report.deliveryChecks
        return report
    }
}

extension Check {
    /// A check that was shown to be well, whatever showed it.
    static func ok(_ kind: CheckKind, _ state: String) -> Check { Check(ok: kind, state) }
}
