import Clocks

/// Decides which of several upstreams is asked: the first one, in the operator's order, that is not set aside. An upstream
/// that was set aside comes back after a while, once a connection to it stands.
///
/// An upstream that fails one device loses that device's notification to the next upstream. An upstream that has failed
/// several devices of different senders, with none accepted between them, is set aside (``Suspicion``). When the last one
/// fails so, the others are called sooner than their own failures have come to.
package struct UpstreamOrder<Device: Hashable & Sendable>: Sendable {
    package static var firstPause: Duration { .seconds(60) }
    static var longestPause: Duration { .seconds(600) }
    /// Notifications that go another way than the rest. With more, all go the usual way again.
    static var mostDetours: Int { 1024 }

    private struct Upstream: Sendable {
        /// The time until which the upstream is set aside; `nil`: it is not.
        var awayUntil: MonotonicTime?
        /// The time before which the upstream is not called, although no other one takes anything: its first pause, or what
        /// it has asked for.
        var restsUntil: MonotonicTime = 0
        /// Whether the upstream is being called.
        var isTried = false
        /// The number of failures in a row.
        var failures = 0
        var suspicion = Suspicion<Device>()
    }

    private var upstreams: [Upstream]
    private let pauses: Backoff
    /// The upstream of each notification that goes another way because one upstream has not taken it.
    private var detours: [NotificationID: Int] = [:]

    package init(count: Int, firstPause: Duration = UpstreamOrder.firstPause) {
        precondition(count > 0, "no upstream")
        upstreams = Array(repeating: Upstream(), count: count)
        pauses = Backoff(first: firstPause, longest: UpstreamOrder.longestPause)
    }

    /// The first upstream that is not set aside. There always is one.
    package var active: Int { upstreams.firstIndex { $0.awayUntil == nil } ?? 0 }

    package func isAside(_ index: Int) -> Bool { upstreams[index].awayUntil != nil }

    /// Sets an upstream aside, which surely takes nothing now.
    ///
    /// - Parameter asked: The time that the upstream itself has asked for.
    /// - Returns: Whether there is another one to ask. If not, it stays, and the others are called sooner.
    package mutating func setAside(_ index: Int, for asked: Duration? = nil, at time: MonotonicTime) -> Bool {
        let isOther = upstreams.indices.contains { $0 != index && upstreams[$0].awayUntil == nil }
        guard isOther else {
            hasten()
            return false
        }
        let asked = min(asked ?? .zero, .seconds(86400))
        if let until = upstreams[index].awayUntil, !upstreams[index].isTried {
            // What else was on its way there fails as well, which is no further failure.
            upstreams[index].awayUntil = max(until, time + asked)
            upstreams[index].restsUntil = max(upstreams[index].restsUntil, time + asked)
            return true
        }
        let pause = max(pauses.bound(doubled: upstreams[index].failures), asked)
        upstreams[index].failures += 1
        upstreams[index].isTried = false
        upstreams[index].awayUntil = time + pause
        upstreams[index].restsUntil = time + max(pauses.bound(doubled: 0), asked)
        return true
    }

    /// Has every upstream that is set aside called as soon as may be: no other one takes anything.
    private mutating func hasten() {
        for index in upstreams.indices {
            let rest = upstreams[index].restsUntil
            upstreams[index].awayUntil = upstreams[index].awayUntil.map { min($0, rest) }
        }
    }

    /// Makes every upstream that is set aside due now, however long it has asked to be left alone.
    package mutating func retryNow(at time: MonotonicTime) {
        for index in upstreams.indices {
            upstreams[index].awayUntil = upstreams[index].awayUntil.map { min($0, time) }
        }
    }

    /// Takes the upstreams that are to be called now, each once.
    package mutating func takeDue(at time: MonotonicTime) -> [Int] {
        upstreams.indices.filter { index in
            guard !upstreams[index].isTried, let until = upstreams[index].awayUntil, until <= time else {
                return false
            }
            upstreams[index].isTried = true
            return true
        }
    }

    /// Brings an upstream back: a connection to it stands. It is left again only when several devices hear so anew.
    package mutating func connected(_ index: Int) {
        guard upstreams[index].isTried else { return }
        upstreams[index].awayUntil = nil
        upstreams[index].isTried = false
        upstreams[index].suspicion.hearAnew()
    }

    /// Notes that an upstream has judged a notification for this device: it works.
    package mutating func answered(_ index: Int, _ device: Device) {
        upstreams[index].suspicion.answered(device)
        upstreams[index].failures = 0
    }

    /// Notes that an upstream has said to this device, and surely taken nothing, that it works for nobody.
    ///
    /// - Parameter few: See ``Deferral/witnesses``.
    /// - Returns: Whether that is believed.
    package mutating func failed(
        _ index: Int, _ device: Device, from sender: SenderID?, witnesses few: Int = Deferral.fewWitnesses,
        at time: MonotonicTime
    ) -> Bool {
        upstreams[index].suspicion.failed(device, from: sender)
        return upstreams[index].suspicion.isReason(witnesses: few, at: time)
    }

    // MARK: One notification

    /// Returns the upstream that is asked for a notification.
    package func place(of id: NotificationID) -> Int {
        guard !detours.isEmpty, let index = detours[id], upstreams[index].awayUntil == nil else {
            return active
        }
        return index
    }

    /// Sends a notification to the next upstream, since the one at `index` has surely not taken it.
    ///
    /// - Returns: Whether there is an upstream behind `index` that is not set aside.
    package mutating func detour(_ id: NotificationID, from index: Int) -> Bool {
        let next = upstreams.indices.first { $0 > index && upstreams[$0].awayUntil == nil }
        guard let next else {
            detours[id] = nil
            return false
        }
        if detours.count >= UpstreamOrder.mostDetours { detours = [:] }
        detours[id] = next
        return true
    }

    package mutating func ended(_ id: NotificationID) {
        if !detours.isEmpty { detours[id] = nil }
    }

    /// The time when one of the upstreams is to be called next.
    package var wakeAt: MonotonicTime? { upstreams.lazy.filter { !$0.isTried }.compactMap(\.awayUntil).min() }
}
