import Clocks

@testable import Relay

/// What senders, outbox and gateways do.
extension World {
    func submit() {
        var submission: Submission
        switch draw(20) {
        case 0..<3 where !submitted.isEmpty:
            // A sender that heard nothing comes again.
            submission = submitted[draw(submitted.count)]
        case 3 where !submitted.isEmpty:
            submission = submitted[draw(submitted.count)]
            submission.content = .bisq(message: fresh())
        case 4..<8:
            submission = originSubmission()
            if submitted.count < 50 { submitted.append(submission) } else { submitted[draw(50)] = submission }
        default:
            let lane = draw(World.lanes.count)
            let device = draw(World.deviceTokens.count)
            let life = [0, 0, 0, 2000, 30_000, 600_000][draw(6)]
            submission = Submission(
                uid: draw(5) == 0 ? nil : "uid\(nextUid)", platform: [.android, .ios, .iosDev][lane],
                deviceToken: World.deviceTokens[device], message: fresh(),
                isUrgent: draw(4) == 0, expiresAt: life == 0 ? 0 : now.unix + .milliseconds(life))
            if lane == 0, draw(6) == 0 { submission.deviceToken = World.alias }
            if submitted.count < 50 { submitted.append(submission) } else { submitted[draw(50)] = submission }
        }
        submission.sender = [nil, SenderID(0), SenderID(1)][draw(3)]
        submission.patience = [.none, .short, .full][draw(3)]
        route(&submission)
        submit(submission, awaitsOutcome: draw(2) == 0)
    }

    /// As the doors of Bisq's forms do: past an app that can deliver nothing for long.
    private func route(_ submission: inout Submission) {
        let patience: Duration = nextUid % 2 == 0 ? .zero : .seconds(600)
        let reason = pipeline.route(
            &submission, standIn: ["ios", "android", ""][Int(nextUid) % 3], patience: patience, at: now)
        guard reason == nil, let id = pipeline.lane(for: submission), let lane = pipeline.lane(of: id),
            let since = pipeline.lanes[lane].block?.since,
            now.monotonic - since >= patience
        else { return }
        fail("nobody is told that \(id) delivers nothing")
    }

    func submit(_ submission: Submission, awaitsOutcome: Bool) {
        var submission = submission
        let sender = submission.sender
        if canary == .letsOneCircuitTakeAll { submission.sender = nil }
        var identities: [Digest] = []
        var last: SubmissionDigests?
        let (waiting, tickets) = (pipeline.waiting, pipeline.commits.tickets.count)
        let submitted = pipeline.submit(submission, from: 0, awaitsOutcome: awaitsOutcome, at: now) {
            let digests = World.digests(submission, to: $0)
            identities.append(digests.identity)
            last = digests
            return canary == .letsTheSecondOvertakeTheFirst ? digests.ofAnotherDevice : digests
        }
        switch submitted {
        case .storing(let reply, let id):
            guard identities.contains(id.identity) else { return fail("\(id) is another one's") }
            let places = pipeline.waiting - waiting
            // One of the same device that went out before may be stored with it.
            let answers = pipeline.commits.tickets[tickets...].count { !atOnce.isListening($0.reply) }
            submissions += answers
            // What takes no place is looked up only.
            lookups += max(0, answers - places)
            senders.submit(
                ModelSenders.Sender(
                    identities: identities, awaitsOutcome: awaitsOutcome, isLookup: places == 0), as: reply,
                fail)
            guard places > 0 else { break }
            let expiresAt = submission.expiresAt == 0 ? .max : submission.expiresAt
            let deadline = now.deadline(expiresAt, within: Validator.longestLifetime.milliseconds)
            if answers == 0, let last {
                if !awaitsOutcome { fail("sent before it is stored, and nobody awaits the outcome") }
                noteAtOnce(submission, last, reply)
            }
            for identity in identities {
                noteSubmission(identity)
                bringers[identity] = sender
                deadlines[identity] = min(deadline, deadlines[identity] ?? .max)
            }
        case .answered(.stored): fail("stored without a commit")
        case .answered: break
        }
        carryOut()
    }

    /// A message that no other submission has.
    func fresh() -> String {
        nextUid += 1
        let digits = String(nextUid)
        return String(repeating: "A", count: 40 - digits.count) + digits
    }

    // MARK: The outbox

    func beginCommit() {
        guard isCommitAsked else { return }
        isCommitAsked = false
        guard var changes = pipeline.beginCommit(at: now) else { return }
        if commit != nil { fail("two commits at a time") }
        if canary == .forgetsTheEndsOfAFailedCommit {
            changes.removeAll {
                if case .finish(let sequence, _) = $0 { swallowed.contains(sequence) } else { false }
            }
        }
        if canary == .forgetsWishesAtACrash {
            changes.removeAll {
                switch $0 {
                case .spare, .lane: true
                default: false
                }
            }
        }
        if canary == .tellsBeforeTheCommit {
            for (index, sender) in senders.listening where sender.isNew {
                senders.hear(ReplyID(index: index), .stored, isLast: false, in: outbox, fail)
            }
        }
        if canary == .forgetsWhatItDelivered {
            changes.removeAll { if case .remember = $0 { true } else { false } }
        }
        books.beginCommit()
        commit = Commit(
            changes: changes, submissions: submissions, lookups: lookups, late: lateStores)
        submissions = 0
        lookups = 0
        carryOut()
    }

    /// The commit takes effect; that it did so is not known yet, and may never be.
    func takeCommit() {
        guard let commit, commit.results == nil else { return }
        let results = outbox.commit(commit.changes) { self.fail($0) }
        commitBeside(commit.changes, as: results)
        self.commit?.results = results
        for case .finish(let sequence, _) in commit.changes { books.makeDurable(sequence) }
        books.takeCommit()
        checkForgotten(commit.changes)
        takeRemembered(commit.changes)
        takeMoves(commit.changes)
        checkLapsed()
        let forgotten = outbox.takeForgotten()
        senders.forget(forgotten)
        for identity in forgotten { settled.remove(NotificationID(high: identity.high, low: identity.low)) }
    }

    func endCommit(succeeds: Bool) {
        guard let commit else { return }
        guard succeeds || commit.results != nil else {
            self.commit = nil
            for case .finish(let sequence, _) in commit.changes { swallowed.insert(sequence) }
            pipeline.commitFailed(.full, at: now)
            return carryOut()
        }
        takeCommit()
        let results = self.commit?.results ?? []
        self.commit = nil
        if results.count != commit.submissions + commit.late {
            fail("\(results.count) results for \(commit.submissions) and \(commit.late)")
        }
        for case .stored(let sequence) in results { accept(sequence) }
        pipeline.committed(results, at: now)
        carryOut()
    }

    // MARK: Effects

    /// Does what the core wants done, as the edge does.
    func carryOut() {
        var effects: [Effect] = []
        pipeline.takeEffects(into: &effects)
        while violation == nil, !effects.isEmpty {
            for effect in effects { run(effect) }
            effects.removeAll()
            pipeline.takeEffects(into: &effects)
        }
    }

    private func run(_ effect: Effect) {
        switch effect {
        case .tell(let reply, let receipt, let isLast):
            if case .busy = receipt { noteBusy(reply) }
            senders.hear(reply, receipt, isLast: isLast, in: outbox, fail)
        case .drop(let reply): senders.drop(reply, fail)
        case .send(let handle, let notification, let lane):
            // As a core that tells the dates of before.
            let stored =
                canary == .tellsTheDatesOfAWrongClock ? outbox.rows[handle.sequence]?.notification : nil
            send(handle, stored ?? notification, by: pipeline.lanes[lane].id)
        case .load(let sequences, let lane):
            if sequences.isEmpty || sequences.count > 64 { fail("\(sequences.count) are to be loaded") }
            let id = pipeline.lanes[lane].id
            if loads.updateValue(sequences, forKey: id) != nil { fail("\(id) loads twice") }
        case .claim(let claim):
            if claims.contains(where: { $0.claim.kind == claim.kind }) {
                fail("\(claim.kind) is claimed twice")
            }
            claims.append((claim, nil))
        case .commitSoon:
            if isCommitAsked || commit != nil { fail("a commit is asked for, and one is there") }
            isCommitAsked = true
        case .stopped: hasStopped = true
        case .ended(let ended): end(ended)
        case .laneOpened(let lane): open(lane)
        case .laneClosed(let lane, _): close(lane)
        case .kept, .blocked, .unblocked, .trouble, .outboxFailed, .outboxRecovered, .clockSet, .divide,
            .shared,
            .received, .neverStored, .refused, .deferred, .committed:
            break
        }
    }

    /// Time has come for what the core wants to do by itself.
    func wake() {
        if pipeline.wakeAt <= now.monotonic { pipeline.wake(at: now, clockOffset: clockOffset) }
        checkWindows()
        carryOut()
    }

    // MARK: Gateways

    /// Gateways take what they have room for, as far as the core says that there may be something.
    func pump() {
        var stirred: [Int] = []
        pipeline.takeStirred(&stirred)
        for lane in stirred { pump(lane) }
    }

    private func pump(_ lane: Int) {
        let id = pipeline.lanes[lane].id
        let room = scale.requestsAtOnce - attempts.count(where: { $0.lane == id })
        guard room > 0, present.contains(id) else { return }
        pipeline.pump(lane, room: room, at: now)
        carryOut()
    }

    private func send(_ handle: Pipeline.Handle, _ notification: Notification, by lane: LaneID) {
        if noteSentAtOnce(handle, notification) {
            return send(handle, notification, by: lane, token: atOnce.ones[handle.sequence]?.token)
        }
        // As it was when it came: the operator may have moved it since.
        let queue = books.waiting[handle.sequence]?.token ?? Digest(high: 0, low: 0)
        let token = Digest(high: queue.high & ~Books.moved, low: queue.low)
        noteSent(handle.sequence)
        checkDropped(handle.sequence)
        if books.first(of: queue) != handle.sequence {
            fail("\(handle.sequence) overtakes one of its device")
        }
        if ids[handle.sequence, default: notification.id] != notification.id {
            fail("another id on a repeat")
        }
        checkDates(handle.sequence, notification)
        ids[handle.sequence] = notification.id
        send(handle, notification, by: lane, token: token)
    }

    private func send(
        _ handle: Pipeline.Handle, _ notification: Notification, by lane: LaneID, token: Digest?
    ) {
        let token = token ?? Digest(high: 0, low: 0)
        if notification.lane != lane { fail("\(handle.sequence) is sent by another lane") }
        if attempts.contains(where: { $0.token == token }) { fail("two of one device are under way") }
        if now.monotonic < books.wishes.spared[token] ?? .longAgo {
            fail("a device is not spared")
        }
        if now.monotonic < books.wishes.paused[lane] ?? .longAgo {
            fail("\(lane) is not left in peace")
        }
        let verdict =
            isCrowd
            ? crowdVerdict(token, in: lane)
            : atOnce.ones[handle.sequence] == nil
                ? keeping(gateway.verdict(for: lane, using: &random), in: lane)
                : gateway.verdict(for: lane, using: &random)
        let attempt = Attempt(
            handle: handle, lane: lane, notification: notification, token: token, verdict: verdict,
            answeredAt: now.monotonic + .milliseconds(draw(300)))
        if verdict.isTakenOnArrival { take(attempt) }
        attempts.append(attempt)
        if !present.contains(lane) { fail("\(lane) has no gateway") }
        if isStopping { fail("\(handle.sequence) is sent while the node stops") }
    }

    func answer() {
        if !attempts.isEmpty { answer(draw(attempts.count)) }
    }

    func answer(_ index: Int) {
        let attempt = attempts.remove(at: index)
        if clockError != 0 || draw(8) == 0 { hearTheTime() }
        defer {
            // The gateway has room again.
            if attempts.count(where: { $0.lane == attempt.lane }) == scale.requestsAtOnce - 1,
                let lane = pipeline.lane(of: attempt.lane)
            {
                pump(lane)
            }
        }
        let verdict = attempt.verdict
        if verdict.isTaken, !verdict.isTakenOnArrival { take(attempt) }
        if verdict.outcome == .accepted { settled.insert(attempt.notification.id) }
        let number = attempt.handle.sequence
        let sequence = atOnce.sentAs.first { $0.value == number }?.key ?? number
        switch verdict.outcome {
        case .deferred(let deferral)
        where deferral.isUnharmed && returns[sequence, default: 0] < Pipeline.longestRunOfReturns:
            returns[sequence, default: 0] += 1
        case .deferred(let deferral):
            returns[sequence] = nil
            let wish = max(.zero, min(deferral.retryAfter ?? .zero, .seconds(86400)))
            let end = now.monotonic + wish
            switch deferral.scope {
            case .device: books.wishes.spare(attempt.token, of: attempt.lane, until: end)
            case .host, .app:
                books.wishes.spare(attempt.token, of: attempt.lane, until: end)
                // What single devices are told is believed of all for a while only: see PoisonWorld.
                guard books.noteWitness(attempt.token, against: attempt.lane), deferral.witnesses == 1
                else { break }
                for lane in World.lanes + World.origins
                where lane == attempt.lane || deferral.scope == .app && lane.app == attempt.lane.app {
                    books.pause(lane, until: end)
                }
            }
        case .blocked:
            returns[sequence] = nil
            _ = books.noteWitness(attempt.token, against: attempt.lane)
        case .accepted, .refused, .tokenDead: books.answered(attempt.token, in: attempt.lane)
        case .kept:
            books.answered(attempt.token, in: attempt.lane)
            hearOfKept(sequence)
        }
        noteAnswer(verdict.outcome, to: attempt.token)
        let heard = canary == .callsTheKeptDelivered && verdict.outcome == .kept ? .accepted : verdict.outcome
        pipeline.attemptEnded(attempt.handle, heard, at: now, using: &random)
        carryOut()
        if case .tokenDead = verdict.outcome, !pipeline.delivery.waiting(of: attempt.token).isEmpty {
            fail("some wait for a dead device")
        }
    }
}
