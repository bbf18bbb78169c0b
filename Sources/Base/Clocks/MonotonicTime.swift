/// A moment on a clock that never goes back and that nobody sets: for rates, back-off, deadlines and latency.
///
/// It means nothing to another process, and is never written down. Public, and not for this package alone, because Swift 6.3
/// inlines only public functions into other modules.
@frozen
public struct MonotonicTime: Comparable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// Nanoseconds since a moment that the system chose.
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    @inlinable public init(integerLiteral nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    @inlinable public static func + (time: MonotonicTime, wait: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds + wait.nanoseconds)
    }

    @inlinable public static func - (time: MonotonicTime, wait: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds - wait.nanoseconds)
    }

    @inlinable public static func - (time: MonotonicTime, earlier: MonotonicTime) -> Duration {
        .nanoseconds(time.nanoseconds - earlier.nanoseconds)
    }

    /// The moment that never comes.
    @inlinable public static var max: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// The moment before which nothing was: all waits since are over, and the time since can be told.
    @inlinable public static var longAgo: MonotonicTime { MonotonicTime(nanoseconds: .min / 2) }
}
