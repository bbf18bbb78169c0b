import Figures

/// `/metrics`: a report in Prometheus' text format. Each metric is explained in the article `Metrics`.
///
/// A new metric is a member of ``Report``, which `RelayNode+Report` fills in, a line here and a row in that
/// article.
package struct MetricsPage {
    var page = MetricsText()
    let report: Report

    package static func text(of report: Report) -> [UInt8] {
        var page = MetricsPage(report)
        page.addDoors()
        page.addOutbox()
        page.addShared()
        page.addDelivery()
        page.addGateways()
        page.addOnion()
        page.addTor()
        page.addConnections()
        page.addNode()
        return page.page.bytes
    }

    private init(_ report: Report) { self.report = report }

    // MARK: In

    private mutating func addDoors() {
        page.begin(
            "onionbell_submissions_total", .counter, "Notifications that came in, by answer.")
        for door in report.doors {
            let figures = door.figures
            for (result, count) in [
                ("stored", figures.stored), ("unstored", figures.unstored), ("duplicate", figures.duplicates),
                ("busy", figures.busyDevice + figures.busyNode), ("refused", figures.refused.total),
                ("probe", figures.probes),
            ] {
                page.add(count, [("endpoint", door.name), ("result", result)])
            }
        }
        page.begin(
            "onionbell_refusals_total", .counter,
            "Notifications refused before they were stored, by reason code.")
        for door in report.doors {
            for (word, count) in door.figures.refused.sorted {
                page.add(count, [("endpoint", door.name), ("reason", word)])
            }
        }
        page.begin(
            "onionbell_busy_total", .counter, "Notifications rejected for now, by the limit that was hit.")
        for door in report.doors {
            page.add(door.figures.busyDevice, [("endpoint", door.name), ("limit", "device")])
            page.add(door.figures.busyNode, [("endpoint", door.name), ("limit", "node")])
        }
        page.begin("onionbell_receipt_seconds", .histogram, "From a request's last byte to its first answer.")
        for door in report.doors { page.add(door.figures.receiptTime, [("endpoint", door.name)]) }
        page.begin(
            "onionbell_endpoint_events_total", .counter, "Requests to endpoints that carry no notification.")
        for door in report.doors {
            for (word, count) in door.figures.events.sorted {
                page.add(count, [("endpoint", door.name), ("event", word)])
            }
        }
    }

    // MARK: Kept

    private mutating func addOutbox() {
        let outbox = report.outbox
        page.begin("onionbell_outbox_notifications", .gauge, "Stored notifications without an outcome.")
        for lane in report.lanes { page.add(lane.waiting, labels(lane)) }
        page.begin(
            "onionbell_outbox_oldest_age_seconds", .gauge, "Age of the oldest waiting notification; 0: none.")
        for lane in report.lanes { page.add((lane.oldestAge ?? .zero).inSeconds, labels(lane)) }
        page.begin("onionbell_outbox_limit_notifications", .gauge, "Limit for waiting notifications.")
        page.add(outbox.waitingLimit)
        page.begin("onionbell_outbox_bytes", .gauge, "Bytes of waiting messages and tokens.")
        page.add(outbox.waitingBytes)
        page.begin("onionbell_outbox_limit_bytes", .gauge, "Limit for waiting bytes.")
        page.add(outbox.waitingBytesLimit)
        page.begin("onionbell_outbox_failing", .gauge, "1 while nothing can be written to the outbox.")
        page.add(outbox.fault != nil)
        page.begin("onionbell_commits_total", .counter, "Commits of the outbox, by result.")
        page.add(outbox.commits.done, [("result", "ok")])
        page.add(outbox.commits.failed, [("result", "failed")])
        page.begin("onionbell_commit_seconds", .histogram, "Duration of a commit, until it is on disk.")
        page.add(outbox.commits.time)
        page.begin("onionbell_dead_tokens", .gauge, "Device tokens known to be dead.")
        page.add(outbox.deadTokens)
        if let available = outbox.diskAvailable {
            page.begin("onionbell_disk_available_bytes", .gauge, "Free bytes on the outbox's file system.")
            page.add(available)
        }
    }

    // MARK: Out

    private func labels(_ lane: Report.Lane) -> MetricsText.Labels {
        [("app", lane.app), ("environment", lane.environment)]
    }

    private mutating func addDelivery() {
        page.begin(
            "onionbell_outcomes_total", .counter, "Notifications with an outcome, by outcome and reason.")
        for lane in report.lanes {
            let figures = lane.figures
            let outcomes =
                [
                    ("delivered", "", figures.delivered), ("kept", "", figures.kept),
                    ("expired", "Expired", figures.expired),
                ]
                + figures.refused.sorted.map { ("refused", $0.word, $0.count) }
                + figures.tokensDead.sorted.map { ("token_dead", $0.word, $0.count) }
            for (outcome, reason, count) in outcomes {
                page.add(count, labels(lane) + [("outcome", outcome), ("reason", reason)])
            }
        }
        page.begin(
            "onionbell_probes_total", .counter, "Test notifications for nobody that came to the push service."
        )
        for lane in report.lanes { page.add(lane.figures.probes, labels(lane)) }
        page.begin("onionbell_attempts_total", .counter, "Notifications sent to a gateway, with repetitions.")
        for lane in report.lanes { page.add(lane.figures.attempts, labels(lane)) }
        page.begin("onionbell_retries_total", .counter, "Attempts that have to be repeated, by reason.")
        for lane in report.lanes {
            for (word, count) in lane.figures.deferred.sorted {
                page.add(count, labels(lane) + [("reason", word)])
            }
        }
        page.begin(
            "onionbell_delivery_seconds", .histogram,
            "From a request's last byte until accepted by the gateway.")
        for lane in report.lanes { page.add(lane.figures.deliveryTime, labels(lane)) }
        page.begin(
            "onionbell_last_delivery_timestamp_seconds", .gauge,
            "When a gateway last accepted a notification.")
        for lane in report.lanes {
            guard let last = lane.figures.lastDelivery else { continue }
            page.add(Double(report.now.milliseconds) / 1000 - report.age(of: last).inSeconds, labels(lane))
        }
        page.begin(
            "onionbell_lane_blocked", .gauge, "1 while the operator has to fix something for this app.")
        for lane in report.lanes { page.add(lane.blockedReason != nil, labels(lane)) }
        page.begin("onionbell_lane_paused", .gauge, "1 while the gateway is overloaded or down.")
        for lane in report.lanes { page.add(lane.isPaused, labels(lane)) }
    }

    private mutating func addGateways() {
        let gateways = report.lanes.compactMap { lane in lane.gateway.map { (labels(lane), $0) } }
        func each(_ value: KeyPath<GatewayFigures, Int>) {
            for (labels, figures) in gateways { page.add(figures[keyPath: value], labels) }
        }
        func eachReason(_ words: KeyPath<GatewayFigures, WordCounts>) {
            for (labels, figures) in gateways {
                for (word, count) in figures[keyPath: words].sorted {
                    page.add(count, labels + [("reason", word)])
                }
            }
        }
        page.begin("onionbell_gateway_connections", .gauge, "Connections open or being opened.")
        each(\.connections)
        page.begin(
            "onionbell_gateway_connections_opened_total", .counter, "Connections that the node began to open."
        )
        each(\.connectionsOpened)
        page.begin(
            "onionbell_gateway_connection_failures_total", .counter,
            "Connections that failed to open or ended soon without an answer.")
        each(\.connectionFailures)
        page.begin(
            "onionbell_gateway_goaways_total", .counter, "GOAWAY frames, by the gateway's reason code.")
        eachReason(\.goAways)
        page.begin("onionbell_gateway_requests_in_flight", .gauge, "Requests without an answer yet.")
        each(\.inFlight)
        page.begin("onionbell_gateway_requests_total", .counter, "Requests sent.")
        each(\.requests)
        page.begin("onionbell_gateway_timeouts_total", .counter, "Requests without an answer in time.")
        each(\.timeouts)
        page.begin(
            "onionbell_gateway_bad_requests_total", .counter,
            "Answers that blame this program, by the gateway's reason code.")
        eachReason(\.ownFaults)
        page.begin(
            "onionbell_gateway_consecutive_refused_tokens", .gauge,
            "Device tokens refused since the last accepted notification.")
        each(\.refusedTokensInARow)
        page.begin("onionbell_gateway_request_seconds", .histogram, "From sending a request to its answer.")
        for (labels, figures) in gateways { page.add(figures.answerTime, labels) }
        page.begin(
            "onionbell_certificate_expiry_timestamp_seconds", .gauge,
            "When a certificate expires; https: that of the HTTPS listeners.")
        for certificate in report.certificates {
            page.add(Int(certificate.end), [("app", certificate.app)])
        }
    }

    // MARK: Tor

    private mutating func addOnion() {
        let onion = report.onion
        page.begin("onionbell_onion_published", .gauge, "1 while directories have the descriptor, it seems.")
        page.add(onion.state == .published)
        page.begin("onionbell_onion_state", .gauge, "1 for the present state of the onion service.")
        for state in OnionReport.State.allCases {
            page.add(state == onion.state, [("state", state.rawValue)])
        }
        page.begin(
            "onionbell_onion_publications_total", .counter, "How often the node gave the service to tor.")
        page.add(onion.publications)
        page.begin("onionbell_onion_losses_total", .counter, "How often the service was lost, by reason.")
        for (word, count) in onion.losses.sorted { page.add(count, [("reason", word)]) }
        page.begin("onionbell_descriptor_uploads_total", .counter, "Descriptors that a directory accepted.")
        page.add(onion.uploads)
        page.begin(
            "onionbell_descriptor_upload_failures_total", .counter, "Descriptors that a directory refused.")
        for (word, count) in onion.uploadFailures.sorted { page.add(count, [("reason", word)]) }
        page.begin(
            "onionbell_descriptor_last_upload_timestamp_seconds", .gauge,
            "When a directory last accepted a descriptor; 0: never.")
        page.add(Int((onion.lastUpload?.milliseconds ?? 0) / 1000))
        page.begin("onionbell_introduction_points", .gauge, "Introduction points that stand; 0 without tor.")
        page.add(onion.introductionPoints)
        page.begin("onionbell_client_circuits", .gauge, "Circuits of connected clients; 0 without tor.")
        page.add(onion.clientCircuits)
        page.begin("onionbell_self_dials_total", .counter, "Calls of the node to its own address, by result.")
        page.add(onion.selfDials - onion.selfDialFailures, [("result", "ok")])
        page.add(onion.selfDialFailures, [("result", "failed")])
        page.begin(
            "onionbell_self_dial_last_success_timestamp_seconds", .gauge,
            "When such a call was last answered; 0: never.")
        page.add(Int((onion.lastSelfDial?.milliseconds ?? 0) / 1000))
        page.begin("onionbell_self_dial_last_duration_seconds", .gauge, "Duration of the last answered call.")
        page.add((onion.lastSelfDialTime ?? .zero).inSeconds)
    }

    private mutating func addTor() {
        let onion = report.onion
        page.begin("onionbell_tor_connected", .gauge, "1 while tor's control port answers.")
        page.add(onion.isConnected)
        page.begin(
            "onionbell_tor_bootstrap_ratio", .gauge, "Tor's bootstrap progress, 0 to 1; 0 without tor.")
        page.add(Double(onion.bootstrap ?? 0) / 100)
        page.begin("onionbell_tor_circuit_established", .gauge, "1 while tor says that it has a circuit.")
        page.add(onion.hasCircuit ?? false)
        page.begin("onionbell_tor_network_live", .gauge, "1 while tor says that the network lives.")
        page.add(onion.isNetworkLive ?? false)
        page.begin("onionbell_tor_starts_total", .counter, "How often the node started a managed Tor.")
        page.add(onion.torStarts)
        page.begin(
            "onionbell_tor_clock_skew_seconds", .gauge,
            "Seconds by which this machine's clock is ahead, as tor reports it.")
        page.add(onion.clockSkew ?? 0)
        page.begin("onionbell_suspensions_total", .counter, "How often the machine slept.")
        page.add(onion.suspensions)
    }

    // MARK: The node

    private mutating func addConnections() {
        page.begin("onionbell_peer_connections", .gauge, "Connected peers.")
        page.add(report.peers.open)
        page.begin("onionbell_peer_connections_accepted_total", .counter, "Accepted connections of peers.")
        page.add(report.peers.accepted)
        page.begin("onionbell_peer_frames_total", .counter, "Complete frames from peers.")
        page.add(report.peerFrames)
        page.begin("onionbell_peer_disconnects_total", .counter, "Ended connections of peers, by reason.")
        for (word, count) in report.peerCloses.sorted { page.add(count, [("reason", word)]) }
        page.begin("onionbell_http_connections", .gauge, "Connected HTTP clients.")
        page.add(report.http.open)
        page.begin(
            "onionbell_http_connections_accepted_total", .counter, "Accepted connections of HTTP clients.")
        page.add(report.http.accepted)
        page.begin("onionbell_http_requests_total", .counter, "HTTP requests.")
        page.add(report.httpRequests)
        page.begin("onionbell_http_responses_total", .counter, "HTTP answers, by status.")
        for (status, count) in report.httpAnswers.sorted(by: { $0.key < $1.key }) {
            page.add(count, [("code", "\(status)")])
        }
        if let mailboxes = report.mailboxes { add(mailboxes) }
        if !report.watches.isEmpty { addWatches() }
        page.begin(
            "onionbell_connection_buffer_bytes", .gauge, "What the buffers of all connections hold, about.")
        page.add(report.bufferBytes)
        page.begin(
            "onionbell_connection_buffer_limit_bytes", .gauge, "What they may hold.")
        page.add(report.bufferBytesLimit)
        page.begin("onionbell_limits_hit_total", .counter, "How often each limit was hit.")
        for (word, count) in report.limitsHit.sorted { page.add(count, [("limit", word)]) }
    }

    private mutating func addWatches() {
        page.begin("onionbell_watch_silent", .gauge, "1 while a watched Bisq is silent.")
        for watch in report.watches { page.add(watch.isSilent, [("watch", watch.name)]) }
        page.begin("onionbell_watch_missed", .gauge, "Times in a row that it did not answer.")
        for watch in report.watches { page.add(watch.missed, [("watch", watch.name)]) }
        page.begin("onionbell_watch_rings_total", .counter, "Times that its owner was rung.")
        for watch in report.watches { page.add(watch.rings, [("watch", watch.name)]) }
    }

    private mutating func add(_ mailboxes: Report.Mailboxes) {
        for (name, help, value) in [
            ("onionbell_mailboxes", "Mailboxes of this node.", mailboxes.mailboxes),
            ("onionbell_mailbox_push_topics", "Topics of UnifiedPush.", mailboxes.pushTopics),
            ("onionbell_mailbox_messages", "Messages in all of them.", mailboxes.messages),
            ("onionbell_mailbox_bytes", "Bytes of these messages.", mailboxes.bytes),
            ("onionbell_mailbox_readers", "Connected readers with a token.", mailboxes.readers),
            ("onionbell_mailbox_readers_limit", "How many there may be.", mailboxes.readersLimit),
            ("onionbell_mailbox_strangers", "Connected readers without a token.", mailboxes.strangers),
        ] {
            page.begin(name, .gauge, help)
            page.add(value)
        }
        page.begin(
            "onionbell_mailbox_refused_total", .counter, "Refused readers, and pushes to topics of nobody.")
        page.add(mailboxes.refused)
    }

    private mutating func addNode() {
        page.begin(
            "onionbell_check_level", .gauge, "Level of each check of /healthz: 0 ok, 1 warning, 2 failing.")
        for check in report.checks {
            page.add(Check.Level.allCases.firstIndex(of: check.level)!, [("check", check.name)])
        }
        page.begin(
            "onionbell_loop_lag_seconds", .gauge, "How late a timer was at worst, within the last minute.")
        page.add(report.loop.lag.inSeconds)
        page.begin(
            "onionbell_loop_longest_turn_seconds", .gauge,
            "How long the event loop looked at nothing new at worst, within the last minute.")
        page.add(report.loop.longestTurn.inSeconds)
        page.begin("onionbell_build_info", .gauge, "Always 1, with the version of the program.")
        page.add(1, [("version", report.version)])
        let process = report.process
        page.begin("process_start_time_seconds", .gauge, "When the process started.")
        page.add(Double(process.startedAt.milliseconds) / 1000)
        page.begin("process_cpu_seconds_total", .counter, "Processor time of the process.")
        page.add(process.processorTime.inSeconds)
        page.begin("process_resident_memory_bytes", .gauge, "Resident memory.")
        page.add(process.residentBytes)
        page.begin("process_virtual_memory_bytes", .gauge, "Virtual memory.")
        page.add(process.virtualBytes)
        page.begin("process_open_fds", .gauge, "Open file descriptors.")
        page.add(process.openFiles)
        page.begin("process_max_fds", .gauge, "Limit for open file descriptors.")
        page.add(process.openFilesLimit)
    }
}
