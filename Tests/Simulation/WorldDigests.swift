@testable import Relay

/// Texts and their digests.
extension World {
    static func digests(_ submission: Submission, to recipient: Recipient) -> SubmissionDigests {
        let token = digest(
            ofToken: recipient.deviceToken.text, in: recipient.lane)
        // Messages differ in their number.
        let number = UInt64(submission.content.message.drop { $0 == "A" }) ?? 0
        let content = Digest(high: number, low: scatter(number) ^ (token.high << 8 | token.low))
        let identity = submission.uid.flatMap { UInt64($0.dropFirst(3)) }.map {
            // No message has such a number.
            Digest(high: $0 | 1 << 40, low: scatter($0) ^ (recipient.isOfAlias ? token.low : .max))
        }
        return SubmissionDigests(token: token, identity: identity ?? content, content: content)
    }

    /// Another for each. Tables look at a digest's lower half only: were it the same for all, each look would pass all of them.
    private static func scatter(_ number: UInt64) -> UInt64 { number &* 0x9E37_79B9_7F4A_7C15 }

    static func digest(ofToken token: String, in lane: LaneID) -> Digest {
        // Devices differ in their first digits, those of origins in their last.
        Digest(
            high: UInt64((World.lanes + World.origins).firstIndex(of: lane) ?? 99),
            low: lane.host.isOrigin
                ? UInt64(token.utf8.last ?? 0) : UInt64(token.prefix(8), radix: 16) ?? 0)
    }

    /// The same in a shard of its own.
    static func spread(_ token: Digest) -> Digest {
        Digest(high: token.high | (token.high &* 85 &+ (token.low & 255) &* 37) << 56, low: token.low)
    }
}

extension Content {
    static func bisq(message: String) -> Content {
        Submission(platform: .android, deviceToken: "", message: message).content
    }

    /// Bisq's message; nothing else is sent here.
    fileprivate var message: String {
        guard case .bisq(let content) = self else { return "" }
        return content.message
    }
}

extension SubmissionDigests {
    /// Devices in shards of their own.
    var spread: SubmissionDigests {
        SubmissionDigests(token: World.spread(token), identity: identity, content: content)
    }

    /// Each second message of a device seems to be another device's.
    var ofAnotherDevice: SubmissionDigests {
        let token = Digest(high: token.high | (content.high & 1) << 32, low: token.low)
        return SubmissionDigests(token: token, identity: identity, content: content)
    }
}
