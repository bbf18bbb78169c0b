import Clocks

/// The judgement whether a gateway fails, or single devices.
///
/// An overloaded gateway and wrong credentials show as answers to single notifications, and so does what is wrong with one
/// device. Where others are answered in between, the device is at fault: then it alone waits. Only several different
/// devices, brought by different senders, that fail with no answer between them are witnesses against the gateway.
///
/// Each time such witnesses prove wrong it takes twice as many for a while.
package struct Suspicion<Device: Hashable & Sendable>: Sendable {
    enum Finding: Equatable, Sendable {
        /// The device failed before, and others have been answered since.
        case alone
        /// The device failed before, and no other has been answered since.
        case again
        /// The device had not failed: it is a witness.
        case news
    }

    /// Devices that have failed and were not answered since, each with ``answers`` as it was the first time.
    private var failed: [Device: Int] = [:]
    /// How often the gateway answered after somebody had failed.
    private var answers = 0
    /// Devices that have failed since it last answered.
    private(set) var witnesses = 0
    /// The senders that brought the ``witnesses``; witnesses that nobody is known to have brought count as
    /// one each.
    private var senders: Set<SenderID> = []
    private var unknownSenders = 0
    /// The senders that have brought devices that failed, also before the gateway last answered.
    private var suspects: Set<SenderID> = []
    /// The number of times that witnesses have proved wrong lately.
    private var mistakes = 0
    /// The time at which witnesses last proved wrong.
    private var doubtedAt: MonotonicTime = 0

    /// The most devices, and the most senders, that are remembered. With
    /// more devices that fail, all are suspected anew.
    static var most: Int { 4096 }
    /// The number of devices of one sender that count as another sender.
    private static var devicesPerSender: Int { 8 }
    private static var mostDoubts: Int { 4 }
    private static var memory: Duration { .seconds(600) }

    package init() {}

    /// Whether a device fails while others are answered.
    func isAlone(_ device: Device) -> Bool { failed[device].map { $0 != answers } ?? false }

    /// Whether a device has failed and was not answered since.
    func isKnown(_ device: Device) -> Bool { failed[device] != nil }
    /// Whether a sender has brought a device that has failed.
    func isSuspect(_ sender: SenderID?) -> Bool { sender.map(suspects.contains) ?? false }

    /// Returns how often witnesses have proved wrong lately. Once: what fails
    /// may be a device's own; again: more likely it is.
    func doubts(at time: MonotonicTime) -> Int { time - doubtedAt < Suspicion.memory ? mistakes : 0 }
    /// Whether something has failed since the gateway last answered.
    var hasWitnesses: Bool { witnesses > 0 }
    /// The number of senders whose devices have failed since the gateway last answered; many devices count as
    /// more senders.
    var voices: Int { max(senders.count + unknownSenders, witnesses / Suspicion.devicesPerSender) }

    /// Notes that a device has failed; `wasAlone`: before the start too, while others were answered.
    @discardableResult
    mutating func failed(_ device: Device, from sender: SenderID?, wasAlone: Bool = false) -> Finding {
        if let before = failed[device] { return before == answers ? .again : .alone }
        if failed.count == Suspicion.most { failed = [:] }
        failed[device] = wasAlone ? answers - 1 : answers
        guard !wasAlone else { return .alone }
        witnesses += 1
        if let sender {
            if senders.count < Suspicion.most { senders.insert(sender) }
            if suspects.count == Suspicion.most { suspects = [] }
            suspects.insert(sender)
        } else {
            unknownSenders += 1
        }
        return .news
    }

    /// Whether the devices of `few` different senders or more, twice as many for each
    /// doubt, have failed with no answer between them.
    func isReason(witnesses few: Int, at time: MonotonicTime) -> Bool {
        voices >= few << doubts(at: time)
    }

    /// Notes that the gateway has judged a notification.
    ///
    /// - Returns: Whether somebody had failed since it last did.
    @discardableResult
    mutating func answered(_ device: Device) -> Bool {
        if !failed.isEmpty { failed[device] = nil }
        guard witnesses > 0 else { return false }
        dismissWitnesses()
        answers += 1
        return true
    }

    /// Notes that the gateway is tried anew after a pause: what was said against it before is over. Who failed while others were
    /// answered is still known for that.
    mutating func hearAnew() {
        failed = failed.filter { $0.value != answers }
        dismissWitnesses()
    }

    private mutating func dismissWitnesses() {
        witnesses = 0
        senders = []
        unknownSenders = 0
    }

    /// Notes that the witnesses have proved wrong.
    mutating func doubt(at time: MonotonicTime) {
        let before = doubts(at: time)
        if before == 0 { suspects = senders }
        mistakes = min(before + 1, Suspicion.mostDoubts)
        doubtedAt = time
    }

    /// Notes that the witnesses were right.
    mutating func trust() { mistakes = 0 }
}
