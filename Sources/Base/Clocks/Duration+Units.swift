extension Duration {
    /// Whole milliseconds, rounded toward zero.
    @inlinable public var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// Whole nanoseconds, rounded toward zero; less than 292 years.
    @inlinable public var nanoseconds: Int64 {
        // One division; `components` takes three, of numbers twice as long.
        let all = attoseconds
        let (high, low) = (Int64(truncatingIfNeeded: all >> 64), UInt64(truncatingIfNeeded: all))
        return (1_000_000_000 as Int64).dividingFullWidth((high, low)).quotient
    }
}
