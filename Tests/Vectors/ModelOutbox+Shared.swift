import Clocks
import Relay

/// What a store shows and does for a part of all devices: for a process that begins, and for nodes that share it.
extension ModelOutbox {
    /// A new process: nothing is handed out, and a device that has some in the backlog has all there.
    package mutating func restart(_ shards: Shards = .all) {
        claimed = []
        forgetVerdict()
        moveBesideBacklog(where: { shards.contains($0) })
    }

    private mutating func moveBesideBacklog(
        where isMoved: (Digest) -> Bool, evenAlone: Bool = false
    ) {
        for row in rows.values.sorted(by: { $0.sequence < $1.sequence })
        where !row.isShelved && isMoved(row.token) && (evenAlone || shelvedOf[row.token]?.isEmpty == false) {
            rows[row.sequence]?.isShelved = true
            shelvedOf[row.token, default: []].insert(row.sequence)
            let all = shelvedOf[row.token] ?? []
            spare(row.token, until: all.compactMap { rows[$0]?.notBefore }.max() ?? 0)
        }
    }

    package var content: OutboxContent { content(of: .all) }

    package func content(of shards: Shards) -> OutboxContent {
        let own = rows.values.filter { shards.contains($0.token) }.sorted { $0.sequence < $1.sequence }
        var content = OutboxContent(
            waiting: own.filter { !$0.isShelved }.map(\.waiting), backlog: backlog(of: shards),
            deadTokens: deadTokens.filter { shards.contains($0.key) }, lastSequence: lastSequence)
        content.wishes = wishes(of: shards)
        content.lanes = lanes
        for (identity, known) in identities { content.known.insert(identity, acceptedAt: known.acceptedAt) }
        content.clock = clock
        content.shards = shards
        return content
    }

    package func wishes(of shards: Shards) -> [DeviceWish] {
        wishes.values.filter { shards.contains($0.token) }.sorted {
            ($0.token.high, $0.token.low) < ($1.token.high, $1.token.low)
        }
    }

    /// But for what has not been seen yet.
    package func backlog(of shards: Shards) -> [LaneBacklog] {
        ModelOutbox.backlog(rows.values.filter { $0.isShelved && !$0.isLate && shards.contains($0.token) })
    }

    private static func backlog(_ rows: [Row]) -> [LaneBacklog] {
        Dictionary(grouping: rows, by: \.notification.lane).map { lane, rows in
            LaneBacklog(
                lane: lane, waiting: rows.count, bytes: rows.map(\.notification.size).reduce(0, +),
                oldestAcceptedAt: rows.map(\.notification.acceptedAt).min() ?? 0)
        }.sorted { ($0.lane.app, $0.lane.host.name) < ($1.lane.app, $1.lane.host.name) }
    }

    // MARK: Nodes that share it

    package func hasLate(_ shards: Shards) -> Bool {
        rows.values.contains { $0.isLate && shards.contains($0.token) }
    }

    /// Puts all that waits of new shards into the backlog, and counts it.
    package mutating func adopt(_ shards: Shards) -> [LaneBacklog] {
        moveBesideBacklog(where: { shards.contains($0) }, evenAlone: true)
        return backlog(of: shards)
    }

    /// What other nodes have put there waits behind what its device has there.
    package mutating func takeArrivals(_ shards: Shards, most: Int) -> (
        numbers: [Int64], backlog: [LaneBacklog]
    ) {
        let late = rows.values.filter { $0.isLate && shards.contains($0.token) }
            .sorted { $0.sequence < $1.sequence }.prefix(most)
        var seen: [Row] = []
        for var row in late {
            let others = (shelvedOf[row.token] ?? []).compactMap { rows[$0] }.filter { !$0.isLate }
            row.isLate = false
            row.notBefore = others.map(\.notBefore).max() ?? 0
            row.rank = (others.map(\.rank) + [row.rank]).max() ?? 0
            rows[row.sequence] = row
            seen.append(row)
        }
        let arrived = seen.map {
            LaneBacklog(
                lane: $0.notification.lane, waiting: 1, bytes: $0.notification.size,
                oldestAcceptedAt: $0.notification.acceptedAt, device: $0.token)
        }
        return (seen.map(\.sequence), arrived)
    }

    /// What a commit has stored although it seemed to have failed: its node has it no more, and gets it as what others store.
    package mutating func putBack(_ sequences: [Int64]) {
        for sequence in sequences {
            guard var row = rows[sequence] else { continue }
            if !row.isShelved { row.rank = 1 }
            (row.isShelved, row.isLate) = (true, true)
            rows[sequence] = row
            shelvedOf[row.token, default: []].insert(sequence)
        }
    }

    /// Which of these have ended.
    package func ends(of awaited: [Int64]) -> [Int64: Share.End] {
        var found: [Int64: Share.End] = [:]
        for sequence in awaited where rows[sequence] == nil {
            let known = identityOf[sequence].flatMap { identities[$0] }
            found[sequence] = known.map { $0.ending.map { .ended($0) } ?? .kept } ?? .forgotten
        }
        return found
    }

    /// Nothing that is there has a higher number.
    package var highest: Int64 { max(rows.keys.max() ?? 0, identityOf.keys.max() ?? 0) }
}

extension OutboxChange {
    /// Of what it adds.
    package var storedIdentity: Digest? {
        switch self {
        case .store(let request): request.digests.identity
        case .remember(let digests, _): digests.identity
        default: nil
        }
    }
}

extension ModelOutbox.Row {
    package var waiting: WaitingRow {
        WaitingRow(
            sequence: sequence, lane: notification.lane, token: token,
            isUrgent: notification.content.isUrgent, size: notification.size, attempts: attempts,
            acceptedAt: notification.acceptedAt, notBefore: notBefore, expiresAt: notification.expiresAt)
    }
}
