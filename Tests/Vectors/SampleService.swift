import Encodings
import Relay

/// A push service with the usual forms of addresses, for tests that need no real one.
package struct SampleService: PushService {
    package let name: String
    package var prefix: String?
    private let platforms: [Platform]
    private let overhead: Int
    package var handsOn = false
    package var answersSoon = true

    package static let ios = SampleService("apns", for: [.ios, .iosDev])
    package static let android = SampleService("fcm", for: [.android])

    /// - Parameter overhead: bytes of a payload beside the message.
    package init(
        _ name: String, for platforms: [Platform], prefix: String? = nil, overhead: Int = 0
    ) {
        self.name = name
        self.platforms = platforms
        self.prefix = prefix
        self.overhead = overhead
    }

    package func serves(_ platform: Platform) -> Bool { platforms.contains(platform) }

    package func target(_ address: String, on platform: Platform) -> Target? {
        if let prefix {
            // `wp1:https://host/path`: a lane for each origin.
            let parts = address.dropFirst(prefix.count).split(
                separator: "/", omittingEmptySubsequences: false)
            guard parts.count > 3 else { return Target(DeviceToken(address)) }
            return LaneHost(origin: parts[..<3].joined(separator: "/")).map {
                Target(DeviceToken(address), at: $0)
            }
        }
        return switch platform {
        case .ios: DeviceToken(hexadecimal: address).map { Target($0) }
        case .iosDev: DeviceToken(hexadecimal: address).map { Target($0, at: .sandbox) }
        case .android: DeviceToken(opaque: address).map { Target($0) }
        }
    }

    package func payloadSize(of content: Content) -> Int? {
        switch content {
        case .bisq(let content): content.message.utf8.count + overhead
        case .prepared(let push): push.body.utf8.count
        }
    }

    package func nobody(on platform: Platform) -> DeviceToken {
        platform == .android ? .opaqueOfNobody : .hexadecimalOfNobody
    }
}
