import Relay

/// Counts refused device tokens, to tell whether the configured host, topic or project is wrong.
///
/// Anybody can send to made-up tokens. So once the gateway has accepted a notification, only refusals of devices count for
/// which it has accepted one. Before that at most ``mostOfOneSender`` devices of each sender count.
struct RefusedDevices: Equatable, Sendable {
    /// Different devices refused in a row, with none accepted between them.
    private(set) var inARow = 0
    private var refused: Set<Device> = []
    /// Refused devices of each sender, while nothing has been accepted.
    private var bySender: [SenderID: Int] = [:]
    private(set) var hasAccepted = false
    /// Devices for which the gateway has accepted a notification, in two halves. When ``young`` is full it becomes ``old``,
    /// and the older devices are forgotten.
    private var young: Set<Device> = []
    private var old: Set<Device> = []

    static let most = 8192
    static let mostOfOneSender = 5

    mutating func accepted(_ device: DeviceToken) {
        hasAccepted = true
        bySender = [:]
        if inARow > 0 {
            inARow = 0
            refused = []
        }
        guard young.insert(Device(device)).inserted, young.count == RefusedDevices.most else { return }
        swap(&young, &old)
        young.removeAll(keepingCapacity: true)
    }

    /// Notes that a device was refused.
    ///
    /// - Parameter sender: The sender of the notification; `nil`: not known, or the node itself.
    mutating func refused(_ device: DeviceToken, from sender: SenderID? = nil) {
        let device = Device(device)
        if let sender, !hasAccepted, bySender[sender, default: 0] >= RefusedDevices.mostOfOneSender { return }
        guard !hasAccepted || young.contains(device) || old.contains(device),
            refused.count < RefusedDevices.most, refused.insert(device).inserted
        else { return }
        if let sender, !hasAccepted { bySender[sender, default: 0] += 1 }
        inARow += 1
    }
}

/// A device token as a number, for use in a table. Nobody outside this process can foresee the number, since its seed is
/// random; it is its own hash. Each notification makes one: Swift's hash of the text takes three times as long.
private struct Device: Hashable {
    private let value: Int

    private static let seed = UInt64.random(in: .min ... .max)
    private static let factor = UInt64.random(in: .min ... .max) | 1

    init(_ token: DeviceToken) { self = token.text.withBytes { Device($0) } }

    private init(_ bytes: Span<UInt8>) {
        var rest = bytes
        var (sum, factor) = (Device.seed, Device.factor)
        while rest.count >= 8 {
            var word: UInt64 = 0
            let run = rest.extracting(first: 8)
            for index in 0..<8 { word |= UInt64(run[index]) << UInt64(8 * index) }
            sum = Device.folded(sum ^ word, factor)
            factor &+= Device.seed
            rest = rest.extracting(droppingFirst: 8)
        }
        var last = UInt64(rest.count)
        for index in rest.indices { last = last << 8 | UInt64(rest[index]) }
        value = Int(truncatingIfNeeded: Device.folded(sum ^ last, factor))
    }

    private static func folded(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let product = one.multipliedFullWidth(by: other)
        return product.high ^ product.low
    }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
    func _rawHashValue(seed: Int) -> Int { value ^ seed }
}
