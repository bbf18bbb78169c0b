/// Whether it is a lane's gateway that fails, or single devices.
///
/// An overloaded gateway and wrong credentials show as answers to single notifications, and so does what is wrong with one
/// device. Where others are answered in between, the device is at fault: then it alone waits. Only several different
/// devices that fail with no answer between them are witnesses against the gateway.
struct Suspicion: Sendable {
    enum Finding: Equatable, Sendable {
        /// Others have been answered since it failed first.
        case alone
        /// Nobody has.
        case again
        /// Nor before it; so many different devices say the same by now.
        case news(witnesses: Int)
    }

    /// Devices that have failed and were not answered since, each with ``answers`` as it was the first time.
    private var failed: [Digest: Int] = [:]
    /// How often the gateway answered after somebody had failed.
    private var answers = 0
    private(set) var witnesses = 0

    /// Whoever has more devices that fail is suspected anew.
    static let most = 4096

    func isAlone(_ token: Digest) -> Bool { failed[token].map { $0 != answers } ?? false }

    mutating func failed(_ token: Digest) -> Finding {
        if let before = failed[token] { return before == answers ? .again : .alone }
        if failed.count == Suspicion.most { failed = [:] }
        failed[token] = answers
        witnesses += 1
        return .news(witnesses: witnesses)
    }

    /// The gateway has judged a notification.
    ///
    /// - Returns: Whether somebody had failed since it last did.
    mutating func answered(_ token: Digest) -> Bool {
        if !failed.isEmpty { failed[token] = nil }
        guard witnesses > 0 else { return false }
        witnesses = 0
        answers += 1
        return true
    }
}
