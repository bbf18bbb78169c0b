/// Decides whether there is room for one more notification: for its device token, and in the node as a whole.
///
/// What is refused here is answered `Busy` with a time: nothing is stored, nothing is lost.
package struct Admission: Sendable {
    package struct Limits: Equatable, Sendable {
        /// Notifications a second for one device token, on average.
        package var tokenRate = 2.0
        /// How many of them may come at once.
        package var tokenBurst = 5
        /// How many of one device token may wait for delivery.
        package var waitingPerToken = 64
        /// How many may wait in the whole node.
        package var waiting = 100_000
        /// Bytes of message and token that may wait in the whole node.
        package var waitingBytes = 256 << 20

        package init() {}
    }

    /// One device token: how far its rate is used up, and what waits for it.
    private struct Account {
        /// Monotonic nanoseconds at which the rate is unused again ("theoretical arrival time" of the generic cell
        /// rate algorithm, ITU-T I.371).
        var usedUntil: Int64 = 0
        var waiting = 0
    }

    private let limits: Limits
    private let interval: Int64
    private var accounts: [Digest: Account] = [:]
    private var nextSweep: Int64 = 0
    package private(set) var waiting = 0
    package private(set) var waitingBytes = 0

    private static let sweepInterval: Int64 = 1_000_000_000
    private static let retryWhenFull: Duration = .seconds(30)

    package init(limits: Limits) {
        self.limits = limits
        interval = Int64(1_000_000_000 / limits.tokenRate)
    }

    /// Takes one place, or says when to try again. A place taken is given back by ``release(token:size:)``.
    mutating func admit(token: Digest, size: Int, at now: Instant) -> Duration? {
        sweep(at: now.monotonicNanoseconds)
        guard waiting < limits.waiting, waitingBytes + size <= limits.waitingBytes else {
            return Admission.retryWhenFull
        }
        let time = now.monotonicNanoseconds
        let isAdmitted: Duration? = {
            (account: inout Account) in
            guard account.waiting < limits.waitingPerToken else { return Admission.retryWhenFull }
            let earliest = account.usedUntil - interval * Int64(limits.tokenBurst - 1)
            guard time >= earliest else { return .nanoseconds(earliest - time) }
            account.usedUntil = max(account.usedUntil, time) + interval
            account.waiting += 1
            return nil
        }(&accounts[token, default: Account()])
        guard isAdmitted == nil else { return isAdmitted }
        waiting += 1
        waitingBytes += size
        return nil
    }

    /// Takes a place for what was accepted before this process began: no limit can refuse it.
    mutating func restore(token: Digest, size: Int) {
        accounts[token, default: Account()].waiting += 1
        waiting += 1
        waitingBytes += size
    }

    mutating func release(token: Digest, size: Int) {
        accounts[token]?.waiting -= 1
        waiting -= 1
        waitingBytes -= size
    }

    /// Forgets tokens that have nothing waiting and a fresh rate, so that the table stays as small as the traffic of
    /// the last seconds.
    private mutating func sweep(at time: Int64) {
        guard time >= nextSweep else { return }
        nextSweep = time + Admission.sweepInterval
        accounts = accounts.filter { $0.value.waiting > 0 || $0.value.usedUntil > time }
    }
}
