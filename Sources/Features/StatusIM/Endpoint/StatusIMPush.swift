import Clocks
import Crypto
import Encodings
import JSONCoding
import PushEndpoints
import Relay
import StatusIM

/// A phone's push as status-go and gorush would have made it together: an alert with a text, and three hex strings
/// that wake the app.
enum StatusIMPush {
    /// Makes the submission of a push.
    ///
    /// - Parameters:
    ///   - uid: The same text for every repetition of the entry's message.
    ///   - apps: The configured apps that this door may push to.
    /// - Returns: `nil` when no app serves this registration.
    static func submission(
        _ entry: PushEntry, to target: StatusIMTarget, uid: String, apps: PushApps
    ) -> Submission? {
        let content = PushContent(entry)
        let data = JSON.Object(content.data.map { ($0.name, .string($0.value)) })
        switch target.tokenType {
        case .apns:
            guard let app = apps.app(topic: target.topic) else { return nil }
            var body = data
            body["aps"] = ["alert": .string(content.text)]
            return Submission(
                uid: uid, platform: apps.isSandbox ? .iosDev : .ios, app: app,
                deviceToken: target.deviceToken,
                content: .prepared(
                    PreparedPush(exactly: JSON.object(body).text, fields: [.init("apns-push-type", "alert")])),
                registeredAt: target.registeredAt)
        case .firebase:
            guard let app = apps.android else { return nil }
            let message: JSON = [
                "message": [
                    "token": .string(target.deviceToken), "notification": ["body": .string(content.text)],
                    "data": .object(data),
                ]
            ]
            return Submission(
                uid: uid, platform: .android, app: app, deviceToken: target.deviceToken,
                content: .prepared(PreparedPush(exactly: message.text)),
                payloadSize: content.text.utf8.count + 4
                    + content.data.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count },
                registeredAt: target.registeredAt)
        }
    }

    /// Returns the uid of one entry of one message in the outbox: 51 characters at most.
    static func uid(messageID: [UInt8], index: Int) -> String {
        "\(Hex.encode(Array(messageID.prefix(24))))-\(index)"
    }
}

/// The part of a registration that a push to it needs.
package struct StatusIMTarget: Equatable, Sendable {
    let tokenType: Registration.TokenType
    let deviceToken: String
    let topic: String
    /// The version of the registration, so that only this one is forgotten when its device token proves dead.
    let version: UInt64
    /// Milliseconds since 1970.
    let registeredAt: UnixTime
    let usedAt: UnixTime

    /// Makes the target of a registration; `nil` for a type of token that is neither Apple's nor Google's.
    init?(_ registration: Registration, registeredAt: UnixTime, usedAt: UnixTime = 0) {
        guard let tokenType = Registration.TokenType(rawValue: registration.tokenType) else { return nil }
        self.tokenType = tokenType
        deviceToken = registration.deviceToken
        topic = registration.topic
        version = registration.version
        self.registeredAt = registeredAt
        self.usedAt = usedAt
    }
}

extension PushResult {
    /// Makes a result of a receipt. A sender hears no more of what goes well than that it was taken.
    init(_ receipt: Receipt) {
        switch receipt.answer {
        case .taken: self = .accepted
        case .later: self = .internal
        case .failed(let failure): self = failure.kind == .deadToken ? .notRegistered : .internal
        }
    }
}

extension StatusIMServer {
    /// The way in which one entry is answered.
    enum Plan: Sendable {
        case answered(PushResult)
        case send(StatusIMTarget)

        init(_ entry: PushEntry, _ registration: Registration?, _ phone: StatusIMRegistration.Phone?) {
            switch PushDecision(entry, registration) {
            case .answered(let result): self = .answered(result)
            case .send(let registration):
                let target = StatusIMTarget(
                    registration, registeredAt: phone?.registeredAt ?? 0, usedAt: phone?.usedAt ?? 0)
                // Gorush passes over in silence what is neither Apple's nor Google's.
                self = target.map { .send($0) } ?? .answered(.accepted)
            }
        }
    }
}
