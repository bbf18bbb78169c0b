/// Appends protobuf fields to bytes. Default values are left out, as proto3 does; the caller keeps the order.
package struct ProtoWriter {
    package private(set) var bytes: [UInt8]

    /// Goes on behind what is in `bytes` already.
    package init(appendingTo bytes: consuming [UInt8] = []) {
        self.bytes = bytes
    }

    package mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    package mutating func int64(_ number: UInt32, _ value: Int64) {
        guard value != 0 else { return }
        tag(number, .varint)
        varint(UInt64(bitPattern: value))
    }

    /// Writes a number. Negative values take ten bytes, as protobuf's `int32` does.
    package mutating func int32(_ number: UInt32, _ value: Int32) {
        int64(number, Int64(value))
    }

    package mutating func bool(_ number: UInt32, _ value: Bool) {
        int64(number, value ? 1 : 0)
    }

    package mutating func string(_ number: UInt32, _ value: String) {
        guard !value.isEmpty else { return }
        tag(number, .lengthDelimited)
        varint(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    mutating func int32s(_ number: UInt32, _ values: [Int32]) {
        guard !values.isEmpty else { return }
        message(number) { writer in
            for value in values { writer.varint(UInt64(bitPattern: Int64(value))) }
        }
    }

    package mutating func uint64(_ number: UInt32, _ value: UInt64) {
        int64(number, Int64(bitPattern: value))
    }

    package mutating func data(_ number: UInt32, _ value: [UInt8]) {
        guard !value.isEmpty else { return }
        element(number, value)
    }

    /// Writes a value of a `repeated bytes` field, also when it is empty.
    package mutating func element(_ number: UInt32, _ value: [UInt8]) {
        tag(number, .lengthDelimited)
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Writes an embedded message, also when it is empty, since its presence counts.
    package mutating func message(_ number: UInt32, _ write: (inout ProtoWriter) -> Void) {
        tag(number, .lengthDelimited)
        delimited(write)
    }

    /// Writes an embedded message as ``message(_:_:)`` does, and uses it up: so it is copied no further.
    mutating func message(_ number: UInt32, using message: consuming some ProtoMessage) {
        tag(number, .lengthDelimited)
        let start = bytes.count
        bytes.append(0)
        message.list(for: &self, in: Span())
        putLength(at: start)
    }

    /// Writes what `write` appends, with its length before it.
    package mutating func delimited(_ write: (inout ProtoWriter) -> Void) {
        let start = bytes.count
        bytes.append(0)
        write(&self)
        putLength(at: start)
    }

    private mutating func putLength(at start: Int) {
        let length = bytes.count - start - 1
        // Nearly all that a node sends is shorter than 128 bytes, so the one byte left open is enough.
        if length < 0x80 {
            bytes[start] = UInt8(length)
        } else {
            var prefix = ProtoWriter()
            prefix.varint(UInt64(length))
            bytes.replaceSubrange(start...start, with: prefix.bytes)
        }
    }

    private mutating func tag(_ number: UInt32, _ type: ProtoField.WireType) {
        varint(UInt64(number << 3 | type.rawValue))
    }
}
