import Client
import Crypto
import Encodings
import Reactor
import Relay
import Wire

/// Encrypts the text of a test as a Bisq does for its phone.
package enum TestSeal {
    /// Encrypts with a key that nobody has: the push service takes it, and no phone opens it.
    case nobody
    case bisq1(key: String)
    case bisq2(key: [UInt8])

    private static let text = "This phone is connected to the node."

    /// A text of Bisq's form that nobody opens.
    package static var ofNobody: String {
        (try? seal(with: Phone.new(.android, descriptor: "").pairingToken)) ?? text
    }

    package func seal(for phone: PhoneBook.Phone) throws(CallRefusal) -> String {
        let platform: Platform = phone.platform == .android ? .android : .ios
        do {
            switch self {
            case .nobody: return try TestSeal.seal(with: try Phone.new(platform, descriptor: "").pairingToken)
            case .bisq1(let key):
                let stranger = try Phone.new(platform, descriptor: "").pairingToken
                return try TestSeal.seal(
                    with: PairingToken(
                        platform: platform, descriptor: "", key: key, deviceToken: stranger.deviceToken))
            case .bisq2(let key):
                return try ConnectPhone(platform: platform, deviceToken: "", key: key).seal(
                    ConnectMessage(
                        id: Hex.encode(randomBytes(16)), title: "Onionbell", message: TestSeal.text,
                        category: .general))
            }
        } catch {
            throw CallRefusal(.unfit, "token_key", "\(error)")
        }
    }

    private static func seal(with token: PairingToken) throws -> String {
        try BisqSender(to: token).seal(
            PhoneText(
                sentDate: EventLoop.unixMilliseconds, transactionID: "", title: "Onionbell",
                message: TestSeal.text, kind: .trade, actionRequired: "", version: 1)
        ).text
    }
}
