import Clocks

extension MonotonicTime {
    /// Returns the moment so many seconds after a test's clock began.
    package static func second(_ number: some BinaryInteger) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(number) * 1_000_000_000)
    }
}
