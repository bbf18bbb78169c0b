import Encodings
import Relay

/// A server of ntfy's, as the core sees it: each phone is a topic there, `nt1:TOPIC`, or `nt1:SERVER:TOPIC` where the node
/// has several servers.
///
/// Topics as the server takes them: `^[-_A-Za-z0-9]{1,64}$` (ntfy, `server/server.go`). Dots behind one are no part of it:
/// they fill a short address up to the length that Bisq wants.
package struct NtfyService: PushService {
    private let show: NtfyApp.Show
    /// `HOST[:PORT]`, in one spelling.
    private let server: String
    private let usualPort: UInt16

    package static let addressPrefix = "nt1:"
    static let longestTopic = 64
    /// Bytes of an Android phone's device token in a pairing token, at least (Bisq 1, `MobileNotificationValidator.java`).
    static let shortestPaired = 32
    /// Bytes of a message; longer ones become an attachment (ntfy's `message-size-limit`).
    static let longestMessage = 4096

    package init(show: NtfyApp.Show = .bell, server: String = "", usualPort: UInt16 = 443) {
        self.show = show
        self.server = server
        self.usualPort = usualPort
    }

    package var name: String { "ntfy" }
    package var prefix: String? { NtfyService.addressPrefix }

    package func serves(_ platform: Platform) -> Bool { platform == .android }

    /// Returns the target of an address. An address keeps its server: that the same topic is elsewhere as
    /// well is another phone.
    package func target(_ address: String, on platform: Platform) -> Target? {
        guard let (place, topic) = NtfyService.parts(of: address) else { return nil }
        guard !place.isEmpty else {
            return Target(DeviceToken(NtfyService.addressPrefix + NtfyService.text(topic)))
        }
        guard
            OneSpelling.host(NtfyService.text(place), usualPort: usualPort)?.hasSameBytes(as: server) == true
        else { return nil }
        return Target(DeviceToken("\(NtfyService.addressPrefix)\(server):\(NtfyService.text(topic))"))
    }

    /// Returns the topic of an address; `nil`: it is no address of this service.
    static func topic(of address: String) -> String? { parts(of: address).map { text($0.topic) } }

    /// Returns the server in an address, empty for none, and the topic without its padding.
    private static func parts(of address: String) -> (server: [UInt8], topic: [UInt8])? {
        address.withBytes { parts(of: $0) }
    }

    private static func parts(of bytes: Span<UInt8>) -> (server: [UInt8], topic: [UInt8])? {
        guard bytes.count <= longestAddress, bytes.starts(with: addressPrefix) else { return nil }
        var rest = (addressPrefix.utf8.count..<bytes.count).map { bytes[$0] }[...]
        while rest.last == UInt8(ascii: ".") { rest.removeLast() }
        let colon = rest.lastIndex(of: UInt8(ascii: ":"))
        let topic = colon.map { rest[($0 + 1)...] } ?? rest
        guard (1...longestTopic).contains(topic.count), topic.allSatisfy({ character($0) == 1 }),
            colon != rest.startIndex
        else { return nil }
        return (Array(colon.map { rest[..<$0] } ?? []), Array(topic))
    }

    /// Bytes of the longest name of a host, its port and a topic, and of one that is filled up.
    private static let longestAddress = 512

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func character(_ byte: UInt8) -> UInt8 {
        ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, "_") | ASCII.equal(byte, "-")
    }

    // MARK: Pairing

    /// Why an address can be no topic's, in words for the person who wrote it.
    package struct AddressFault: Error, CustomStringConvertible {
        package let description: String
    }

    /// Returns an address as a pairing token has it: an address that is shorter than Bisq takes is filled up
    /// with dots. An address of another service stays as it is.
    package static func paired(_ address: String) throws(AddressFault) -> String {
        guard address.hasPrefix(addressPrefix) else { return address }
        guard parts(of: address) != nil else {
            let topic = address.utf8.dropFirst(addressPrefix.utf8.count)
            let shown = topic.prefix(80).allSatisfy { (0x20...0x7e).contains($0) }
            throw AddressFault(
                description: (shown ? "\"\(Substring(topic.prefix(80)))\"" : "this")
                    + " is no topic of ntfy: 1 to \(longestTopic) letters, digits, - and _; with SERVER: before it "
                    + "where the node has several servers")
        }
        return address + String(repeating: ".", count: max(0, shortestPaired - address.utf8.count))
    }

    // MARK: Payloads

    /// Counts the bytes of the text that is sent: Bisq's own as it came, or the node's.
    package func payloadSize(of content: Content) -> Int? {
        guard case .bisq(let content) = content else { return nil }
        return show == .sealed ? content.message.utf8.count : BisqContent.bell.utf8.count
    }

    package var payloadLimit: Int { NtfyService.longestMessage }

    package func nobody(on platform: Platform) -> DeviceToken { NtfyRequest.nobody }
}
