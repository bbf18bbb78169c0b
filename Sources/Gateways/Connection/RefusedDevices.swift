import Relay

/// Whether refused device tokens say that the configured host, topic or project is wrong.
///
/// Anybody can send to made-up tokens, so these say nothing once the gateway has taken a notification: from then on only
/// devices count that it has taken one for.
struct RefusedDevices: Equatable, Sendable {
    /// Different devices refused in a row, with none accepted between them.
    private(set) var inARow = 0
    private var refused: Set<Int> = []
    private var hasAccepted = false
    /// Hashes of devices, the older half of which go when there are too many.
    private var young: Set<Int> = []
    private var old: Set<Int> = []

    static let most = 8192

    mutating func accepted(_ device: DeviceToken) {
        hasAccepted = true
        if inARow > 0 {
            inARow = 0
            refused = []
        }
        let hash = device.hashValue
        guard !young.contains(hash) else { return }
        if young.count == RefusedDevices.most { (young, old) = ([], young) }
        young.insert(hash)
    }

    mutating func refused(_ device: DeviceToken) {
        let hash = device.hashValue
        guard !hasAccepted || young.contains(hash) || old.contains(hash), refused.count < RefusedDevices.most,
            refused.insert(hash).inserted
        else { return }
        inARow += 1
    }
}
