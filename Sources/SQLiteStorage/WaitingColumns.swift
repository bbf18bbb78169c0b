import Relay

/// A notification as columns, in and out.
extension Statement {
    /// Binds columns 1 to 10, and, where the statement has them, those of a prepared push: 11 and 12.
    func bind(_ request: StoreRequest, at sequence: Int64) throws(SQLiteError) {
        let notification = request.notification
        try bind(1, sequence)
        try bind(2, high: notification.id.high, low: notification.id.low)
        try bind(3, notification.lane.app)
        try bind(4, notification.flags)
        try bind(5, notification.deviceToken.text)
        try bind(7, request.digests.token)
        try bind(8, notification.acceptedAt)
        try bind(9, notification.expiresAt)
        try bind(10, notification.lane.host.column)
        switch notification.content {
        case .bisq(let content): try bind(6, content.message)
        case .prepared(let push):
            try bind(6, push.body)
            try bind(11, push.collapseID)
            try bind(12, push.fieldLines)
        }
    }

    /// What ``waitingRow`` and ``notification`` read.
    static let waitingColumns = """
        sequence, id, app, flags, token, message, accepted_at, expires_at, collapse_id, android, host, token_digest,
            attempts, not_before, \(Schema.size())
        """

    private var flags: Flags { Flags(rawValue: integer(3)) }
    private var lane: LaneID { LaneID(app: text(2), flags: flags, host: isNull(10) ? nil : text(10)) }

    var waitingRow: WaitingRow {
        WaitingRow(
            sequence: integer(0), lane: lane, token: Digest(pair(11)), isUrgent: flags.contains(.urgent),
            size: Int(integer(14)), attempts: Int(integer(12)), acceptedAt: integer(6),
            notBefore: integer(13), expiresAt: integer(7))
    }

    var notification: Notification {
        let id = pair(1)
        let message = text(5)
        let content: Content =
            flags.contains(.prepared)
            ? .prepared(
                PreparedPush(
                    flags: flags, body: message, fields: text(9), collapseID: isNull(8) ? nil : text(8)))
            : .bisq(BisqContent(flags: flags, message: message))
        return Notification(
            id: NotificationID(high: id.high, low: id.low), lane: lane, deviceToken: DeviceToken(text(4)),
            content: content, expiresAt: integer(7), acceptedAt: integer(6))
    }
}
