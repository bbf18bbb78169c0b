// A text's bytes, lent for the time of a call. The standard library's `utf8.span` gives them as a value, and this compiler
// (6.3.1) forgets, optimized, that the span of a text of up to 15 bytes lies in the caller's frame: it has let two of them
// share one place, and has given up the frame before the last call that reads them. Deploy/tools/strangers-text refuses it.

extension String {
    /// Calls `body` with the text's bytes, which it must not keep.
    @inlinable @inline(__always)
    package func withBytes<Value, Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Value)
        throws(Failure) -> Value
    {
        let result = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            Result { () throws(Failure) in try unsafe body(bytes.span) }
        }
        // All lie in one run, but for those of Objective-C. Another way for these would cost two more retains a call.
        guard let result else { preconditionFailure("a text of Objective-C") }
        return try result.get()
    }

    /// Whether all bytes are of a kind, as ``Swift/Span/consists(of:)`` says.
    @inlinable @inline(__always)
    package func consists(of kind: (UInt8) -> UInt8) -> Bool { withBytes { $0.consists(of: kind) } }
}

extension Substring {
    /// Lends the text's bytes, as ``Swift/String/withBytes(_:)`` does.
    @inlinable @inline(__always)
    package func withBytes<Value>(_ body: (Span<UInt8>) -> Value) -> Value {
        let result = unsafe utf8.withContiguousStorageIfAvailable { unsafe body($0.span) }
        guard let result else { preconditionFailure("a text of Objective-C") }
        return result
    }

    /// Whether all bytes are of a kind, as ``Swift/Span/consists(of:)`` says.
    @inlinable @inline(__always)
    package func consists(of kind: (UInt8) -> UInt8) -> Bool { withBytes { $0.consists(of: kind) } }
}

extension Span<UInt8> {
    /// Whether the bytes are those of a text, as ``hasSameBytes(as:)`` compares them.
    @inlinable @inline(__always)
    package func hasSameBytes(as text: String) -> Bool { text.withBytes { hasSameBytes(as: $0) } }

    /// Whether the bytes of a text are the first ones, as ``starts(with:)`` compares them.
    @inlinable @inline(__always)
    package func starts(with text: String) -> Bool { text.withBytes { starts(with: $0) } }
}
