import Clocks
import Encodings

/// 16 bytes that name a notification towards the gateways: the same on every attempt, and for every submission that is
/// a repetition of the first, also when the node no longer remembers it.
package struct NotificationID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes the id from the identity's digest: as good as random to everyone without the node's key.
    init(_ digests: SubmissionDigests) {
        self.init(high: digests.identity.high, low: digests.identity.low)
    }

    /// Reads an id as ``uuid`` has written it, and in no other way.
    package init?(uuid text: some StringProtocol) {
        guard text.utf8.prefix(37).count == 36 else { return nil }
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard digits.count == 32 else { return nil }
        var words: [UInt64] = [0, 0]
        for (index, digit) in digits.enumerated() {
            guard let value = Hex.value(digit) else { return nil }
            words[index / 16] = words[index / 16] << 4 | UInt64(value)
        }
        self.init(high: words[0], low: words[1])
        guard uuid.utf8.elementsEqual(text.utf8) else { return nil }
    }

    /// The digest of the identity that it was made of.
    package var identity: Digest { Digest(high: high, low: low) }

    /// 8-4-4-4-12 lower-case hex digits: APNs' `apns-id`, and as collapse id 36 of the 64 bytes allowed.
    package var uuid: String {
        guard let valid = try? UTF8Span(validating: uuidText.span) else { preconditionFailure("hex digits") }
        return String(copying: valid)
    }

    /// The ASCII of ``uuid``.
    package var uuidText: InlineArray<36, UInt8> {
        var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
        let quarters = (
            Hex.digits(high >> 32), Hex.digits(high & 0xFFFF_FFFF), Hex.digits(low >> 32),
            Hex.digits(low & 0xFFFF_FFFF)
        )
        for index in 0..<8 {
            let shift = UInt64(56 - 8 * index)
            // Two of the quarters have a hyphen in their middle.
            let middle = index < 4 ? index : index + 1
            text[index] = UInt8(truncatingIfNeeded: quarters.0 &>> shift)
            text[9 + middle] = UInt8(truncatingIfNeeded: quarters.1 &>> shift)
            text[19 + middle] = UInt8(truncatingIfNeeded: quarters.2 &>> shift)
            text[28 + index] = UInt8(truncatingIfNeeded: quarters.3 &>> shift)
        }
        return text
    }
}

/// A checked notification: what the outbox keeps and a gateway sends.
///
/// An object, since it goes through many hands and never changes: each holds it with one reference instead of one for
/// each of its texts.
package final class Notification: Sendable {
    package let id: NotificationID
    package let lane: LaneID
    package let deviceToken: DeviceToken
    package let content: Content
    package let expiresAt: UnixTime
    package let acceptedAt: UnixTime
    /// The sender that brought it; `nil`: not known, as for all that were read from disk, or the node itself.
    package let sender: SenderID?

    package init(
        id: NotificationID, lane: LaneID, deviceToken: DeviceToken, content: Content,
        expiresAt: UnixTime, acceptedAt: UnixTime, sender: SenderID? = nil
    ) {
        self.id = id
        self.lane = lane
        self.deviceToken = deviceToken
        self.content = content
        self.expiresAt = expiresAt
        self.acceptedAt = acceptedAt
        self.sender = sender
    }

    /// Makes a notification of Bisq's.
    package convenience init(
        id: NotificationID, lane: LaneID, deviceToken: DeviceToken, message: String,
        isUrgent: Bool, hasSound: Bool, isMutableContent: Bool, isContentAvailable: Bool, expiresAt: UnixTime,
        acceptedAt: UnixTime
    ) {
        self.init(
            id: id, lane: lane, deviceToken: deviceToken,
            content: .bisq(
                BisqContent(
                    message: message, isUrgent: isUrgent, hasSound: hasSound,
                    isMutableContent: isMutableContent, isContentAvailable: isContentAvailable)),
            expiresAt: expiresAt, acceptedAt: acceptedAt)
    }

    /// Bytes of content and token.
    package var size: Int { content.byteCount + deviceToken.text.utf8.count }
}

extension Notification: Equatable {
    package static func == (left: Notification, right: Notification) -> Bool {
        left === right
            || left.id == right.id && left.lane == right.lane && left.deviceToken == right.deviceToken
                && left.content == right.content
                && left.expiresAt == right.expiresAt && left.acceptedAt == right.acceptedAt
    }
}
