import Relay

/// The upstreams to which notifications are bound, since they may have them. A bound notification is on its
/// way there, or its outcome was unclear. The oldest are forgotten.
///
/// Each takes 24 bytes: the notification's id, and 8 that stand for the upstream wherever it is in the
/// operator's list.
struct BoundNotifications: Sendable {
    static let most = 4096
    static let recordLength = 24

    private struct Binding: Sendable {
        var upstream: Int
        /// Whether an attempt at the upstream ended unclear. The upstream may have the notification then, even if it takes
        /// nothing now.
        var isUnclear: Bool
    }

    private let marks: [UInt64]
    private var bindings: [NotificationID: Binding] = [:]
    /// Oldest first, with those that have ended meanwhile.
    private var order: ArraySlice<NotificationID> = []

    /// Makes an empty record. Each of `marks` stands for an upstream on disk, wherever the operator's list has it.
    init(marks: [UInt64]) { self.marks = marks }

    var count: Int { bindings.count }

    subscript(id: NotificationID) -> Int? { bindings[id]?.upstream }

    /// Binds a notification to the upstream that it is about to be sent to.
    ///
    /// - Returns: Whether that is news.
    mutating func bind(_ id: NotificationID, to upstream: Int) -> Bool {
        guard bindings[id] == nil else { return false }
        add(id, Binding(upstream: upstream, isUnclear: false))
        return true
    }

    mutating func unclear(_ id: NotificationID) { bindings[id]?.isUnclear = true }

    /// Notes that the upstream surely has not taken the notification this time.
    mutating func notTaken(_ id: NotificationID) {
        if bindings[id]?.isUnclear == false { bindings[id] = nil }
    }

    mutating func ended(_ id: NotificationID) { bindings[id] = nil }

    private mutating func add(_ id: NotificationID, _ binding: Binding) {
        if order.count >= BoundNotifications.most {
            order = order.filter { bindings[$0] != nil && $0 != id }
            if order.count >= BoundNotifications.most { bindings[order.removeFirst()] = nil }
        }
        bindings[id] = binding
        order.append(id)
    }

    // MARK: On disk

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(bindings.count * BoundNotifications.recordLength)
        for id in order {
            guard let binding = bindings[id] else { continue }
            for word in [id.high, id.low, marks[binding.upstream]] {
                for shift in stride(from: 56, through: 0, by: -8) {
                    bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
                }
            }
        }
        return bytes
    }

    /// Takes what was written before a restart; what is not known any more, or no record, is left out. What became of
    /// those is not known.
    mutating func read(_ bytes: [UInt8]) {
        let length = BoundNotifications.recordLength
        for start in stride(from: 0, to: bytes.count - length + 1, by: length).suffix(BoundNotifications.most)
        {
            let words = (0..<3).map { word in
                bytes[(start + 8 * word)..<(start + 8 * word + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            }
            let id = NotificationID(high: words[0], low: words[1])
            guard let upstream = marks.firstIndex(of: words[2]), bindings[id] == nil else { continue }
            add(id, Binding(upstream: upstream, isUnclear: true))
        }
    }
}
