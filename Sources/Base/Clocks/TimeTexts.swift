extension DefaultStringInterpolation {
    /// Warns, and so fails: whoever writes a time into a text says its unit.
    @available(*, deprecated, message: "write its nanoseconds")
    public mutating func appendInterpolation(_ time: MonotonicTime) {}

    /// Warns, and so fails: whoever writes a time into a text says its unit.
    @available(*, deprecated, message: "write its milliseconds")
    public mutating func appendInterpolation(_ time: UnixTime) {}
}
