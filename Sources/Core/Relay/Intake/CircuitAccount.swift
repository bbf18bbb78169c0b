import Clocks

/// The share that one circuit of the onion service has used up, over all connections that came by it.
///
/// Frames, refused notifications and bytes over the share only make it slower: it is read no further for a while. Breaking
/// rules, more connections than allowed, and asking on although everything is refused, are strikes, and too many of these
/// within a minute are the circuit's end.
package struct CircuitAccount: Sendable {
    /// 0: no limit.
    package struct Limits: Equatable, Sendable {
        /// The most connections at a time.
        package var connections: Int
        /// Frames, or HTTP requests, a second, on average over ten seconds.
        package var framesPerSecond: Int {
            didSet { frames = CircuitAccount.rate(framesPerSecond) }
        }
        /// Bytes a second from the peer; 0: no limit.
        package var bytesPerSecond: Int {
            didSet { bytes = CircuitAccount.rate(bytesPerSecond) }
        }
        fileprivate private(set) var frames: Rate?
        fileprivate private(set) var bytes: Rate?
        /// Broken rules within a minute, the last of which ends the circuit.
        package var strikes: Int

        package init(
            connections: Int = 32, framesPerSecond: Int = 200, bytesPerSecond: Int = 1 << 20, strikes: Int = 5
        ) {
            self.connections = connections
            self.framesPerSecond = framesPerSecond
            self.bytesPerSecond = bytesPerSecond
            self.strikes = strikes
            frames = CircuitAccount.rate(framesPerSecond)
            bytes = CircuitAccount.rate(bytesPerSecond)
        }
    }

    /// The limits of all accounts of some doors: there are many, and none holds a copy.
    package final class SharedLimits: Sendable {
        fileprivate let limits: Limits

        package init(_ limits: Limits) { self.limits = limits }
    }

    private static func rate(_ perSecond: Int) -> Rate? {
        perSecond > 0 ? Rate(perSecond: Double(perSecond), burst: burst * perSecond + 1) : nil
    }

    /// The number of frames that a circuit pays for a notification that its gateway refuses, or whose device
    /// is dead: made-up device tokens use up the operator's good name at Apple and Google.
    package static let framesPerRefusal = 50

    /// The number of seconds whose share may come at once.
    private static let burst = 10
    /// The number of refused requests that are a strike, with none between them that was not refused.
    package static let refusalsPerStrike = 10
    private static let strikeMemory = Duration.seconds(60)

    private let shared: SharedLimits
    private var limits: Limits { shared.limits }
    package private(set) var connections = 0
    private var frames = Rate.Use()
    private var bytes = Rate.Use()
    private var strikes: Int32 = 0
    private var refusals: Int32 = 0
    private var struckFrom: MonotonicTime = 0

    package init(limits: SharedLimits) { shared = limits }

    /// Takes a connection; false, and nothing taken, when it is one too many or the circuit is struck out.
    package mutating func open(at now: MonotonicTime) -> Bool {
        guard limits.connections == 0 || connections < limits.connections, !isStruckOut(at: now) else {
            return false
        }
        connections += 1
        return true
    }

    package mutating func close() {
        precondition(connections > 0, "a circuit without connections lost one")
        connections -= 1
    }

    /// Counts what was read.
    ///
    /// - Returns: nanoseconds for which nothing more is to be read; 0 while the circuit is within its share.
    package mutating func spend(frames: Int, bytes: Int, at now: MonotonicTime) -> Duration {
        max(
            CircuitAccount.count(frames, in: &self.frames, limits.frames, at: now),
            CircuitAccount.count(bytes, in: &self.bytes, limits.bytes, at: now))
    }

    private static func count(_ count: Int, in use: inout Rate.Use, _ rate: Rate?, at now: MonotonicTime)
        -> Duration
    {
        guard let rate else { return .zero }
        rate.add(count, to: &use, at: now)
        return rate.delay(after: use, at: now)
    }

    /// Counts a broken rule.
    ///
    /// - Returns: whether the circuit is to be closed: true once, for the strike that is the last.
    package mutating func strike(at now: MonotonicTime) -> Bool {
        if strikes == 0 || now - struckFrom > CircuitAccount.strikeMemory {
            strikes = 0
            struckFrom = now
        }
        strikes += 1
        return strikes == limits.strikes
    }

    /// Counts a request for something that its client may not have.
    ///
    /// - Returns: Whether it is a strike now.
    package mutating func refuse() -> Bool {
        refusals += 1
        guard refusals >= CircuitAccount.refusalsPerStrike else { return false }
        refusals = 0
        return true
    }

    /// Forgets the refusals: the circuit's client has shown that it may be here.
    package mutating func forgetRefusals() { refusals = 0 }

    package func isStruckOut(at now: MonotonicTime) -> Bool {
        limits.strikes > 0 && strikes >= limits.strikes && now - struckFrom <= CircuitAccount.strikeMemory
    }

    /// Whether the account is as good as a new one and can be forgotten.
    package func isClean(at now: MonotonicTime) -> Bool {
        connections == 0 && frames.isOver(at: now) && bytes.isOver(at: now)
            && (strikes == 0 || now - struckFrom > CircuitAccount.strikeMemory)
    }
}
