import Encodings
import Wire

/// One wish to wake a phone: Status' `PushNotification`.
package struct PushEntry: ProtoMessage, Equatable, Sendable {
    package var accessToken = ""
    /// SHAKE-256 of the chat id's text.
    package var chatID: [UInt8] = []
    /// SHAKE-256 of the receiving client's key.
    package var keyHash: [UInt8] = []
    package var installationID = ""
    /// The message for the phone; clients leave it empty.
    package var message: [UInt8] = []
    /// 0 none, 1 message, 2 mention, 3 a request to join a community; others are taken for mentions.
    package var type: UInt64 = 0
    /// SHAKE-256 of the sender's key as text.
    package var author: [UInt8] = []

    package init() {}

    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.string(1, &accessToken, in: bytes)
        try fields.data(2, &chatID, in: bytes)
        try fields.data(3, &keyHash, in: bytes)
        try fields.string(4, &installationID, in: bytes)
        try fields.data(5, &message, in: bytes)
        try fields.uint64(6, &type, in: bytes)
        try fields.data(7, &author, in: bytes)
    }
}

/// Status' `PushNotificationRequest`.
package struct PushRequest: Equatable, Sendable {
    package var entries: [PushEntry] = []
    /// The sender's own, echoed in the answer; a request without one gets none.
    package var messageID: [UInt8] = []
    /// Whether there were more entries than those in ``entries``.
    package var isOverLimit = false

    /// Reads a request, and no more than `limit` of its entries.
    package init(_ bytes: [UInt8], limit: Int) throws(ProtoError) {
        let span = bytes.span
        var reader = ProtoReader(0..<bytes.count)
        while let field = try reader.nextField(in: span) {
            switch (field.number, field.type) {
            case (1, .lengthDelimited):
                let range = try reader.delimited(in: span)
                isOverLimit = entries.count == limit
                guard !isOverLimit else { break }
                var entry = PushEntry()
                try entry.read(bytes, in: range)
                entries.append(entry)
            case (2, .lengthDelimited): messageID = Array(bytes[try reader.delimited(in: span)])
            default: try reader.skip(field, in: span)
            }
        }
    }
}

/// The result of an entry, as its sender hears it; the raw values are kept in the store.
package enum PushResult: UInt8, Equatable, Sendable {
    /// The result of an entry without a type, which the answer leaves out.
    case noReport = 0
    /// The entry is handed over or filtered: a sender must not be able to tell a block.
    case accepted = 1
    case wrongToken = 2
    case notRegistered = 3
    case `internal` = 4

    /// The numbers of Status' `PushNotificationReport`.
    fileprivate var error: UInt64 {
        switch self {
        case .noReport, .accepted: 0
        case .wrongToken: 1
        case .internal: 2
        case .notRegistered: 3
        }
    }
}

/// The answer to a request: one report for each entry that has a type, in the request's order.
package enum PushResponse {
    package static func encoded(_ results: [PushResult], to request: PushRequest) -> [UInt8] {
        var writer = ProtoWriter()
        writer.data(1, request.messageID)
        for (entry, result) in zip(request.entries, results) where result != .noReport {
            writer.message(2) { report in
                report.bool(1, result == .accepted)
                report.uint64(2, result.error)
                report.data(3, entry.keyHash)
                report.string(4, entry.installationID)
            }
        }
        return writer.bytes
    }
}
