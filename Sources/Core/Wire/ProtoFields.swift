/// A message whose fields are listed in one function, which serves both reading and writing: `onionbell.proto` in code.
package protocol ProtoMessage: ProtoReadable {
    /// Calls a method of `fields` for each field, in the order of their numbers. A reader takes the one field that it stands
    /// at, and leaves all others as they are; a writer writes all fields and changes none.
    ///
    /// - Parameter bytes: The bytes that are read; empty when the message is written.
    mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure)
}

/// A message that is a field of others.
package protocol ProtoPart: ProtoMessage {
    /// Makes a message with all fields at their defaults.
    init()
}

/// The reader or the writer that a message's fields are listed for (``ProtoMessage/list(for:in:)``).
package protocol ProtoFields {
    associatedtype Failure: Error

    mutating func string(
        _ number: UInt32, _ value: inout String, in bytes: Span<UInt8>
    ) throws(Failure)
    mutating func int32(_ number: UInt32, _ value: inout Int32, in bytes: Span<UInt8>) throws(Failure)
    mutating func int64(_ number: UInt32, _ value: inout Int64, in bytes: Span<UInt8>) throws(Failure)
    mutating func uint64(_ number: UInt32, _ value: inout UInt64, in bytes: Span<UInt8>) throws(Failure)
    mutating func bool(_ number: UInt32, _ value: inout Bool, in bytes: Span<UInt8>) throws(Failure)
    mutating func data(_ number: UInt32, _ value: inout [UInt8], in bytes: Span<UInt8>) throws(Failure)
    mutating func elements(
        _ number: UInt32, _ values: inout [[UInt8]], in bytes: Span<UInt8>
    ) throws(Failure)
    mutating func int32s(
        _ number: UInt32, _ values: inout [Int32], in bytes: Span<UInt8>
    ) throws(Failure)
    mutating func message<Message: ProtoPart>(
        _ number: UInt32, _ message: inout Message?, in bytes: Span<UInt8>
    ) throws(Failure)
    mutating func messages<Message: ProtoPart>(
        _ number: UInt32, _ messages: inout [Message], in bytes: Span<UInt8>
    ) throws(Failure)
}

extension ProtoMessage {
    @inline(__always)
    package mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        var one = FieldReader(reader: reader, field: field)
        try list(for: &one, in: bytes)
        if !one.isTaken { try one.reader.skip(field, in: bytes) }
        reader = one.reader
    }

    /// Reads all of these bytes, or the part within `range`.
    package mutating func read(_ bytes: [UInt8], in range: Range<Int>? = nil) throws(ProtoError) {
        let span = bytes.span
        var reader = ProtoReader(range ?? 0..<bytes.count)
        while let field = try reader.nextField(in: span) { try merge(field, from: &reader, in: span) }
    }

    package func write(to writer: inout ProtoWriter) {
        // `list` is mutating for readers. A writer changes nothing, so a copy of the message will do.
        var message = self
        message.list(for: &writer, in: Span())
    }

    package var protobuf: [UInt8] {
        var writer = ProtoWriter()
        write(to: &writer)
        return writer.bytes
    }
}

/// Reads the one field at which a reader stands, whatever its number.
private struct FieldReader: ProtoFields {
    var reader: ProtoReader
    let field: ProtoField
    private(set) var isTaken = false

    init(reader: ProtoReader, field: ProtoField) {
        self.reader = reader
        self.field = field
    }

    @inline(__always)
    private mutating func takes(_ number: UInt32, _ type: ProtoField.WireType) -> Bool {
        guard field.number == number, field.type == type else { return false }
        isTaken = true
        return true
    }

    @inline(__always)
    mutating func string(
        _ number: UInt32, _ value: inout String, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        if takes(number, .lengthDelimited) { value = try reader.string(in: bytes) }
    }

    @inline(__always)
    mutating func int32(_ number: UInt32, _ value: inout Int32, in bytes: Span<UInt8>) throws(ProtoError) {
        if takes(number, .varint) { value = try reader.int32(in: bytes) }
    }

    @inline(__always)
    mutating func int64(_ number: UInt32, _ value: inout Int64, in bytes: Span<UInt8>) throws(ProtoError) {
        if takes(number, .varint) { value = try reader.int64(in: bytes) }
    }

    @inline(__always)
    mutating func uint64(_ number: UInt32, _ value: inout UInt64, in bytes: Span<UInt8>) throws(ProtoError) {
        if takes(number, .varint) { value = try reader.varint(in: bytes) }
    }

    @inline(__always)
    mutating func bool(_ number: UInt32, _ value: inout Bool, in bytes: Span<UInt8>) throws(ProtoError) {
        if takes(number, .varint) { value = try reader.bool(in: bytes) }
    }

    mutating func data(_ number: UInt32, _ value: inout [UInt8], in bytes: Span<UInt8>) throws(ProtoError) {
        if takes(number, .lengthDelimited) { value = try reader.data(in: bytes) }
    }

    mutating func elements(
        _ number: UInt32, _ values: inout [[UInt8]], in bytes: Span<UInt8>
    ) throws(ProtoError) {
        if takes(number, .lengthDelimited) { values.append(try reader.data(in: bytes)) }
    }

    mutating func int32s(
        _ number: UInt32, _ values: inout [Int32], in bytes: Span<UInt8>
    ) throws(ProtoError) {
        guard takes(number, .varint) || takes(number, .lengthDelimited) else { return }
        try reader.int32s(field.type, appendingTo: &values, in: bytes)
    }

    /// Sets the message, or merges a further one into it.
    @inline(__always)
    mutating func message<Message: ProtoPart>(
        _ number: UInt32, _ message: inout Message?, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        guard takes(number, .lengthDelimited) else { return }
        var merged = message ?? Message()
        try reader.merge(into: &merged, in: bytes)
        message = merged
    }

    mutating func messages<Message: ProtoPart>(
        _ number: UInt32, _ messages: inout [Message], in bytes: Span<UInt8>
    ) throws(ProtoError) {
        guard takes(number, .lengthDelimited) else { return }
        var message = Message()
        try reader.merge(into: &message, in: bytes)
        messages.append(message)
    }
}

extension ProtoWriter: ProtoFields {
    package typealias Failure = Never

    package mutating func string(_ number: UInt32, _ value: inout String, in _: Span<UInt8>) {
        string(number, value)
    }
    package mutating func int32(_ number: UInt32, _ value: inout Int32, in _: Span<UInt8>) {
        int32(number, value)
    }
    package mutating func int64(_ number: UInt32, _ value: inout Int64, in _: Span<UInt8>) {
        int64(number, value)
    }
    package mutating func uint64(_ number: UInt32, _ value: inout UInt64, in _: Span<UInt8>) {
        uint64(number, value)
    }
    package mutating func bool(_ number: UInt32, _ value: inout Bool, in _: Span<UInt8>) {
        bool(number, value)
    }
    package mutating func data(_ number: UInt32, _ value: inout [UInt8], in _: Span<UInt8>) {
        data(number, value)
    }
    package mutating func elements(_ number: UInt32, _ values: inout [[UInt8]], in _: Span<UInt8>) {
        for value in values { element(number, value) }
    }
    package mutating func int32s(_ number: UInt32, _ values: inout [Int32], in _: Span<UInt8>) {
        int32s(number, values)
    }
    package mutating func message<Message: ProtoPart>(
        _ number: UInt32, _ message: inout Message?, in _: Span<UInt8>
    ) {
        if let message { self.message(number, using: message) }
    }
    package mutating func messages<Message: ProtoPart>(
        _ number: UInt32, _ messages: inout [Message], in _: Span<UInt8>
    ) {
        for message in messages { self.message(number, using: message) }
    }
}
