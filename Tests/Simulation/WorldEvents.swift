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
            if submitted.count < 50 { submitted.append(submission) } else { submitted[draw(50)] = submission }
        }
        switch pipeline.submit(submission, at: now, digests: { World.digests(submission, to: $0) }) {
        case .storing(let handle):
            tickets.append(handle)
            let expiresAt = submission.expiresAt == 0 ? .max : submission.expiresAt
            deadlines[handle.sequence] = now.deadline(
                expiresAt, within: Validator.longestLifetime.milliseconds)
        case .answered(.stored): fail("stored without a commit")
        case .answered: break
        }
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
        let identity = submission.uid.flatMap { UInt64($0.dropFirst(3)) }.map { Digest(high: $0, low: .max) }
        return SubmissionDigests(token: token, identity: identity ?? content, content: content)
    }

    private static func digest(ofToken token: String, in lane: LaneID) -> Digest {
        // Devices differ in their second digit.
        Digest(
            high: UInt64(World.lanes.firstIndex(of: lane) ?? 9),
            low: UInt64(token.utf8.dropFirst().first ?? 0))
    }

    func beginCommit() {
        guard commit == nil, pipeline.hasChanges else { return }
        commit = Commit(changes: pipeline.takeChanges(), tickets: tickets)
        tickets = []
    }

    func endCommit(succeeds: Bool) {
        guard let commit else { return }
        guard succeeds else {
            self.commit = nil
            pipeline.putBack(commit.changes)
            for ticket in commit.tickets { pipeline.storeFailed(ticket) }
            return
        }
        applyCommit(tellsResults: true)
    }

    func applyCommit(tellsResults: Bool) {
        guard let commit else { return }
        self.commit = nil
        let results = outbox.commit(commit.changes) { self.fail($0) }
        for case .finish(let sequence, _) in commit.changes { books.makeDurable(sequence) }
        for identity in outbox.takeForgotten() {
            settled.remove(NotificationID(high: identity.high, low: identity.low))
        }
        guard tellsResults else { return }
        if results.count != commit.tickets.count {
            fail("\(results.count) results for \(commit.tickets.count)")
        }
        for (ticket, result) in zip(commit.tickets, results) {
            if result == .stored { accept(ticket.sequence) }
            let receipt = pipeline.stored(ticket, result: result, at: now)
            switch (result, receipt) {
            case (.stored, .stored), (.conflict, .ended(.refused(reason: .duplicateUid, detail: nil))): break
            case (.stored, .ended(let ending)): end([(ticket.sequence, ending)])
            case (.alreadyWaiting(let first), .stored):
                if !pipeline.isWaiting(first), pipeline.unsavedEnding(of: first) == nil {
                    fail("nobody knows what became of \(first)")
                }
            case (.alreadyEnded(let known), .ended(let told)) where known == told: break
            default: fail("\(result) is told as \(receipt)")
            }
        }
    }

    /// Sends what a lane has, as far as its connection takes it.
    func pump(_ id: LaneID) {
        guard loads[id] == nil else { return }
        let lane = pipeline.lane(id)
        while attempts.count(where: { $0.lane == id }) < World.requestsAtOnce {
            switch pipeline.nextStep(in: lane, at: now) {
            case .send(let handle, let notification): send(handle, notification, by: id)
            case .load(let sequences):
                if sequences.isEmpty || sequences.count > 64 { fail("\(sequences.count) are to be loaded") }
                loads[id] = sequences
                return
            case .ended(let ended): end([ended])
            case .wait(let until):
                if until <= now.monotonicNanoseconds { fail("\(id) waits for the past") }
                return
            case .idle: return
            }
        }
    }

    private func send(_ handle: Pipeline.Handle, _ notification: Notification, by lane: LaneID) {
        let token = World.digest(ofToken: notification.deviceToken.text, in: lane)
        if notification.lane != lane { fail("\(handle.sequence) is sent by another lane") }
        if books.first(of: token) != handle.sequence {
            fail("\(handle.sequence) overtakes one of its device")
        }
        if attempts.contains(where: { $0.token == token }) { fail("two of one device are under way") }
        if now.monotonicNanoseconds < books.spared[token] ?? .min { fail("a device is not spared") }
        if now.monotonicNanoseconds < books.paused[lane] ?? .min { fail("\(lane) is not left in peace") }
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
        let presentLane = pipeline.lanes[pipeline.lane(lane)]
        if presentLane.condition == .trying, presentLane.inFlight != 1 { fail("\(lane) tries with many") }
        if presentLane.inFlight != attempts.count(where: { $0.lane == lane }) { fail("\(lane) miscounts") }
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
        let verdict = attempt.verdict
        if verdict.isTaken, !verdict.isTakenOnArrival { take(attempt) }
        if verdict.outcome == .accepted { settled.insert(attempt.notification.id) }
        switch verdict.outcome {
        case .deferred(let deferral) where !deferral.isUnharmed:
            let wish = max(.zero, min(deferral.retryAfter ?? .zero, .seconds(86400)))
            let end = now.monotonicNanoseconds + wish.nanoseconds
            switch deferral.scope {
            case .device: books.spared[attempt.token] = end
            case .host, .app:
                for lane in World.lanes
                where lane == attempt.lane || deferral.scope == .app && lane.app == attempt.lane.app {
                    books.paused[lane] = max(books.paused[lane] ?? .min, end)
                }
            }
        case .accepted, .blocked, .deferred, .refused, .tokenDead: break
        }
        end(pipeline.attemptEnded(attempt.handle, verdict.outcome, at: now, using: &random))
        if case .blocked = verdict.outcome { spareAfterBlock(attempt) }
        if case .tokenDead = verdict.outcome, books.count(of: attempt.token) > 0 {
            fail("some wait for a dead device")
        }
    }

    /// The gateway has a minute of peace, or, where others get through, the device.
    private func spareAfterBlock(_ attempt: Attempt) {
        let end = now.monotonicNanoseconds + 60_000_000_000
        if pipeline.blockedReason(lane: pipeline.lane(attempt.lane)) != nil {
            books.paused[attempt.lane] = max(books.paused[attempt.lane] ?? .min, end)
        } else {
            books.spared[attempt.token] = end
        }
    }

    func endLoad(succeeds: Bool) {
        guard let (lane, sequences) = loads.min(by: { $0.value[0] < $1.value[0] }) else { return }
        loads[lane] = nil
        guard succeeds else { return pipeline.loadFailed(sequences) }
        end(pipeline.loaded(outbox.notifications(sequences), of: sequences))
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
