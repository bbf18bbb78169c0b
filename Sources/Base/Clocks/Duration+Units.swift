extension Duration {
    /// Whole milliseconds, rounded toward zero; less than 292 million years.
    @inlinable public var milliseconds: Int64 {
        whole(1_000_000_000_000_000)
    }

    /// Whole nanoseconds, rounded toward zero; less than 292 years.
    @inlinable public var nanoseconds: Int64 {
        whole(1_000_000_000)
    }

    /// Returns how many units of so many attoseconds the duration has. One division: `components` takes three, of numbers
    /// twice as long.
    @inlinable func whole(_ unit: Int64) -> Int64 {
        let all = attoseconds
        let (high, low) = (Int64(truncatingIfNeeded: all >> 64), UInt64(truncatingIfNeeded: all))
        return unit.dividingFullWidth((high, low)).quotient
    }
}
