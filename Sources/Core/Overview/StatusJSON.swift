import Clocks
import Figures
import JSONCoding

/// `/status.json`: the report for scripts. Times are seconds, ages in seconds, sizes bytes; `null`: never or not known.
package enum StatusJSON {
    package static func bytes(of report: Report) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(json: json(of: report))
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private static func json(of report: Report) -> JSON {
        .object([
            "version": .string(report.version),
            "time": seconds(report.now.milliseconds),
            "uptime": age(report.uptime),
            "restart": report.restart.map {
                .object(["unserved": age($0.unserved), "waited": count($0.waited)])
            } ?? .null,
            "status": .string(report.verdict.level.rawValue),
            "checks": .array(report.checks.map(check)),
            "restart_due": .array(
                report.settings.restartDue.prefix(SettingsNews.mostNamed).map { .string($0) }),
            "onion": onion(report),
            "mailboxes": report.mailboxes.map(mailboxes) ?? .null, "outbox": outbox(report),
            "database": report.shared.map { shared($0, in: report) } ?? .null,
            "watches": .array(report.watches.map(watch)),
            "last_hour": totals(report.history.sum(ofLast: 60)),
            "last_day": totals(report.history.sum(ofLast: History.minutes)),
            "endpoints": .array(report.doors.map(door)),
            "gateways": .array(report.lanes.map { lane($0, in: report) }),
            "connections": .object([
                "peers": count(report.peers.open), "http": count(report.http.open),
            ]),
            "limits_hit": words(report.limitsHit),
            "loop": .object([
                "lag": age(report.loop.lag), "longest_turn": age(report.loop.longestTurn),
            ]),
            "process": .object([
                "memory": count(report.process.residentBytes),
                "open_files": count(report.process.openFiles),
                "processor_time": age(report.process.processorTime),
            ]),
        ])
    }

    private static func check(_ check: Check) -> JSON {
        .object([
            "name": .string(check.name), "level": .string(check.level.rawValue),
            "state": .string(check.state), "advice": text(check.advice),
        ])
    }

    private static func onion(_ report: Report) -> JSON {
        let onion = report.onion
        return .object([
            "address": text(onion.address),
            "own_address": text(onion.ownAddress),
            "invited": onion.invited.map(count) ?? .null,
            "ports": .array(onion.ports.map { count(Int($0)) }),
            "state": .string(onion.state.rawValue),
            "sentence": .string(onion.sentence),
            "tor_connected": .bool(onion.isConnected),
            "tor_version": text(onion.version),
            "bootstrap": onion.bootstrap.map(count) ?? .null,
            "descriptor_uploads": count(onion.uploads),
            "last_upload": seconds(onion.lastUpload?.milliseconds),
            "introduction_points": count(onion.introductionPoints),
            "client_circuits": count(onion.clientCircuits),
            "last_reached": seconds(onion.lastSelfDial?.milliseconds),
        ])
    }

    private static func mailboxes(_ mailboxes: Report.Mailboxes) -> JSON {
        .object([
            "mailboxes": count(mailboxes.mailboxes), "push_topics": count(mailboxes.pushTopics),
            "messages": count(mailboxes.messages), "bytes": count(mailboxes.bytes),
            "readers": count(mailboxes.readers), "strangers": count(mailboxes.strangers),
        ])
    }

    private static func watch(_ watch: Report.Watch) -> JSON {
        .object([
            "name": .string(watch.name), "silent": .bool(watch.isSilent),
            "last_answer": seconds(watch.lastAnswer?.milliseconds), "missed": count(watch.missed),
            "rings": count(watch.rings),
        ])
    }

    private static func outbox(_ report: Report) -> JSON {
        .object([
            "waiting": count(report.outbox.waiting),
            "waiting_limit": count(report.outbox.waitingLimit),
            "bytes": count(report.outbox.waitingBytes),
            "oldest_age": age(report.oldestAge),
            "error": text(report.outbox.fault),
            "disk_available": report.outbox.diskAvailable.map(count) ?? .null,
            "commit_p50": quantile(report.outbox.commits.time, 0.5),
            "commit_p99": quantile(report.outbox.commits.time, 0.99),
        ])
    }

    private static func shared(_ shared: Report.Shared, in report: Report) -> JSON {
        .object([
            "shards": count(shared.shards), "shards_without_owner": count(shared.withoutOwner),
            "nodes_alive": count(shared.alive), "take_overs": count(shared.takeOvers),
            "possible_repetitions": count(shared.mayRepeat),
            "commit_median": age(shared.medianCommit), "commit_longest": age(shared.longestCommit),
            "nodes": .array(
                shared.nodes.map { node in
                    .object([
                        "number": count(node.number), "name": .string(node.name),
                        "version": .string(node.version), "here": .bool(node.isHere),
                        "alive": .bool(node.isAlive), "shards": count(node.shards.count),
                        "waiting": count(node.waiting.waiting), "oldest_age": age(report.oldestAge(of: node)),
                        "lease_age": age(node.leaseAge), "clock_ahead": age(node.clockAhead),
                    ])
                }),
        ])
    }

    private static func totals(_ totals: History.Totals) -> JSON {
        .object([
            "stored": count(totals.stored), "delivered": count(totals.delivered),
            "expired": count(totals.expired), "busy": count(totals.busy),
            "refused": words(totals.refused),
            "help": .object(
                JSON.Object(totals.refused.counts.map { ($0.key, .string(RefusalHelp.text(of: $0.key))) })),
        ])
    }

    private static func door(_ door: Report.Door) -> JSON {
        .object([
            "name": .string(door.name), "stored": count(door.figures.stored),
            "unstored": count(door.figures.unstored),
            "duplicates": count(door.figures.duplicates),
            "busy": count(door.figures.busyDevice + door.figures.busyNode),
            "refused": words(door.figures.refused),
            "receipt_p50": quantile(door.figures.receiptTime, 0.5),
            "receipt_p99": quantile(door.figures.receiptTime, 0.99),
        ])
    }

    private static func lane(_ lane: Report.Lane, in report: Report) -> JSON {
        let figures = lane.figures
        let certificate = report.certificates.first { $0.app == lane.app }
        let members: JSON.Object = [
            "app": .string(lane.app), "environment": .string(lane.environment),
            "service": text(lane.service),
            "has_credentials": .bool(lane.gateway != nil),
            "blocked": text(lane.blockedReason),
            "paused": .bool(lane.isPaused),
            "wish": text(lane.gateway?.wish?.reason),
            "wish_left": age(
                lane.gateway?.wish.map { max(.zero, $0.until - report.monotonicNow) }),
            "waiting": count(lane.waiting),
            "oldest_age": age(lane.oldestAge),
            "delivered": count(figures.delivered),
            "expired": count(figures.expired),
            "refused": words(figures.refused), "tokens_dead": words(figures.tokensDead),
            "probes": count(figures.probes),
            "since_last_probe": age(figures.lastProbe.map { report.age(of: $0) }),
            "attempts": count(figures.attempts), "retries": words(figures.deferred),
            "since_last_delivery": age(figures.lastDelivery.map { report.age(of: $0) }),
            "delivery_p50": quantile(figures.deliveryTime, 0.5),
            "delivery_p99": quantile(figures.deliveryTime, 0.99),
            "connections": count(lane.gateway?.connections ?? 0),
            "in_flight": count(lane.gateway?.inFlight ?? 0),
            "request_p50": quantile(lane.gateway?.answerTime, 0.5),
            "request_p99": quantile(lane.gateway?.answerTime, 0.99),
            "last_error": text(lane.gateway?.lastError),
            "certificate_end": certificate.map { .integer($0.end) } ?? .null,
        ]
        return .object(members)
    }

    private static func words(_ words: WordCounts) -> JSON {
        .object(JSON.Object(words.counts.map { ($0.key, count($0.value)) }))
    }
    private static func count(_ count: Int) -> JSON { .integer(Int64(count)) }
    private static func text(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }
    private static func seconds(_ milliseconds: Int64?) -> JSON {
        milliseconds.map { .integer($0 / 1000) } ?? .null
    }
    private static func age(_ time: Duration?) -> JSON { time.map { .number($0.inSeconds) } ?? .null }
    private static func quantile(_ times: Histogram?, _ part: Double) -> JSON {
        times?.quantile(part).map { .number(Double($0) / 1e9) } ?? .null
    }
}
