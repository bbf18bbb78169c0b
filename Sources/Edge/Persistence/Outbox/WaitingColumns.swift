import Relay

/// A notification as columns, in and out.
extension Statement {
    /// Binds columns 1 to 10, and, where the statement has them, those of a prepared push: 11 and 12.
    func bind(_ request: StoreRequest, at sequence: Int64) throws(StoreError) {
        let notification = request.notification
        try bind(1, sequence)
        try bind(2, high: notification.id.high, low: notification.id.low)
        try bind(3, notification.lane.app)
        try bind(4, notification.flags)
        try bind(5, sealed: notification.deviceToken.text, as: Sealed.token, of: request.owner(at: sequence))
        try bind(7, request.digests.token)
        try bind(8, time: notification.acceptedAt)
        try bind(9, time: notification.expiresAt)
        try bind(10, notification.lane.host.column)
        switch notification.content {
        case .bisq(let content):
            try bind(6, sealed: content.message, as: Sealed.message, of: request.owner(at: sequence))
        case .prepared(let push):
            try bind(6, sealed: push.body, as: Sealed.message, of: request.owner(at: sequence))
            try bind(11, sealed: push.collapseID, as: Sealed.collapse, of: request.owner(at: sequence))
            try bind(12, sealed: push.fieldLines, as: Sealed.fields, of: request.owner(at: sequence))
        }
    }

    /// Returns the columns that ``waitingRow`` and ``notification`` read.
    static func waitingColumns(_ dialect: any Dialect) -> String {
        """
        sequence, id, app, flags, token, message, accepted_at, expires_at, collapse_id, android, host, token_digest,
            attempts, not_before, \(Schema.size(in: dialect))
        """
    }

    private var flags: Flags { Flags(rawValue: integer(3)) }
    private var lane: LaneID { LaneID(app: text(2), flags: flags, host: isNull(10) ? nil : text(10)) }

    var waitingRow: WaitingRow {
        WaitingRow(
            sequence: integer(0), lane: lane, token: Digest(pair(11)), isUrgent: flags.contains(.urgent),
            size: Int(integer(14)), attempts: Int(integer(12)), acceptedAt: time(6),
            notBefore: time(13), expiresAt: time(7))
    }

    func notification() throws(StoreError) -> Notification {
        let id = pair(1)
        let owner = Sealed.Owner.waiting(sequence: integer(0), id: id, token: Digest(pair(11)))
        let message = try sealedText(5, as: Sealed.message, of: owner)
        let content: Content
        if flags.contains(.prepared) {
            content = .prepared(
                PreparedPush(
                    flags: flags, body: message, fields: try sealedText(9, as: Sealed.fields, of: owner),
                    collapseID: isNull(8) ? nil : try sealedText(8, as: Sealed.collapse, of: owner)))
        } else {
            content = .bisq(BisqContent(flags: flags, message: message))
        }
        return Notification(
            id: NotificationID(high: id.high, low: id.low), lane: lane,
            deviceToken: DeviceToken(try sealedText(4, as: Sealed.token, of: owner)), content: content,
            expiresAt: time(7), acceptedAt: time(6))
    }
}

extension StoreRequest {
    /// Returns the row that the notification becomes, as the owner of its sealed texts.
    package func owner(at sequence: Int64) -> Sealed.Owner {
        .waiting(
            sequence: sequence, id: (notification.id.high, notification.id.low), token: digests.token)
    }
}
