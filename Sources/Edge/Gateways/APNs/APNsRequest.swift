import Relay

/// A notification as APNs takes it: `POST /3/device/<token>` (Apple, "Sending notification requests to APNs").
package enum APNsRequest {
    /// Returns the body that the door has made, or Bisq's, byte for byte as bisq-relay 2.0.0 writes it:
    /// `{"encrypted":"…","aps":{"alert":{"loc-key":"notification"},"content-available":1,"mutable-content":1}}`.
    ///
    /// A notification that is not urgent is a true background push: no alert and no sound, as Apple's rule
    /// for that push type asks.
    package static func body(_ notification: Notification) -> [UInt8] {
        switch notification.content {
        case .bisq(let content): body(content)
        case .prepared(let push): Array(push.body.utf8)
        }
    }

    private static func body(_ content: BisqContent) -> [UInt8] {
        let ending = ending(content)
        var body: [UInt8] = []
        body.reserveCapacity(opening.count + content.message.utf8.count + ending.count)
        body.append(contentsOf: opening)
        // A checked message holds nothing that JSON must escape.
        body.append(contentsOf: content.message.utf8)
        body.append(contentsOf: ending)
        return body
    }

    /// Counts the bytes of ``body(_:)``; Apple takes 4,096.
    package static func payloadSize(_ content: BisqContent) -> Int {
        opening.count + content.message.utf8.count + ending(content).count
    }

    private static let opening = Array(#"{"encrypted":""#.utf8)
    private static let backgroundEnding = Array(#"","aps":{"content-available":1}}"#.utf8)

    private static func ending(_ content: BisqContent) -> [UInt8] {
        guard content.isUrgent else { return backgroundEnding }
        return alertEndings[
            (content.isContentAvailable ? 1 : 0) + (content.hasSound ? 2 : 0)
                + (content.isMutableContent ? 4 : 0)]
    }

    /// The endings of alerts, for each choice of content-available (1), sound (2) and mutable-content (4).
    private static let alertEndings: [[UInt8]] = (0..<8).map { choice in
        var ending = #"","aps":{"alert":{"loc-key":"notification"}"#
        if choice & 1 != 0 { ending += #","content-available":1"# }
        if choice & 2 != 0 { ending += #","sound":"default""# }
        if choice & 4 != 0 { ending += #","mutable-content":1"# }
        return Array((ending + "}}").utf8)
    }
}
