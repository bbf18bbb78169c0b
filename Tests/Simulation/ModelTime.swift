import Clocks

/// The time of a ``RelayWorld``, which goes on from one event to the next.
final class ModelTime {
    private(set) var now: MonotonicTime = 1_000_000_000_000
    private var events: [(at: MonotonicTime, number: Int, action: () -> Void)] = []
    private var number = 0

    /// Calls `action` at a time, behind what is to happen then already.
    func at(_ time: MonotonicTime, _ action: @escaping () -> Void) {
        number += 1
        events.append((max(time, now), number, action))
    }

    func after(_ pause: Duration, _ action: @escaping () -> Void) { at(now + pause, action) }

    /// Calls `action` as at the end of a turn of the loop.
    func soon(_ action: @escaping () -> Void) { at(now, action) }

    /// The time of the next event; `nil`: there is none.
    var next: MonotonicTime? { events.lazy.map(\.at).min() }

    func pass(to time: MonotonicTime) { now = max(now, time) }

    /// Passes to the next event.
    func step() {
        guard let index = events.indices.min(by: { isBefore(events[$0], events[$1]) }) else { return }
        let event = events.remove(at: index)
        pass(to: event.at)
        event.action()
    }

    private func isBefore(
        _ one: (at: MonotonicTime, number: Int, action: () -> Void),
        _ other: (at: MonotonicTime, number: Int, action: () -> Void)
    ) -> Bool { (one.at, one.number) < (other.at, other.number) }
}
