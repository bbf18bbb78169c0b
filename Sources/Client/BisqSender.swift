import Crypto
import Encodings
import HTTP1
import Wire

/// The part of Bisq 1 that turns a message for its user into a notification request, for one paired phone (Bisq 1,
/// `MobileNotificationService.java`, `MobileMessageEncryption.java`).
package struct BisqSender: Sendable {
    package let pairingToken: PairingToken

    package init(to pairingToken: PairingToken) {
        self.pairingToken = pairingToken
    }

    /// Seals a message for the phone under an IV of its own.
    package func seal(_ message: PhoneText) throws(CryptoError) -> MessageString {
        // Bisq takes the first 16 hex digits of a random UUID without its dashes.
        try seal(message, iv: Array(Hex.encode(randomUUID()).utf8.prefix(16)))
    }

    /// Encrypts a message.
    ///
    /// - Parameter iv: 16 bytes of printable ASCII, never used before under this key.
    func seal(_ message: PhoneText, iv: [UInt8]) throws(CryptoError) -> MessageString {
        let cipherText = try AES256CBC.encrypt(message.blocks, key: Array(pairingToken.key.utf8), iv: iv)
        return MessageString(magic: pairingToken.platform.messageMagic, iv: iv, cipherText: cipherText)
    }

    /// Returns the request that Bisq sends to its relay today: parameters and their order are Bisq's, token
    /// and message are hex of their text (Bisq 1, `MobileNotificationService.java`).
    package func httpRequest(for message: PhoneText) throws(CryptoError) -> HTTPRequest {
        let platform = pairingToken.platform
        let parameters = [
            "isAndroid=\(platform == .android)", "isProduction=\(platform == .ios)",
            "isContentAvailable=\(pairingToken.isContentAvailable)", "snd=\(message.kind != .erase)",
            "token=\(Hex.encode(Array(pairingToken.deviceToken.utf8)))",
            "msg=\(Hex.encode(Array(try seal(message).text.utf8)))",
        ]
        var request = HTTPRequest(
            method: "GET", path: "/relay", query: parameters.joined(separator: "&"), isKeptAlive: false)
        request.fields.append("User-Agent", "bisq/1.10.4, uid:\(BisqSender.uid())")
        return request
    }

    /// Returns a random UUID as text.
    private static func uid() -> String {
        let digits = Array(Hex.encode(randomUUID()))
        let ends = [8, 12, 16, 20, 32]
        return zip([0] + ends, ends).map { String(digits[$0..<$1]) }.joined(separator: "-")
    }

    /// Returns a request for the peer wire, with a uid of its own. What Bisq asks of the relay is asked here:
    /// the alert, sound for all but the erasing message, and the wake-up where the phone's model knows it.
    package func request(for message: PhoneText) throws(CryptoError) -> MobileNotificationRequest {
        var request = MobileNotificationRequest()
        request.uid = Hex.encode(randomUUID())
        request.platform = pairingToken.platform
        request.deviceToken = pairingToken.deviceToken
        request.message = try seal(message).text
        request.isUrgent = true
        request.hasSound = message.kind != .erase
        request.isContentAvailable = pairingToken.isContentAvailable
        return request
    }
}
