import Encodings
import Relay

/// A server of ntfy's, as the core sees it: each phone is a topic there.
///
/// Topics as the server takes them: `^[-_A-Za-z0-9]{1,64}$` (ntfy, `server/server.go`).
package struct NtfyService: PushService {
    private let show: NtfyApp.Show

    package static let addressPrefix = "nt1:"
    static let longestTopic = 64
    /// Bytes of a message; longer ones become an attachment (ntfy's `message-size-limit`).
    static let longestMessage = 4096

    package init(show: NtfyApp.Show = .bell) { self.show = show }

    package var name: String { "ntfy" }
    package var prefix: String? { NtfyService.addressPrefix }

    package func serves(_ platform: Platform) -> Bool { platform == .android }

    package func target(_ address: String, on platform: Platform) -> Target? {
        NtfyService.topic(of: address).map { _ in Target(DeviceToken(address)) }
    }

    /// `nil`: it is no address of this service.
    static func topic(of address: String) -> String? {
        let bytes = address.utf8.span
        guard bytes.starts(with: addressPrefix.utf8.span) else { return nil }
        let topic = bytes.extracting(droppingFirst: addressPrefix.utf8.count)
        guard (1...longestTopic).contains(topic.count), topic.consists(of: character) else { return nil }
        return String(address.utf8.dropFirst(addressPrefix.utf8.count))
    }

    private static func character(_ byte: UInt8) -> UInt8 {
        ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, "_") | ASCII.equal(byte, "-")
    }

    /// Of the text that is sent: Bisq's own as it came, or the node's.
    package func payloadSize(of content: Content) -> Int? {
        guard case .bisq(let content) = content else { return nil }
        return show == .sealed ? content.message.utf8.count : BisqContent.bell.utf8.count
    }

    package var payloadLimit: Int { NtfyService.longestMessage }

    package func nobody(on platform: Platform) -> DeviceToken { NtfyRequest.nobody }
}
