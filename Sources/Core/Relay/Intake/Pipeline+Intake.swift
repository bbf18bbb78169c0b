/// The way from a submission to its commit, and what its sender hears.
extension Pipeline {
    /// Takes a submission, and one copy of it for each phone if it is for an alias.
    ///
    /// - Parameters:
    ///   - door: The edge's number of the door where it came in.
    ///   - awaitsOutcome: Whether the sender wants to hear the end as well.
    ///   - digests: Called when the recipient is checked and the message is not yet.
    package mutating func submit(
        _ submission: Submission, from door: Int = 0, awaitsOutcome: Bool = false, at now: Instant,
        digests makeDigests: (Recipient) -> SubmissionDigests
    ) -> Submitted {
        guard !isStopping else { return .answered(Pipeline.comeAgain) }
        do throws(Reason) {
            if let copies = try validator.copies(of: submission) {
                return submit(copies, from: door, awaitsOutcome: awaitsOutcome, at: now, digests: makeDigests)
            }
        } catch {
            return .answered(.refused(error))
        }
        return submitOne(
            submission, from: door, awaitsOutcome: awaitsOutcome, at: now, digests: makeDigests)
    }

    mutating func submitOne(
        _ submission: Submission, from door: Int, awaitsOutcome: Bool, at now: Instant,
        digests makeDigests: (Recipient) -> SubmissionDigests
    ) -> Submitted {
        noteClock(at: now)
        let notification: Notification
        let digests: SubmissionDigests
        let service: any PushService
        do throws(Reason) {
            let (recipient, app) = try validator.recipient(of: submission)
            service = app.service
            digests = makeDigests(recipient)
            if let registeredAt = submission.registeredAt,
                deadTokens.revive(digests.token, registeredAt: registeredAt)
            {
                commits.append(.reviveToken(digests.token))
            }
            if let since = deadTokens.since(digests.token, at: now) {
                return refuse(
                    submission, digests, .ended(.unregistered(since: wallClock.told(since, at: now))),
                    from: door,
                    awaitsOutcome: awaitsOutcome, at: now)
            }
            notification = wallClock.dated(
                try validator.notification(
                    submission, to: recipient, of: app, as: NotificationID(digests), at: now), at: now)
        } catch {
            return .answered(.refused(error))
        }
        storeFirst(of: digests.token, at: now)
        let size = notification.size
        let laneID = notification.lane
        guard cluster.isInSight(digests.token),
            let lane = laneForNew(laneID, for: size, from: submission.sender, at: now.monotonic)
        else {
            return refuse(
                submission, digests, Pipeline.comeAgain, from: door, awaitsOutcome: awaitsOutcome, at: now)
        }
        let isElsewhere = !owns(digests.token)
        let mayStore =
            !isElsewhere || cluster.hasRoomElsewhere(for: digests.token, size: size, within: limits)
        guard mayStore,
            admission.hasRoom(
                for: delivery.lanes[lane].taken, isProven: delivery.lanes[lane].standing.isProven,
                senderBroughtMuch: delivery.hasMuch(of: submission.sender, in: lane))
        else {
            if mayStore { delivery.withLane(lane) { $0.fullAt = now.monotonic } }
            delivery.tidyLane(lane)
            return refuse(
                submission, digests, .busy(.node(retryAfter: Admission.retryWhenFull)), from: door,
                awaitsOutcome: awaitsOutcome, at: now)
        }
        let busy = admission.admit(token: digests.token, size: size, from: submission.sender, at: now)
        let later =
            busy != nil && submission.mayWait
            ? admission.admitLater(token: digests.token, size: size, from: submission.sender, at: now) : nil
        if let busy, later == nil {
            delivery.tidyLane(lane)
            return refuse(submission, digests, .busy(busy), from: door, awaitsOutcome: awaitsOutcome, at: now)
        }
        delivery.withLane(lane) { $0.take(size, from: submission.sender) }
        noteAcceptance(at: now)
        if isElsewhere { cluster.addElsewhere(digests.token, size: size) }
        let isShelved = !isElsewhere && goesToBacklog(digests.token, in: lane)
        let slot = delivery.insert(
            Delivery.Entry(
                token: digests.token, lane: lane, size: size, submittedAt: now.monotonic,
                deadline: wallClock.dating(now)
                    .deadline(notification.expiresAt, within: Validator.longestMilliseconds),
                registeredAt: submission.registeredAt ?? 0, notBefore: later ?? 0,
                isUrgent: notification.content.isUrgent,
                door: UInt8(exactly: door) ?? Delivery.Entry.noDoor,
                whereabouts: isElsewhere ? .elsewhere : .window,
                body: notification))
        bodyBytes += size
        let reply = senders.newID()
        let isFirst =
            awaitsOutcome && !isShelved
            && goesOutFirst(submission, digests, by: service, size: size, in: lane, at: now)
        if writeBehind > .zero { known.insert(digests.identity, acceptedAt: notification.acceptedAt) }
        if isFirst {
            let one = Unstored.One(
                digests: digests, sender: submission.sender, patience: submission.patience, door: door,
                reply: reply)
            sendFirst(slot, one, size: size, at: now)
            return .storing(reply, notification.id)
        }
        let request = StoreRequest(
            notification: notification, digests: digests,
            destination: destination(of: slot, isShelved: isShelved, at: now),
            registeredAt: submission.registeredAt ?? 0)
        commits.store(
            request,
            for: Ticket(
                purpose: .store(slot), door: door, submittedAt: now.monotonic,
                awaitsOutcome: awaitsOutcome, reply: reply))
        scheduleCommit(at: now.monotonic)
        return .storing(reply, notification.id)
    }

    static var comeAgain: Receipt { .busy(.node(retryAfter: retryWhenOutboxFails)) }
}
