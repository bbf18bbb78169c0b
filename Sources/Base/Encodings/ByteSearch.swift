extension Span<UInt8> {
    /// Returns the first index from `start` on where `difference` is 0.
    ///
    /// Many bytes are looked at together while none of them is meant: the least of them all takes a few vector
    /// instructions, as long as `difference` is arithmetic without a branch.
    @inlinable @inline(__always)
    public func firstIndex(from start: Int, whereZero difference: (UInt8) -> UInt8) -> Int? {
        var start = endOfRuns(of: 64, from: start, withoutZero: difference)
        start = endOfRuns(of: 16, from: start, withoutZero: difference)
        let rest = extracting(droppingFirst: start)
        for index in rest.indices where difference(rest[index]) == 0 { return start + index }
        return nil
    }

    @inlinable @inline(__always)
    func endOfRuns(
        of length: Int, from start: Int, withoutZero difference: (UInt8) -> UInt8
    ) -> Int {
        var rest = extracting(droppingFirst: start)
        while rest.count >= length, rest.extracting(first: length).least(of: difference) > 0 {
            rest = rest.extracting(droppingFirst: length)
        }
        return count - rest.count
    }

    @inlinable @inline(__always)
    public func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        firstIndex(from: start) { $0 ^ byte }
    }

    @inlinable @inline(__always)
    func least(of difference: (UInt8) -> UInt8) -> UInt8 {
        var least = UInt8.max
        for index in indices { least = min(least, difference(self[index])) }
        return least
    }

    /// Returns the index behind the run of allowed bytes that begins at `start`.
    @inlinable @inline(__always)
    public func endOfRun(from start: Int = 0, of isAllowed: (UInt8) -> Bool) -> Int {
        var end = start
        while end < count, isAllowed(self[end]) { end += 1 }
        return end
    }
}
