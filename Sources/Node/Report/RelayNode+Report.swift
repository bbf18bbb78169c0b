import Clocks
import Dispatching
import Doors
import Encodings
import Figures
import Overview
import Processes
import QR
import Reactor
import Relay
import Tor
import Wire

/// The report to the operator: everything is asked where it is counted, when somebody looks.
extension RelayNode {
    var report: Report {
        var report = figures
        report.onion = onionReport
        report.history = history.upToNow()
        report.timeline = history.timeline
        report.checks = checks(of: report)
        return report
    }

    /// The checks of all that is to be well.
    var checks: [Check] { checks(of: figures) }

    private func checks(of figures: Report) -> [Check] {
        onionChecks(at: figures.awake) + figures.deliveryChecks
            + certificateChecks(at: figures.now.milliseconds / 1000)
    }

    /// All that is asked of the node's parts but what only somebody who looks wants to know.
    private var figures: Report {
        var report = Report()
        report.version = programVersion
        report.now = EventLoop.unixTime
        report.monotonicNow = EventLoop.now
        report.begun = begun
        report.awake = EventLoop.awake
        report.restart = unserved.map { .init(unserved: $0, waited: Listener.foundWaiting) }
        report.settings = settingsNews
        report.settings.startFault = host.settingsFault
        report.settings.note(.peers, refused: invitations.fault)
        report.settings.note(.consoleClients, refused: console?.onion?.fault)
        report.settings.note(.phoneBook, refused: store.phoneBook.fault)
        report.process = ProcessFigures.read()
        report.loop = loopWatch.figures
        report.outbox = outboxReport
        report.shared = sharedReport(at: report)
        report.hasNobodyToRing = settings.apps.allSatisfy { !$0.hasCredentials }
        report.doors = dispatcher.doors.map { .init(name: $0.name, figures: $0.figures) }
        report.lanes = laneReports(at: report.monotonicNow)
        report.certificates = certificates.ends.map { .init(app: $0.app, end: $0.end) }
        addConnections(to: &report)
        report.phones = store.phoneBook.value.phones.count
        return report
    }

    // MARK: Kept and delivered

    private var dispatcher: Dispatcher { store.dispatcher }

    private var outboxReport: Report.Outbox {
        var outbox = Report.Outbox()
        outbox.diskAvailable = disk.available
        outbox.diskSilence = disk.silence
        outbox.diskAnsweredAt = disk.answeredAt
        outbox.waiting = dispatcher.waiting
        outbox.waitingBytes = dispatcher.waitingBytes
        outbox.waitingLimit = dispatcher.limits.waiting
        outbox.waitingBytesLimit = dispatcher.limits.waitingBytes
        outbox.fault = dispatcher.outboxFault?.description
        outbox.advice = dispatcher.outboxFault?.advice ?? ""
        outbox.commits = dispatcher.commitFigures
        outbox.deadTokens = dispatcher.deadTokens
        outbox.wasMadeAnew = store.wasMadeAnew
        return outbox
    }

    /// Returns the lanes that are configured, then those for which something is left from before. Lanes to
    /// origins are reported together, as their service shows them.
    private func laneReports(at now: MonotonicTime) -> [Report.Lane] {
        var reports = settings.apps.flatMap { app -> [Report.Lane] in
            app.settings.hosts.map { Report.Lane(app: app.name, host: $0, service: app.service.name) }
        }
        let overview = dispatcher.overview
        // Each is looked for once: there may be hundreds of apps.
        var others = overview
        for report in reports { others[report.laneID] = nil }
        others = others.filter { $1.queue.waiting > 0 || $1.gateway != nil }
        let apps = Dictionary(settings.apps.map { (ByteText($0.name), $0) }) { first, _ in first }
        for lane in others.keys.sorted(by: { ($0.app, $0.host.name) < ($1.app, $1.host.name) }) {
            let isOrigin = lane.host != .production && lane.host != .sandbox
            let app = isOrigin ? apps[ByteText(lane.app)] : nil
            reports.append(Report.Lane(app: lane.app, host: lane.host, service: app?.service.name))
        }
        func advice(for reason: String, of app: String) -> String? {
            apps[ByteText(app)].flatMap { type(of: $0.settings).advice(for: reason) }
        }
        let faults = credentials.faults
        for index in reports.indices {
            reports[index].credentialFault = faults[ByteText(reports[index].app)]
            guard let lane = overview[reports[index].laneID] else { continue }
            reports[index].gateway = lane.gateway
            reports[index].figures = lane.figures
            reports[index].waiting = lane.queue.waiting
            reports[index].oldestAge = lane.queue.oldestSubmittedAt.map { max(.zero, now - $0) }
            reports[index].oldestDueAge = lane.queue.oldestDueSubmittedAt.map { max(.zero, now - $0) }
            reports[index].blockedReason = lane.blockedReason
            reports[index].blockedAdvice = reports[index].fault.flatMap {
                advice(for: $0, of: reports[index].app)
            }
            reports[index].wishAdvice = lane.gateway?.wish.flatMap {
                advice(for: $0.reason, of: reports[index].app)
            }
            reports[index].errorAdvice = lane.gateway?.lastError.flatMap {
                advice(for: $0, of: reports[index].app)
            }
            reports[index].isPaused = lane.isPaused
            reports[index].fullAge = lane.fullAt.map { max(.zero, now - $0) }
        }
        return reports
    }

    private func certificateChecks(at now: Int64) -> [Check] {
        let faults = credentials.faults
        return certificates.ends.map { app, end in
            CertificateAlarm.check(
                of: app, end: end, now: now, fault: faults[ByteText(app)],
                shown: ProofAge(of: doors.listeners.provenAt, since: begun, at: EventLoop.awake))
        }
    }

    private func addConnections(to report: inout Report) {
        let peers = doors.peers
        report.peers.open = peers.openConnections
        report.peers.limit = settings.peers.connections
        report.peers.accepted = peers.counters.connections
        report.peerFrames = peers.counters.frames
        for (reason, count) in peers.counters.closed { report.peerCloses.add(reason.rawValue, count) }
        report.http.limit = settings.httpServers * settings.http.connections
        for server in doors.listeners.servers {
            report.http.open += server.openConnections
            report.http.accepted += server.counters.connections
            report.httpRequests += server.counters.requests
            report.httpAnswers.merge(server.counters.answers, uniquingKeysWith: +)
            report.places.append(
                .init(
                    "http", open: server.openConnections, limit: settings.http.connections,
                    heldByFew: server.openConnections(heldBy: Report.Places.few)))
        }
        report.places.append(
            .init(
                "peers", open: peers.openConnections, limit: settings.peers.connections,
                heldByFew: peers.openConnections(heldBy: Report.Places.few)))
        report.watches = watchman.report
        report.bufferBytes = doors.room.used
        report.bufferBytesLimit = settings.bufferBytes
        report.closedCircuits = doors.circuitsClosed(at: report.monotonicNow)
        report.lostPeers = peers.lostWithinAMinute
        addLimits(to: &report)
        for door in doors.others { door.addFigures(&report) }
    }

    /// Adds how often each limit was hit. The article `Metrics` explains the limits.
    private func addLimits(to report: inout Report) {
        let (peers, circuits, listeners) = (doors.peers.counters, doors.circuits.counters, doors.listeners)
        let servers = listeners.servers.map(\.counters)
        func answers(_ status: Int) -> Int { servers.reduce(0) { $0 + $1.answers[status, default: 0] } }
        let hits: [(String, Int)] = [
            ("peer_connections", peers.closed[.tooManyConnections] ?? 0),
            ("peer_frame_rate", peers.closed[.throttleExceeded] ?? 0),
            ("peer_frame_bytes", peers.closed[.messageTooLarge] ?? 0),
            ("peer_frame_deadline", peers.closed[.frameTimeout] ?? 0),
            ("peer_idle", peers.closed[.idle] ?? 0),
            ("peer_slow_reader", peers.closed[.slowReader] ?? 0),
            ("peer_unanswered", peers.heldBack),
            ("circuit_connections", circuits.refusedConnections),
            ("circuit_throttled", circuits.slowed),
            ("circuit_strikes", circuits.strikes),
            ("circuit_closed", circuits.closed),
            ("circuit_unknown", circuits.withoutLine),
            ("http_connections", listeners.servers.reduce(0) { $0 + $1.evictedConnections }),
            ("https_address_connections", listeners.addresses.counters.refusedConnections),
            ("https_address_handshakes", servers.reduce(0) { $0 + $1.refusedHandshakes }),
            ("https_handshakes", servers.reduce(0) { $0 + $1.delayedHandshakes }),
            ("connection_buffers", doors.room.closed),
            ("http_request_deadline", answers(408)),
            ("http_body_bytes", answers(413)),
            ("http_head_bytes", answers(414) + answers(431)),
        ]
        for (limit, count) in hits { report.limitsHit.add(limit, count) }
        for (name, doors) in listeners.limited {
            report.limitsHit.add("endpoint_\(name)", doors.reduce(0) { $0 + $1.turnedAway })
        }
    }

    // MARK: Tor

    private func onionChecks(at instant: MonotonicTime) -> [Check] {
        OnionHealth(
            state: presence.state, figures: presence.figures, isCutOff: presence.isCutOff,
            times: .init(settings), begun: begun, instant: instant, now: EventLoop.unixTime,
            clockOffset: EventLoop.wallClockOffset,
            bridgeFault: presence.state.isPublished ? nil : transports.faults.first
        ).checks
    }

    private var onionReport: OnionReport {
        var report = OnionReport()
        report.address = settings.publicAddress(orOwn: presence.address)
        report.ownAddress = presence.address?.description
        report.ports = doors.ports.map(\.number)
        report.invited = invitations.count
        report.state = OnionReport.State(presence.state)
        report.sentence = presence.state.description
        report.qrCode = report.address.flatMap(QRCode.modules)
        report.take(presence.figures)
        return report
    }
}

extension Report.Lane {
    fileprivate var laneID: LaneID { LaneID(app: app, host: host) }
}

extension QRCode {
    fileprivate static func modules(of text: String) -> Modules? {
        guard let code = try? QRCode(text, level: .medium) else { return nil }
        let rows = 0..<code.width
        return Modules(
            width: code.width,
            isDark: rows.flatMap { row in rows.map { code.isDark(row: row, column: $0) } })
    }
}

extension OnionReport.State {
    fileprivate init(_ state: OnionState) {
        self =
            switch state {
            case .connecting: .connecting
            case .bootstrapping: .bootstrapping
            case .publishing: .publishing
            case .published: .published
            case .lost: .lost
            case .stopped: .stopped
            }
    }
}

extension OnionReport {
    mutating func take(_ figures: TorFigures) {
        isConnected = figures.isConnected
        version = figures.version
        if isConnected {
            // What a tor said that is gone says nothing of now.
            bootstrap = figures.bootstrap?.progress
            isNetworkLive = figures.isNetworkLive
            hasCircuit = figures.hasCircuit
            introductionPoints = figures.introductionPoints
            clientCircuits = figures.clientCircuits
        }
        clockSkew = figures.clockSkew?.seconds(at: EventLoop.wallClockOffset)
        lastClient = figures.lastClient
        torStarts = figures.torStarts
        publications = figures.publications
        for (word, count) in figures.losses { losses.add(word, count) }
        suspensions = figures.suspensions
        uploads = figures.uploads
        for (word, count) in figures.uploadFailures { uploadFailures.add(word, count) }
        lastUpload = figures.lastUpload
        selfDials = figures.selfDial.dials
        selfDialFailures = figures.selfDial.failures
        lastSelfDial = figures.selfDial.lastSuccess
        lastSelfDialTime = figures.selfDial.lastDuration
        selfDialFailure = figures.selfDial.lastFailure
    }
}
