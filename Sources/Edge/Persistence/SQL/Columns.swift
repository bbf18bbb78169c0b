import Relay

/// The yes-or-no facts of a notification in one column.
struct Flags: OptionSet {
    let rawValue: Int64

    static let sandbox = Flags(rawValue: 1)
    static let urgent = Flags(rawValue: 2)
    static let sound = Flags(rawValue: 4)
    static let mutableContent = Flags(rawValue: 8)
    static let contentAvailable = Flags(rawValue: 16)
    /// The text under `message` was made by a door.
    static let prepared = Flags(rawValue: 32)
    static let alert = Flags(rawValue: 64)
    /// Two bits: ``PreparedPush/Expiry``.
    static let expiryShift: Int64 = 7
    static let expiryMask: Int64 = 3
    static let exact = Flags(rawValue: 512)
}

extension Notification {
    package var flags: Int64 {
        var flags: Flags = []
        if lane.host == .sandbox { flags.insert(.sandbox) }
        if content.isUrgent { flags.insert(.urgent) }
        switch content {
        case .bisq(let content):
            if content.hasSound { flags.insert(.sound) }
            if content.isMutableContent { flags.insert(.mutableContent) }
            if content.isContentAvailable { flags.insert(.contentAvailable) }
            return flags.rawValue
        case .prepared(let push):
            flags.insert(.prepared)
            switch push.payload {
            case .object(_, let isAlert): if isAlert { flags.insert(.alert) }
            case .members: flags.insert(.alert)
            case .exact: flags.insert(.exact)
            }
            return flags.rawValue | push.expiry.rawValue << Flags.expiryShift
        }
    }
}

extension LaneID {
    /// Makes the lane of a row from its columns.
    ///
    /// - Parameter host: `nil`: as the flags say.
    init(app: String, flags: Flags, host: String?) {
        self.init(
            app: app, host: host.map { LaneHost($0) } ?? (flags.contains(.sandbox) ? .sandbox : .production))
    }
}

extension LaneHost {
    /// The name of the host; `nil` where the flags say it.
    package var column: String? { self == .production || self == .sandbox ? nil : name }
}

extension BisqContent {
    init(flags: Flags, message: String) {
        self.init(
            message: message, isUrgent: flags.contains(.urgent), hasSound: flags.contains(.sound),
            isMutableContent: flags.contains(.mutableContent),
            isContentAvailable: flags.contains(.contentAvailable))
    }
}

extension PreparedPush {
    /// Makes the push from the columns of its row.
    ///
    /// - Parameter fields: ``fieldLines`` of what was stored.
    init(flags: Flags, body: String, fields: String, collapseID: String?) {
        let payload: Payload
        if flags.contains(.exact) {
            payload = .exact(fields: fields.split(separator: "\n").compactMap(Field.init(line:)), body: body)
        } else if body.utf8.first == UInt8(ascii: "{") {
            payload = .object(body, isAlert: flags.contains(.alert))
        } else {
            // A JSON object's members without its braces.
            payload = .members(body)
        }
        self.init(
            payload, isUrgent: flags.contains(.urgent),
            // Three of the four values are ours; nobody writes the fourth.
            expiry: Expiry(rawValue: flags.rawValue >> Flags.expiryShift & Flags.expiryMask)
                ?? .withNotification,
            collapseID: collapseID)
    }
}

extension PreparedPush {
    /// Fields of the request's head, `name: value` on a line each.
    package var fieldLines: String {
        guard case .exact(let fields, _) = payload else { return "" }
        return fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }
}

extension PreparedPush.Field {
    fileprivate init?(line: Substring) {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        self.init(String(line[..<colon]), String(line[colon...].dropFirst(2)))
    }
}

/// The end of a notification as a number, a word, and the gateway's text for the sender.
extension Ending {
    var code: Int64 {
        switch self {
        case .delivered: 1
        case .refused: 2
        case .tokenDead: 3
        case .expired: 4
        }
    }

    var detail: String? {
        switch self {
        case .delivered, .expired: nil
        case .refused(_, let detail), .tokenDead(_, let detail): detail
        }
    }

    package init?(code: Int64, reason: String, detail: String?) {
        switch code {
        case 1: self = .delivered
        case 2: self = .refused(reason: Reason(stored: reason), detail: detail)
        case 3: self = .tokenDead(reason: Reason(stored: reason), detail: detail)
        case 4: self = .expired
        default: return nil
        }
    }
}
