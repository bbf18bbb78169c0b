import Encodings
import Relay

/// The made-up push service of the skeleton, as the core sees it: each phone is `sk1:` and a word.
///
/// A pure value, one for each configured app. The core asks it about every submission, so nothing here waits, opens or
/// remembers anything, and every text is a stranger's: look at its bytes, and at its length first.
struct SkeletonService: PushService {
    /// Two lower-case letters, `1` and a colon, unlike every other service's. Without a prefix an app is found by its name
    /// and platform (`APNsService`).
    static let addressPrefix = "sk1:"
    static let longestWord = 64

    var name: String { "skeleton" }
    var prefix: String? { SkeletonService.addressPrefix }

    func serves(_ platform: Platform) -> Bool { platform == .android }

    /// Gives each address its one spelling: two spellings of one phone would be two phones to the core.
    func target(_ address: String, on platform: Platform) -> Target? {
        SkeletonService.isAddress(address) ? Target(DeviceToken(address)) : nil
    }

    private static func isAddress(_ address: String) -> Bool {
        let prefix = addressPrefix.utf8.count
        return address.withBytes { bytes in
            (prefix + 1...prefix + longestWord).contains(bytes.count) && bytes.starts(with: addressPrefix)
                && bytes.extracting(droppingFirst: prefix).consists { ASCII.letter($0) | ASCII.digit($0) }
        }
    }

    /// `nil` refuses a content of a kind that this service can't carry.
    func payloadSize(of content: Content) -> Int? {
        guard case .bisq(let content) = content else { return nil }
        return content.message.utf8.count
    }

    /// Bytes of the longest message that the service takes. A longer one is refused before it is stored.
    var payloadLimit: Int { 2048 }

    func nobody(on platform: Platform) -> DeviceToken { SkeletonRequest.nobody }
}
