import Vectors

@testable import Relay

/// What a node asks of the shared store: one thing after the other, each with answers that can get lost.
extension ClusterNode {
    func add(_ request: Request) {
        if requests.isEmpty { requestAt = time + latency }
        requests.append(request)
    }

    private var latency: Int64 {
        guard cluster.calmSince == nil else { return cluster.milliseconds(20) }
        return cluster.milliseconds(cluster.draw(20) == 0 ? 2500 : 30)
    }

    /// The database makes what is on its way to it, also while the node stands still.
    func makeCommit() {
        guard let commit, commit.dueAt <= time, session != nil else { return }
        cluster.make(commit, with: &session!, clock: wallClock)
    }

    /// The store has come further with what it was asked for first.
    func serve() {
        guard let request = requests.first, requestAt <= time, var session else { return }
        requestAt = time + latency
        if let commit {
            guard commit.dueAt <= time else { return }
            return end(commit)
        }
        do throws(ModelSession.Failure) {
            try session.connect(to: &cluster.database, isReachable: isReachable, clock: wallClock)
            switch request {
            case .commit(let changes):
                commit = ModelCommit(
                    changes, of: session, in: &cluster.database.outbox, dueAt: time + latency)
                requestAt = time + latency
                self.session = session
                return
            case .claim(let claim):
                if isAnswerLost(&session) { throw .away }
                let claimed = session.claim(claim, in: &cluster.database)
                endRequest(with: session) { pipeline.claimed(claimed, by: claim, at: now) }
            case .load(let sequences, let lane):
                if isAnswerLost(&session) { throw .away }
                let found = cluster.database.outbox.notifications(sequences)
                endRequest(with: session) {
                    guard let index = pipeline.lane(of: lane) else { return cluster.fail("\(lane) is gone") }
                    pipeline.loaded(found, of: sequences, lane: index, at: now)
                }
            case .divide(let divide):
                let share = try session.divide(divide, in: &cluster.database, clock: wallClock) {
                    (isTrouble(60), isTrouble(60))
                }
                self.session = session
                noteSeen()
                endRequest(with: self.session ?? session) { pipeline.divided(share, at: now) }
            }
        } catch {
            fail(request, error, session)
        }
        cluster.noteOusted()
    }

    private func isTrouble(_ one: Int) -> Bool { cluster.calmSince == nil && cluster.draw(one) == 0 }

    private func isAnswerLost(_ session: inout ModelSession) -> Bool {
        guard isTrouble(80) else { return false }
        session.disconnect()
        return true
    }

    private func endRequest(with session: ModelSession, _ body: () -> Void) {
        self.session = session
        requests.removeFirst()
        body()
        carryOut()
    }

    private func fail(_ request: Request, _ failure: ModelSession.Failure, _ session: ModelSession) {
        endRequest(with: session) {
            switch request {
            case .commit(let changes):
                (isUnaware, isCommitOld) = (false, false)
                for identity in changes.compactMap(\.storedIdentity) { submittedAt[identity] = nil }
                pipeline.commitFailed(failure == .taken ? .taken("taken") : .failed("away"), at: now)
            case .claim(let claim): pipeline.claimFailed(claim, at: now)
            case .load(let sequences, let lane):
                if let index = pipeline.lane(of: lane) {
                    pipeline.loadFailed(sequences, lane: index, at: now)
                }
            case .divide: pipeline.divideFailed(at: now)
            }
        }
    }

    /// Its answer comes, or is lost.
    private func end(_ commit: ModelCommit) {
        guard let request = requests.first, var session else { return }
        self.commit = nil
        if commit.hasCollided, session.isConnected {
            // It is made once more.
            self.session = session
            return
        }
        if !session.isConnected || isTrouble(30) {
            let isKnown = session.lose(
                commit, in: &cluster.database, isReachable: isReachable, clock: wallClock)
            if commit.results != nil, !isKnown { cluster.books.repeating.insert(process) }
            guard isKnown else { return fail(request, .away, session) }
        } else if commit.results == nil {
            session.oust()
            return fail(request, .taken, session)
        }
        session.committed(commit, in: cluster.database.outbox)
        let results = commit.results ?? []
        if !isCommitOld { isUnaware = false }
        isCommitOld = false
        cluster.books.repeating.remove(process)
        for case .stored(let sequence) in results { cluster.books.accept(sequence, by: self) }
        endRequest(with: session) { pipeline.committed(results, at: now) }
    }
}
