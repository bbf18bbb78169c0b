import Crypto
import HTTP2
import Relay

/// The knowledge and the rules of a simulated APNs.
package struct APNsRules: Sendable {
    /// A provider's key as Apple knows it.
    package struct ProviderKey: Sendable {
        package let keyID: String
        package let teamID: String
        package let key: VerifyingKey

        package init(keyID: String, teamID: String, key: VerifyingKey) {
            self.keyID = keyID
            self.teamID = teamID
            self.key = key
        }
    }

    package var keys: [ProviderKey]
    /// The topics these keys may push to.
    package var topics: Set<String>
    /// Device tokens of this environment; `nil`: any.
    package var deviceTokens: Set<String>?
    /// Streams at once, after the first push under a provider token was accepted; 1 before.
    package var streamLimit = 1000
    /// The time after a new provider token in which a connection is refused another new one.
    package var tokenUpdateInterval = Duration.seconds(20 * 60)

    package init(keys: [ProviderKey], topics: Set<String>) {
        self.keys = keys
        self.topics = topics
    }
}

// Not on the event loop: a closure of isolated code asks for its executor each time it is called, here for each byte.
extension APNsRules {
    private static let payloadLimit = 4096

    /// Returns the fault of a request from a provider that may push.
    func fault(
        of request: GatewayRequest, to deviceToken: String, certificateTopic: String?
    ) -> (status: Int, reason: String)? {
        let headers = request.headers
        guard let topic = headers["apns-topic"] ?? certificateTopic else {
            return (400, "MissingTopic")
        }
        guard certificateTopic.map({ $0 == topic }) ?? topics.contains(topic) else {
            return (400, "TopicDisallowed")
        }
        let digits = deviceToken.utf8
        guard digits.count >= 64, digits.count <= 512, digits.count.isMultiple(of: 2),
            digits.allSatisfy(Self.isHexDigit),
            deviceToken != DeviceToken.hexadecimalOfNobody.text,
            deviceTokens?.contains(deviceToken.lowercased()) ?? true
        else { return (400, "BadDeviceToken") }
        guard !request.body.isEmpty else { return (400, "PayloadEmpty") }
        guard request.body.count <= Self.payloadLimit else { return (413, "PayloadTooLarge") }
        if let id = headers["apns-id"], !Self.isID(id) { return (400, "BadMessageId") }
        if let expiration = headers["apns-expiration"], Int64(expiration).map({ $0 < 0 }) ?? true {
            return (400, "BadExpirationDate")
        }
        if let collapseID = headers.bytes(of: "apns-collapse-id"), collapseID.count > 64 {
            return (400, "BadCollapseId")
        }
        let type = headers["apns-push-type"] ?? "alert"
        guard Self.pushTypes.contains(type) else { return (400, "InvalidPushType") }
        let priority = headers["apns-priority"] ?? "10"
        guard ["1", "5", "10"].contains(priority), type != "background" || priority != "10" else {
            return (400, "BadPriority")
        }
        return nil
    }

    private static let pushTypes: Set<String> = [
        "alert", "background", "complication", "controls", "fileprovider", "liveactivity", "location",
        "mdm",
        "pushtotalk", "voip", "widgets",
    ]

    /// Whether a text is 8-4-4-4-12 hex digits in lower case.
    private static func isID(_ text: String) -> Bool {
        guard text.utf8.count == 36 else { return false }
        for (index, character) in text.utf8.enumerated() {
            switch (index, character) {
            case (8, UInt8(ascii: "-")), (13, UInt8(ascii: "-")), (18, UInt8(ascii: "-")),
                (23, UInt8(ascii: "-")):
                continue
            case (8, _), (13, _), (18, _), (23, _), (_, UInt8(ascii: "A")...UInt8(ascii: "F")): return false
            default: guard isHexDigit(character) else { return false }
            }
        }
        return true
    }

    private static func isHexDigit(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
