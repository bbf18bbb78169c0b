extension ArraySlice<UInt8> {
    /// Appends in one run: byte by byte a slice asks each time whether it may grow in place.
    mutating func append(_ bytes: RawSpan) {
        let bytes = Span<UInt8>(_bytes: bytes)
        var whole = Array(self)
        self = []
        whole.append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
        self = ArraySlice(whole)
    }
}
