import Vectors

@testable import Relay

/// What must hold for several nodes: at each step, in times of calm, and at the end.
extension Cluster {
    /// Within this time after all has come right, what a killed node had is another's.
    private static let lease = ModelDatabase.lease + 1_000_000_000
    /// Within this time after nodes have come and gone, each has an equal part.
    private static let balance: Int64 = 10_000_000_000
    /// Within this time whoever waits for an end that is known has heard it.
    private static let telling: Int64 = 5_000_000_000

    // MARK: Sending

    func checkBegun(_ attempt: World.Attempt, by node: ClusterNode) {
        let sequence = attempt.handle.sequence
        let isEntitled = database.entitles(
            node.process, of: node.number, to: Shards.number(of: attempt.token))
        if !isEntitled, !node.isUnaware {
            fail("\(sequence) is begun by node \(node.number), which does not have its shard")
        }
        let wrong = books.begin(
            sequence, attempt.notification.id, in: node.process, isStray: !isEntitled)
        if let wrong { fail(wrong) }
        if node.isStopping { fail("\(sequence) is sent while its node stops") }
        guard isEntitled else { return }
        for other in nodes where !books.gone.contains(other.process) {
            if other.attempts.contains(where: { $0.token == attempt.token }) {
                fail("two of one device are under way, at nodes \(node.number) and \(other.number)")
            }
        }
        if database.outbox.rows[sequence]?.notification != attempt.notification {
            fail("\(sequence) is not sent as it is stored")
        }
        checkOrder(sequence, attempt.token, node)
    }

    private func checkOrder(_ sequence: Int64, _ token: Digest, _ node: ClusterNode) {
        let seenAt = books.seenAt(sequence, in: node.process) ?? .min
        for row in database.outbox.rows.values
        where row.sequence < sequence && row.token == token
            && !books.hasEnded(row.sequence, in: node.process)
        {
            let acceptedBy = books.acceptedBy[row.sequence]
            if acceptedBy != nil, acceptedBy == books.acceptedBy[sequence] {
                fail("\(sequence) overtakes \(row.sequence), which node \(acceptedBy ?? -1) accepted before")
            }
            if let before = books.seenAt(row.sequence, in: node.process), before < seenAt {
                fail(
                    "\(sequence) overtakes \(row.sequence), which its node had seen before: \(before), \(seenAt), \(row.isShelved) \(row.isLate)"
                )
            }
        }
    }

    // MARK: The store

    /// A commit was made.
    func checkMade(_ commit: ModelCommit) {
        var results = (commit.results ?? [])[...]
        for change in commit.changes {
            switch change {
            case .store(let request):
                guard case .stored(let sequence)? = results.popFirst() else { continue }
                if let wrong = books.store(sequence, request) { fail(wrong) }
                if request.destination.isHere, !mayWrite(request.digests.token, commit) {
                    fail(
                        "\(sequence) is stored by node \(commit.node) for itself, and its shard is another's")
                }
            case .lookUp: _ = results.popFirst()
            case .finish(let sequence, let ending): checkEnd(sequence, ending, commit)
            default: break
            }
        }
    }

    private func mayWrite(_ token: Digest, _ commit: ModelCommit) -> Bool {
        database.owners[Shards.number(of: token)] == commit.node
            || commit.given?.shards.contains(token) ?? false
    }

    private func checkEnd(_ sequence: Int64, _ ending: Ending, _ commit: ModelCommit) {
        guard let row = books.rows[sequence] else { return fail("\(sequence) ends without a row") }
        if let before = books.endings[sequence] {
            if before != ending || !books.repeating.contains(commit.process) {
                fail("\(sequence) ends twice: \(before), \(ending)")
            }
        } else if !mayWrite(row.digests.token, commit) {
            fail(
                "\(sequence) is ended by node \(commit.node), and its shard is another's: \(ending), \(database.owners[Shards.number(of: row.digests.token)] as Any)"
            )
        }
        if ending == .delivered, !books.isTaken(sequence) {
            fail("\(sequence) is called delivered, and no gateway took it")
        }
        // By a clock that is an hour ahead at most.
        if ending == .expired, unixMilliseconds + 3_601_000 < row.expiresAt.milliseconds {
            fail("\(sequence) expired before its time")
        }
        books.ended(sequence, ending, by: commit.process, at: time)
    }

    // MARK: At each step

    func check() {
        if steps % 64 == 0 {
            for node in nodes { node.senders.check(database.outbox, isCommitting: true, fail) }
        }
        guard let calmSince, steps % 8 == 0, !isLate else { return }
        if time - calmSince > Cluster.lease + Cluster.balance { checkParts() }
        if time - calmSince > Cluster.lease + Cluster.telling { checkListeners() }
    }

    private func checkParts() {
        var members = 0
        for node in nodes {
            switch node.state {
            case .running: members += 1
            case .joining: fail("node \(node.number) gets no part")
            case .down: break
            }
        }
        for node in nodes where node.state == .running {
            let count = database.shards(of: node.number).count
            let most = Shards.most(nodes: members)
            if count > most || count < Shards.total - (members - 1) * most {
                fail("node \(node.number) of \(members) has \(count) shards")
            }
            if node.session?.owned != database.shards(of: node.number)
                || node.pipeline.cluster.owned != node.session?.owned
            {
                fail("node \(node.number) does not know what it has")
            }
        }
    }

    /// Whoever waits for an end that is known hears it soon.
    private func checkListeners() {
        for node in nodes {
            for sender in node.senders.listening.values where !sender.isNew && sender.awaitsOutcome {
                for identity in sender.identities {
                    guard let known = database.outbox.identities[identity], known.ending != nil,
                        let endedAt = books.endedAt[known.sequence], time - endedAt > Cluster.telling
                    else { continue }
                    fail("one waits at node \(node.number) for an end that is known: \(known.sequence)")
                }
            }
        }
    }

    // MARK: At the end

    func checkEnd() {
        let rows = database.outbox.rows
        if !rows.isEmpty {
            let least = rows.keys.min() ?? 0
            fail("\(rows.count) are stuck, from \(least) on: \(rows[least]?.waiting as Any)")
        }
        for node in nodes where node.state == .running {
            if node.pipeline.waiting != 0 || node.pipeline.waitingBytes != 0 || node.pipeline.bodyBytes != 0 {
                fail("node \(node.number) counts \(node.pipeline.waiting) of nothing")
            }
            if !node.senders.listening.isEmpty {
                fail("\(node.senders.listening.count) wait for nothing at node \(node.number)")
            }
        }
        for sequence in books.acceptedBy.keys where books.endings[sequence] == nil {
            fail("\(sequence) was accepted, and has no end")
        }
    }
}
