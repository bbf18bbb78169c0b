import Encodings

/// The decision about an entry, before any gateway is asked.
package enum PushDecision: Equatable, Sendable {
    /// No push is sent, and the sender gets this result.
    case answered(PushResult)
    case send(Registration)

    /// Decides in status-go's order (`protocol/pushnotificationserver/server.go`).
    ///
    /// - Parameter registration: of the entry's key and installation; `nil` when there is none, or was one.
    package init(_ entry: PushEntry, _ registration: Registration?) {
        if entry.type == 0 {
            self = .answered(.noReport)
        } else if let registration {
            if !isSame(entry.accessToken, registration.accessToken) {
                self = .answered(.wrongToken)
            } else {
                self = registration.lets(entry) ? .send(registration) : .answered(.accepted)
            }
        } else {
            self = .answered(.notRegistered)
        }
    }
}

extension Registration {
    /// Whether the owner of the phone wants a push for this entry.
    fileprivate func lets(_ entry: PushEntry) -> Bool {
        switch entry.type {
        case 1:
            !blockedChats.contains(entry.chatID) && !mutedChats.contains(entry.chatID)
                && !blockedChats.contains(entry.author)
        case 2:
            !blocksMentions && allowedMentionChats.contains(entry.chatID)
                && !blockedChats.contains(entry.author)
        case 3: !blockedChats.contains(entry.author)
        default: true
        }
    }
}

/// Whether two texts are the same. The time it takes does not say where two texts of one length differ.
private func isSame(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    var difference: UInt8 = 0
    for index in one.indices { difference |= one[index] ^ other[index] }
    return difference == 0
}

/// The text that the phone shows, and the fields that it gets; the words are status-go's (`gorush.go`).
package struct PushContent: Equatable, Sendable {
    package let text: String
    /// The fields beside Apple's own dictionary; for FCM, the data. Values
    /// are `0x` and hex digits, in the order of their names.
    package let data: [(name: String, value: String)]

    package init(_ entry: PushEntry) {
        text =
            switch entry.type {
            case 1: "You have a new message"
            case 3: "Someone requested to join a community you are an admin of"
            default: "Someone mentioned you"
            }
        data = [
            ("chatId", "0x" + Hex.encode(entry.chatID)),
            ("encryptedMessage", "0x" + Hex.encode(entry.message)),
            ("publicKey", "0x" + Hex.encode(entry.keyHash)),
        ]
    }

    package static func == (one: PushContent, other: PushContent) -> Bool {
        one.text == other.text && one.data.elementsEqual(other.data, by: ==)
    }
}
