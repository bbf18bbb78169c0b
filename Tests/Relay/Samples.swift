import Clocks
import Encodings
import Vectors

@testable import Relay

/// Apps, submissions and digests as the tests use them.
enum Sample {
    static let iosToken = String(repeating: "0a", count: 32)
    static let androidToken = String(repeating: "t", count: 32)
    /// 28 bytes, the least that Bisq 2 sends.
    static let message = String(repeating: "QUJD", count: 9) + "QQ=="

    /// Day 20,000 after 1970, one hour after the machine started.
    static let start = Instant(
        unix: UnixTime(milliseconds: 20_000 * 86_400_000), monotonic: 3_600_000_000_000)

    static let deadSinceTheStart = Ending.tokenDead(
        reason: .unregistered, detail: "Token is invalid as of 2024-10-04T00:00:00.000Z")

    static func app(
        _ name: String, _ platforms: [Platform], isEnabled: Bool = true, overhead: Int = 96
    ) -> App {
        App(
            name: name, service: SampleService("sample", for: platforms, overhead: overhead),
            isEnabled: isEnabled)
    }

    static let validator = Validator(
        apps: [
            app("ios", [.ios, .iosDev]), app("android", [.android]), app("tight", [.android], overhead: 97),
            app("off", [.ios], isEnabled: false),
            App(
                name: "web", service: SampleService("sample", for: [.android], prefix: "wp1:"),
                isEnabled: true),
        ],
        defaultIOS: "ios", defaultAndroid: "android")

    static func android(
        _ uid: String? = nil, token: String = androidToken, message: String = message, isUrgent: Bool = false,
        expiresAt: UnixTime = 0
    ) -> Submission {
        Submission(
            uid: uid, platform: .android, deviceToken: token, message: message, isUrgent: isUrgent,
            expiresAt: expiresAt)
    }

    static func ios(token: String = iosToken, message: String = message, app: String = "") -> Submission {
        Submission(platform: .ios, app: app, deviceToken: token, message: message)
    }

    /// A device token of its own for each number.
    static func token(_ number: Int) -> String { androidToken + "\(number)" }

    /// FNV-1a over 64 bits, twice: enough to tell the tests' texts apart.
    static func digest(_ text: String...) -> Digest {
        func hash(_ seed: UInt64) -> UInt64 {
            text.joined(separator: "\n").utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        }
        return Digest(high: hash(0xcbf2_9ce4_8422_2325), low: hash(0x9e37_79b9_7f4a_7c15))
    }

    static let androidPhone = Recipient(
        lane: LaneID(app: "android", host: .production), deviceToken: DeviceToken(androidToken))

    static func digests(_ submission: Submission, to recipient: Recipient) -> SubmissionDigests {
        let token = digest(recipient.lane.app, "\(recipient.lane.host)", recipient.deviceToken.text)
        let said =
            switch submission.content {
            case .bisq(let content): content.message
            case .prepared(let push): push.body
            }
        let content = digest(recipient.lane.app, recipient.deviceToken.text, said)
        return SubmissionDigests(
            token: token,
            identity: submission.uid.map {
                recipient.isOfAlias ? digest("uid", $0, recipient.deviceToken.text) : digest("uid", $0)
            } ?? content, content: content)
    }
}
