import Relay

/// The yes-or-no facts of a notification in one column.
struct Flags: OptionSet {
    let rawValue: Int64

    static let sandbox = Flags(rawValue: 1)
    static let urgent = Flags(rawValue: 2)
    static let sound = Flags(rawValue: 4)
    static let mutableContent = Flags(rawValue: 8)
    static let contentAvailable = Flags(rawValue: 16)
}

extension Notification {
    var flags: Int64 {
        var flags: Flags = []
        if isSandbox { flags.insert(.sandbox) }
        if isUrgent { flags.insert(.urgent) }
        if hasSound { flags.insert(.sound) }
        if isMutableContent { flags.insert(.mutableContent) }
        if isContentAvailable { flags.insert(.contentAvailable) }
        return flags.rawValue
    }

    init(
        id: NotificationID, app: String, flags: Int64, deviceToken: String, message: String,
        acceptedAt: Int64,
        expiresAt: Int64
    ) {
        let flags = Flags(rawValue: flags)
        self.init(
            id: id, app: app, isSandbox: flags.contains(.sandbox), deviceToken: deviceToken, message: message,
            isUrgent: flags.contains(.urgent), hasSound: flags.contains(.sound),
            isMutableContent: flags.contains(.mutableContent),
            isContentAvailable: flags.contains(.contentAvailable),
            expiresAt: expiresAt, acceptedAt: acceptedAt)
    }
}

/// How a notification ended, as a number, a word, and the gateway's text for the sender.
extension Ending {
    var code: Int64 {
        switch self {
        case .delivered: 1
        case .refused: 2
        case .tokenDead: 3
        case .expired: 4
        }
    }

    var reason: String? {
        switch self {
        case .delivered, .expired: nil
        case .refused(let reason, _), .tokenDead(let reason, _): reason
        }
    }

    var detail: String? {
        switch self {
        case .delivered, .expired: nil
        case .refused(_, let detail), .tokenDead(_, let detail): detail
        }
    }

    init?(code: Int64, reason: String, detail: String?) {
        switch code {
        case 1: self = .delivered
        case 2: self = .refused(reason: reason, detail: detail)
        case 3: self = .tokenDead(reason: reason, detail: detail)
        case 4: self = .expired
        default: return nil
        }
    }
}
