import Clocks

/// Tells when a peer sends too many frames within a span of time, in constant memory (88 bytes).
///
/// The span is counted in twenty slots. What is counted lies within the last 19 to 20 of them, so that whoever keeps
/// to the limit is never accused; whoever exceeds it by more than a twentieth always is.
struct FrameRate {
    private static let slotCount: Int64 = 20

    private let slotNanoseconds: Int64
    private let limit: Int
    private var slots = InlineArray<20, UInt16>(repeating: 0)
    /// Frames in all slots together.
    private var count = 0
    /// Number of the youngest slot, counted from the clock's zero.
    private var newest: Int64 = 0

    /// Makes a counter. `limit` is the first count that is too many: 1 to 65,535.
    init(limit: Int, withinSeconds seconds: Int64) {
        precondition((1...Int(UInt16.max)).contains(limit), "a rate limit of \(limit) frames")
        self.limit = limit
        slotNanoseconds = seconds * 1_000_000_000 / Self.slotCount
    }

    /// Counts a frame; true if it is one too many. A clock that went back counts as one that stood still.
    mutating func exceeds(at now: MonotonicTime) -> Bool {
        let slot = now.nanoseconds / slotNanoseconds
        if slot > newest {
            for step in 1...min(slot - newest, Self.slotCount) {
                let index = Int((newest + step) % Self.slotCount)
                count -= Int(slots[index])
                slots[index] = 0
            }
            newest = slot
        }
        let index = Int(newest % Self.slotCount)
        if slots[index] < UInt16.max {
            slots[index] += 1
            count += 1
        }
        return count >= limit
    }
}
