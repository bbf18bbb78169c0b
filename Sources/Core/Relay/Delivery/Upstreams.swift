import Clocks
import Encodings

/// Decides for a gateway with several upstreams which upstream gets a notification, which notifications may use room at an
/// upstream, and what an upstream's answer means for the others. There is one for each lane of an app.
///
/// A notification that an upstream may have already is bound to that upstream, by a record that the app's lanes share. A
/// notification that an upstream has surely not taken goes to the next one. Both wait for room at their own upstream, even
/// while another one is active. What follows from an event is a list of ``Act``s, to be carried out in order.
package struct Upstreams: Sendable {
    package enum Act: Equatable, Sendable {
        /// Sees to it that there is a connection to an upstream.
        case call(Int)
        /// Nothing needs a connection to an upstream any more.
        case letRest(Int)
        /// Sends what waits for room at an upstream, as far as it has any. If more waits, that goes with its next room.
        case serve(Int)
        /// Tells the core that there may be room for whatever comes next, or a fault.
        case tell
        /// Tells the core that what an upstream has put off may go to another one now.
        case tellAnew
        /// Writes into the log that an upstream takes nothing, and another one is asked.
        case noteLeft(Int, reason: String)
        /// Writes into the log that an upstream is asked again.
        case noteBack(Int)
    }

    private var order: UpstreamOrder<DeviceToken>
    /// Notifications of the lane on their way to each upstream for which it is being written down that they are.
    package private(set) var binding: [Int]
    /// Whether an upstream has put off what no other one could be asked for, and none has come back since.
    private var hasPutOff = false
    private var acts: [Act] = []

    /// No answer yet: the notification waits for an upstream that is not connected.
    package static var away: String { "UpstreamAway" }

    /// The pause of a notification that waits for the upstream that may have it: then it is called for its sake.
    static var pauseOfBound: Duration { .seconds(30) }
    /// The pause of a notification that the upstream before has not taken, while the next one is being called.
    static var pauseOfDetour: Duration { .seconds(2) }

    package init(count: Int, firstPause: Duration = UpstreamOrder<DeviceToken>.firstPause) {
        order = UpstreamOrder(count: count, firstPause: firstPause)
        binding = Array(repeating: 0, count: count)
    }

    package mutating func takeActs() -> [Act] {
        defer { acts = [] }
        return acts
    }

    /// The upstream that gets whatever has no upstream of its own.
    package var active: Int { order.active }

    /// The time when one of the upstreams is to be called next: see ``wake(at:)``.
    package var wakeAt: MonotonicTime? { order.wakeAt }

    // MARK: Room

    /// Returns the room at an upstream, of which its link has `free`: what is being written down has its place already.
    package func room(at index: Int, free: Int) -> Int { max(0, free - binding[index]) }

    /// Notes that an upstream has room, or that its way has a fault.
    package mutating func gotRoom(_ index: Int, isFault: Bool) {
        guard !isFault else { return acts.append(.tell) }
        if order.isAside(index) {
            order.connected(index)
            if !order.isAside(index) { bringBack(index) }
        }
        acts += [.serve(index), .tell]
    }

    private mutating func bringBack(_ index: Int) {
        acts.append(.noteBack(index))
        if hasPutOff { acts.append(.tellAnew) }
        hasPutOff = false
    }

    /// Notes that a connection to an upstream has failed.
    package mutating func failed(_ index: Int, _ reason: String, at time: MonotonicTime) {
        leave(index, reason, for: nil, at: time)
    }

    /// Calls all that were left: the operator wants it.
    package mutating func retryNow(at time: MonotonicTime) {
        order.retryNow(at: time)
        wake(at: time)
    }

    package mutating func wake(at time: MonotonicTime) {
        for index in order.takeDue(at: time) { acts.append(.call(index)) }
    }

    /// Leaves an upstream; returns whether another one is asked instead.
    @discardableResult
    private mutating func leave(
        _ index: Int, _ reason: String, for pause: Duration?, at time: MonotonicTime
    ) -> Bool {
        let isNews = !order.isAside(index)
        guard order.setAside(index, for: pause, at: time) else { return false }
        acts.append(.letRest(index))
        if isNews { acts.append(.noteLeft(index, reason: reason)) }
        acts.append(.call(order.active))
        return true
    }

    // MARK: One notification

    /// Returns the upstream of a notification. `bound` is the one that may have it already.
    package func place(of id: NotificationID, bound: Int?) -> Int { bound ?? order.place(of: id) }

    /// Notes that it is being written down that a notification is sent to an upstream.
    package mutating func beginBinding(to index: Int) { binding[index] += 1 }

    /// Notes that it is written down, and the notification sent. Who waits for its place may have it.
    package mutating func endBinding(to index: Int, isLate: Bool) {
        binding[index] -= 1
        if isLate { acts += [.serve(index), .tell] }
    }

    /// Returns the outcome of a notification without room at its upstream.
    ///
    /// - Parameters:
    ///   - isBound: Whether that upstream may have it already.
    ///   - own: The outcome if no other upstream is asked.
    package func outcomeWithoutRoom(at index: Int, isBound: Bool, own: Outcome) -> Outcome {
        guard index != order.active else { return own }
        let pause = isBound ? Upstreams.pauseOfBound : Upstreams.pauseOfDetour
        return .deferred(Deferral(reason: Upstreams.away, scope: .device, retryAfter: pause, way: index))
    }

    /// Notes that an upstream has judged a notification: it works.
    package mutating func judged(_ notification: Notification, at index: Int) {
        order.answered(index, notification.deviceToken)
        order.ended(notification.id)
    }

    /// Returns the outcome of a notification that the upstream has surely not taken: it goes to another upstream. Returns
    /// `nil` where no other upstream is to be asked.
    ///
    /// - Parameters:
    ///   - pause: The time until the same upstream is asked again.
    ///   - asked: The time that the upstream itself has asked for.
    ///   - isBound: Whether the upstream may have taken it earlier. Then the same one is asked again.
    package mutating func passOn(
        _ notification: Notification, from index: Int, _ reason: String, after pause: Duration?,
        asked: Duration?, isBound: Bool, at time: MonotonicTime
    ) -> Outcome? {
        if suspect(index, of: notification, reason, after: asked, at: time) {
            order.ended(notification.id)
        } else if !order.detour(notification.id, from: index) {
            hasPutOff = true
            return nil
        }
        return .deferred(
            Deferral(
                reason: reason, scope: .device, retryAfter: isBound ? pause : nil, isUnharmed: !isBound))
    }

    /// Returns the outcome of a notification that an upstream may have taken. It is for the same one again; the others need not
    /// wait for it.
    package mutating func unclear(
        _ notification: Notification, at index: Int, _ reason: String, after pause: Duration?,
        at time: MonotonicTime
    ) -> Outcome {
        let isLeft = suspect(index, of: notification, reason, after: pause, at: time)
        return .deferred(Deferral(reason: reason, scope: isLeft ? .device : .host, retryAfter: pause))
    }

    /// Notes that an upstream has failed a notification. It is left if enough devices have heard so there.
    private mutating func suspect(
        _ index: Int, of notification: Notification, _ reason: String, after pause: Duration?,
        at time: MonotonicTime
    ) -> Bool {
        order.failed(index, notification.deviceToken, from: notification.sender, at: time)
            && leave(index, reason, for: pause, at: time)
    }
}
