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
        default:
            let lane = draw(World.lanes.count)
            let device = draw(World.deviceTokens.count)
            let life = [0, 0, 0, 2000, 30_000, 600_000][draw(6)]
            submission = Submission(
                uid: draw(5) == 0 ? nil : "uid\(nextUid)", platform: [.android, .ios, .iosDev][lane],
                deviceToken: World.deviceTokens[device], message: fresh(),
                isUrgent: draw(4) == 0, expiresAt: life == 0 ? 0 : now.unixMilliseconds + Int64(life))
            if lane == 0, draw(6) == 0 { submission.deviceToken = World.alias }
            if submitted.count < 50 { submitted.append(submission) } else { submitted[draw(50)] = submission }
        }
        var identities: [Digest] = []
        let awaitsOutcome = draw(2) == 0
        let (waiting, tickets) = (pipeline.waiting, pipeline.tickets.count)
        let submitted = pipeline.submit(submission, from: 0, awaitsOutcome: awaitsOutcome, at: now) {
            let digests = World.digests(submission, to: $0)
            identities.append(digests.identity)
            return canary == .letsTheSecondOvertakeTheFirst ? digests.ofAnotherDevice : digests
        }
        switch submitted {
        case .storing(let reply, let id):
            guard identities.contains(id.identity) else { return fail("\(id) is another one's") }
            let (places, answers) = (pipeline.waiting - waiting, pipeline.tickets.count - tickets)
            submissions += answers
            // What takes no place is looked up only.
            lookups += answers - places
            senders.submit(
                ModelSenders.Sender(
                    identities: identities, awaitsOutcome: awaitsOutcome, isLookup: places == 0), as: reply,
                fail)
            guard places > 0 else { break }
            let expiresAt = submission.expiresAt == 0 ? .max : submission.expiresAt
            let deadline = now.deadline(expiresAt, within: Validator.longestLifetime.milliseconds)
            for identity in identities {
                noteSubmission(identity)
                deadlines[identity] = min(deadline, deadlines[identity] ?? .max)
            }
        case .answered(.stored): fail("stored without a commit")
        case .answered: break
        }
        carryOut()
    }

    /// A message that no other submission has.
    private func fresh() -> String {
        nextUid += 1
        let digits = String(nextUid)
        return String(repeating: "A", count: 40 - digits.count) + digits
    }

    static func digests(_ submission: Submission, to recipient: Recipient) -> SubmissionDigests {
        let token = digest(
            ofToken: recipient.deviceToken.text, in: recipient.lane)
        // Messages differ in their number.
        let number = UInt64(submission.content.message.drop { $0 == "A" }) ?? 0
        let content = Digest(high: number, low: token.high << 8 | token.low)
        let identity = submission.uid.flatMap { UInt64($0.dropFirst(3)) }.map {
            Digest(high: $0, low: recipient.isOfAlias ? token.low : .max)
        }
        return SubmissionDigests(token: token, identity: identity ?? content, content: content)
    }

    private static func digest(ofToken token: String, in lane: LaneID) -> Digest {
        // Devices differ in their second digit.
        Digest(
            high: UInt64(World.lanes.firstIndex(of: lane) ?? 9),
            low: UInt64(token.utf8.dropFirst().first ?? 0))
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
        books.beginCommit()
        commit = Commit(changes: changes, submissions: submissions, lookups: lookups)
        submissions = 0
        lookups = 0
        carryOut()
    }

    /// The commit takes effect; that it did so is not known yet, and may never be.
    func takeCommit() {
        guard let commit, commit.results == nil else { return }
        self.commit?.results = outbox.commit(commit.changes) { self.fail($0) }
        for case .finish(let sequence, _) in commit.changes { books.makeDurable(sequence) }
        books.takeCommit()
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
        if results.count != commit.submissions { fail("\(results.count) results for \(commit.submissions)") }
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
            senders.hear(reply, receipt, isLast: isLast, in: outbox, fail)
        case .drop(let reply): senders.drop(reply, fail)
        case .send(let handle, let notification, let lane):
            send(handle, notification, by: pipeline.lanes[lane].id)
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
        case .laneOpened, .laneClosed, .blocked, .unblocked, .trouble, .outboxFailed, .outboxRecovered,
            .received, .refused, .deferred, .committed:
            break
        }
    }

    /// Time has come for what the core wants to do by itself.
    func wake() {
        guard pipeline.wakeAt <= now.monotonicNanoseconds else { return }
        pipeline.wake(at: now, clockOffset: clockOffset)
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
        let room = World.requestsAtOnce - attempts.count(where: { $0.lane == id })
        guard room > 0, present.contains(id) else { return }
        pipeline.pump(lane, room: room, at: now)
        carryOut()
    }

    private func send(_ handle: Pipeline.Handle, _ notification: Notification, by lane: LaneID) {
        let token = World.digest(ofToken: notification.deviceToken.text, in: lane)
        if notification.lane != lane { fail("\(handle.sequence) is sent by another lane") }
        if books.first(of: token) != handle.sequence {
            fail("\(handle.sequence) overtakes one of its device")
        }
        if attempts.contains(where: { $0.token == token }) { fail("two of one device are under way") }
        if now.monotonicNanoseconds < books.wishes.spared[token] ?? .min { fail("a device is not spared") }
        if now.monotonicNanoseconds < books.wishes.paused[lane] ?? .min {
            fail("\(lane) is not left in peace")
        }
        if ids[handle.sequence, default: notification.id] != notification.id {
            fail("another id on a repeat")
        }
        if outbox.rows[handle.sequence]?.notification != notification { fail("sent is not what was stored") }
        ids[handle.sequence] = notification.id
        let verdict = gateway.verdict(for: lane, using: &random)
        let attempt = Attempt(
            handle: handle, lane: lane, notification: notification, token: token, verdict: verdict)
        if verdict.isTakenOnArrival { take(attempt) }
        attempts.append(attempt)
        if !present.contains(lane) { fail("\(lane) has no gateway") }
        if isStopping { fail("\(handle.sequence) is sent while the node stops") }
    }

    func take(_ attempt: Attempt) {
        if settled.contains(attempt.notification.id) {
            fail("\(attempt.handle.sequence) is taken twice, and the first time was clear")
        }
        gateway.take(attempt.handle.sequence, attempt.notification.id)
    }

    func answer() {
        guard !attempts.isEmpty else { return }
        let attempt = attempts.remove(at: draw(attempts.count))
        defer {
            // The gateway has room again.
            if attempts.count(where: { $0.lane == attempt.lane }) == World.requestsAtOnce - 1,
                let lane = pipeline.lane(of: attempt.lane)
            {
                pump(lane)
            }
        }
        let verdict = attempt.verdict
        if verdict.isTaken, !verdict.isTakenOnArrival { take(attempt) }
        if verdict.outcome == .accepted { settled.insert(attempt.notification.id) }
        let sequence = attempt.handle.sequence
        switch verdict.outcome {
        case .deferred(let deferral)
        where deferral.isUnharmed && returns[sequence, default: 0] < Pipeline.longestRunOfReturns:
            returns[sequence, default: 0] += 1
        case .deferred(let deferral):
            returns[sequence] = nil
            let wish = max(.zero, min(deferral.retryAfter ?? .zero, .seconds(86400)))
            let end = now.monotonicNanoseconds + wish.nanoseconds
            switch deferral.scope {
            case .device: books.wishes.spared[attempt.token] = end
            case .host, .app:
                books.wishes.spared[attempt.token] = end
                guard books.isNewWitness(attempt.token, against: attempt.lane),
                    books.witnesses(against: attempt.lane) >= deferral.witnesses
                else { break }
                for lane in World.lanes
                where lane == attempt.lane || deferral.scope == .app && lane.app == attempt.lane.app {
                    books.pause(lane, until: end)
                }
            }
        case .blocked:
            returns[sequence] = nil
            _ = books.isNewWitness(attempt.token, against: attempt.lane)
        case .accepted, .refused, .tokenDead: books.answered(attempt.token, in: attempt.lane)
        }
        pipeline.attemptEnded(attempt.handle, verdict.outcome, at: now, using: &random)
        carryOut()
        if case .tokenDead = verdict.outcome, !pipeline.delivery.waiting(of: attempt.token).isEmpty {
            fail("some wait for a dead device")
        }
    }

    /// The outbox reads; that is not known yet.
    func takeClaim() {
        guard let index = claims.indices.first(where: { claims[$0].claimed == nil }) else { return }
        claims[index].claimed = outbox.claim(claims[index].claim)
        if canary == .handsOutTheLastFirst { claims[index].claimed?.rows.reverse() }
    }

    func endClaim(succeeds: Bool) {
        guard !claims.isEmpty else { return }
        if succeeds, claims[0].claimed == nil { takeClaim() }
        let (claim, claimed) = claims.removeFirst()
        if let claimed {
            pipeline.claimed(claimed, by: claim, at: now)
        } else {
            pipeline.claimFailed(claim, at: now)
        }
        carryOut()
    }

    func endLoad(succeeds: Bool) {
        guard let (lane, sequences) = loads.min(by: { $0.value[0] < $1.value[0] }) else { return }
        loads[lane] = nil
        guard let index = pipeline.lane(of: lane) else { return fail("\(lane) is gone while it loads") }
        if succeeds {
            pipeline.loaded(outbox.notifications(sequences), of: sequences, lane: index, at: now)
        } else {
            pipeline.loadFailed(sequences, lane: index, at: now)
        }
        carryOut()
    }
}

extension Content {
    fileprivate static func bisq(message: String) -> Content {
        Submission(platform: .android, deviceToken: "", message: message).content
    }

    /// Bisq's message; nothing else is sent here.
    fileprivate var message: String {
        guard case .bisq(let content) = self else { return "" }
        return content.message
    }
}

extension SubmissionDigests {
    /// Each second message of a device seems to be another device's.
    fileprivate var ofAnotherDevice: SubmissionDigests {
        let token = Digest(high: token.high | (content.high & 1) << 32, low: token.low)
        return SubmissionDigests(token: token, identity: identity, content: content)
    }
}
