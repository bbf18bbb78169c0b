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
    /// Takes the figures of the report. What takes longer with each app is for who puts the report together.
    func takeReport() -> ReportDesk.Taken {
        let figures = figures
        let onionChecks = onionChecks(at: figures.awake)
        let lanes = LaneReports(
            lanes: dispatcher.lanesOfNow, apps: settings.apps, faults: credentials.faults)
        let certificate = doors.listeners.certificateEnd
        let shown = ProofAge(of: doors.listeners.provenAt, since: begun, at: figures.awake)
        return {
            var report = figures
            report.lanes = lanes.reports(at: report.monotonicNow)
            report.certificates = report.certificatesOfApps
            if let certificate { report.certificates.append(.init(app: CheckKind.https, end: certificate)) }
            report.checks =
                onionChecks + report.deliveryChecks
                + report.certificates.map {
                    CertificateAlarm.check(
                        of: $0.app, end: $0.end, now: report.now.milliseconds / 1000,
                        fault: lanes.faults[ByteText($0.app)], shown: shown)
                }
            return report
        }
    }

    private var figures: Report {
        var report = Report()
        report.onion = onionReport
        report.history = history.upToNow()
        report.timeline = history.timeline
        report.version = programVersion
        report.now = EventLoop.unixTime
        report.monotonicNow = EventLoop.now
        report.begun = begun
        report.awake = EventLoop.awake
        report.restart = unserved.map { .init(unserved: $0, waited: Listener.foundWaiting) }
        report.settings = settingsNews
        report.settings.startFault = host.settingsFault
        report.settings.note(.peers, refused: invitations.fault)
        for companion in companions { companion.addFigures(to: &report) }
        report.settings.note(.phoneBook, refused: store.phoneBook.fault)
        report.process = ProcessFigures.read()
        report.loop = loopWatch.figures
        report.outbox = outboxReport
        report.shared = sharedReport(at: report)
        report.hasNobodyToRing = settings.apps.allSatisfy { !$0.hasCredentials }
        report.doors = dispatcher.doors.map { .init(name: $0.name, figures: $0.figures) }
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
