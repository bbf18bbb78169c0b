import Relay

/// Whether refused device tokens say that the configured host, topic or project is wrong.
///
/// Anybody can send to made-up tokens, so these say nothing once the gateway has taken a notification: from then on only
/// devices count that it has taken one for. Before that only a few of each sender do.
struct RefusedDevices: Equatable, Sendable {
    /// Different devices refused in a row, with none accepted between them.
    private(set) var inARow = 0
    private var refused: Set<Int> = []
    /// Of each sender, while nothing has been accepted.
    private var bySender: [SenderID: Int] = [:]
    private(set) var hasAccepted = false
    /// Hashes of devices, the older half of which go when there are too many.
    private var young: Set<Int> = []
    private var old: Set<Int> = []

    static let most = 8192
    static let mostOfOneSender = 5

    mutating func accepted(_ device: DeviceToken) {
        hasAccepted = true
        bySender = [:]
        if inARow > 0 {
            inARow = 0
            refused = []
        }
        let hash = device.hashValue
        guard !young.contains(hash) else { return }
        if young.count == RefusedDevices.most { (young, old) = ([], young) }
        young.insert(hash)
    }

    /// - Parameter sender: `nil`: not known, or the node itself.
    mutating func refused(_ device: DeviceToken, from sender: SenderID? = nil) {
        let hash = device.hashValue
        if let sender, !hasAccepted, bySender[sender, default: 0] >= RefusedDevices.mostOfOneSender { return }
        guard !hasAccepted || young.contains(hash) || old.contains(hash), refused.count < RefusedDevices.most,
            refused.insert(hash).inserted
        else { return }
        if let sender, !hasAccepted { bySender[sender, default: 0] += 1 }
        inARow += 1
    }
}
