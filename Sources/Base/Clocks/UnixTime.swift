/// A moment by the wall clock, in milliseconds since 1970, UTC: for what others read, and for what outlives the process.
/// Whoever sets the clock makes it jump.
///
/// Its sums trap where they overflow. What a stranger sent is bounded before (see `Validator`), or taken apart by
/// ``milliseconds``. Public, and not for this package alone, because Swift 6.3 inlines only public functions into other
/// modules.
@frozen
public struct UnixTime: Comparable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    public var milliseconds: Int64

    @inlinable public static var min: UnixTime { UnixTime(milliseconds: .min) }
    @inlinable public static var max: UnixTime { UnixTime(milliseconds: .max) }

    @inlinable public init(milliseconds: Int64) { self.milliseconds = milliseconds }
    @inlinable public init(integerLiteral milliseconds: Int64) { self.milliseconds = milliseconds }

    @inlinable public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    @inlinable public static func + (time: UnixTime, wait: Duration) -> UnixTime {
        UnixTime(milliseconds: time.milliseconds + wait.milliseconds)
    }

    @inlinable public static func - (time: UnixTime, wait: Duration) -> UnixTime {
        UnixTime(milliseconds: time.milliseconds - wait.milliseconds)
    }

    @inlinable public static func - (time: UnixTime, earlier: UnixTime) -> Duration {
        .milliseconds(time.milliseconds - earlier.milliseconds)
    }
}
