import Clocks

@testable import Relay

/// What begins and ends in the books.
extension World {
    func accept(_ sequence: Int64) {
        guard let row = outbox.rows[sequence] else { return fail("\(sequence) is accepted without a row") }
        let times = submittedAt.removeValue(forKey: row.notification.id.identity)
        storedAt[row.notification.id.identity] = times?[row.notification.acceptedAt.milliseconds]
        if let number = atOnce.number(of: row.notification.id.identity) {
            atOnce.store(number, as: sequence)
            returns[sequence] = returns.removeValue(forKey: number)
        }
        let deadline = deadlines.removeValue(forKey: row.notification.id.identity) ?? .max
        let token = World.digest(ofToken: row.notification.deviceToken.text, in: row.notification.lane)
        books.accept(
            sequence, Books.Entry(notification: row.notification, token: token, deadline: deadline))
        noteAccepted(sequence, row.notification, token: token)
    }

    func end(_ end: Pipeline.End) {
        let (sequence, ending) = (end.sequence, end.ending)
        if endAtOnce(end) { return }
        shares.end(sequence)
        healthySince[sequence] = nil
        guard let entry = books.end(sequence, ending) else {
            fail("\(sequence) ended (\(ending)) without waiting")
            return
        }
        if ending == .delivered, gateway.taken[sequence] == nil,
            atOnce.sentAs[sequence].flatMap({ gateway.taken[$0] }) == nil
        {
            fail("\(sequence) is called delivered, and no gateway took it")
        }
        if ending == .expired, now.monotonic + (entry.isByLife ? clockSlack : .zero) < entry.deadline {
            fail("\(sequence) expired before its time")
        }
    }

    func take(_ attempt: Attempt) {
        guard attempt.verdict.outcome != .kept else { return keep(attempt.handle.sequence) }
        if settled.contains(attempt.notification.id) {
            fail("\(attempt.handle.sequence) is taken twice, and the first time was clear")
        }
        gateway.take(attempt.handle.sequence, attempt.notification.id)
    }
}
