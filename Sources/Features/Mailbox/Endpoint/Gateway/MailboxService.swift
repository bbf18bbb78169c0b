import Encodings
import Relay

/// Mailboxes, as the core sees them: phones that fetch from the node itself.
package struct MailboxService: PushService {
    package init() {}

    package var name: String { "mailbox" }
    package var prefix: String? { MailboxAddress.prefix }

    /// Whether the service answers soon: never, since a mailbox is a store itself.
    package var answersSoon: Bool { false }

    package func serves(_ platform: Platform) -> Bool { platform == .android }

    package func target(_ address: String, on platform: Platform) -> Target? {
        MailboxAddress.isOne(address) ? Target(DeviceToken(address)) : nil
    }

    /// Counts the bytes of Bisq's message as it came.
    package func payloadSize(of content: Content) -> Int? {
        switch content {
        case .bisq(let content): content.message.utf8.count
        case .prepared: nil
        }
    }

    package func nobody(on platform: Platform) -> DeviceToken { MailboxAddress.nobody }
}

/// The address by which senders write to a mailbox: the prefix and 72 bytes of chance in Base64's alphabet for URLs. Each
/// has one text.
package enum MailboxAddress {
    package static let prefix = "mb1:"
    package static let randomBytes = 72
    /// Bytes of an address. Bisq 2 registers 100 to 300 for Android.
    static let length = prefix.utf8.count + randomBytes / 3 * 4

    /// A well-formed address of no mailbox, for the probe: chance draws none with such words in it.
    static let nobody = DeviceToken(
        prefix + "onionbell-watch-no-such-device-" + String(repeating: "0", count: 65))

    /// Makes an address of ``randomBytes`` of chance.
    package static func text(_ bytes: [UInt8]) -> String {
        precondition(bytes.count == randomBytes, "\(bytes.count) bytes for an address")
        return prefix + Base64.encodeForURL(bytes)
    }

    static func isOne(_ text: String) -> Bool { text.withBytes { isOne($0) } }

    private static func isOne(_ bytes: Span<UInt8>) -> Bool {
        bytes.count == length && bytes.starts(with: prefix)
            && bytes.extracting(droppingFirst: prefix.utf8.count).consists {
                ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "-") | ASCII.equal($0, "_")
            }
    }
}
