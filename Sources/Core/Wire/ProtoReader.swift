/// Why bytes are not a protobuf message. Nothing that follows within the same message can be read.
package enum ProtoError: Error, Equatable {
    /// A value runs past the end of its message.
    case truncated
    /// A varint of more than ten bytes; of a tag or a length, more than five.
    case overlongVarint
    /// A tag with field number 0.
    case fieldNumberZero
    /// Wire types 6 and 7.
    case invalidWireType
    /// An end of group without its start, or of another group.
    case unmatchedGroup
    /// Groups nested deeper than ``ProtoReader/maximumGroupDepth``.
    case tooDeep
    /// proto3 strings are UTF-8, without exception.
    case notUTF8
    /// More fields than ``ProtoReader/mostFields``.
    case tooManyFields
}

/// A field's number and how its value is written.
package struct ProtoField: Equatable {
    package enum WireType: UInt32 {
        case varint = 0
        case fixed64 = 1
        case lengthDelimited = 2
        case startGroup = 3
        case endGroup = 4
        case fixed32 = 5
    }

    package let number: UInt32
    package let type: WireType
}

/// A place in a message's bytes: reads one field after the other, up to the message's end.
///
/// It holds offsets only; the bytes are passed to each call, always the same. Every read is checked against the
/// message's end, which lies within the bytes.
package struct ProtoReader {
    /// The most groups nested in each other: as deep as Java's reader goes.
    static let maximumGroupDepth = 100

    /// Fields of one message, without those of messages within it; no message of ours has half as many. Each costs time
    /// of the event loop, and a sender can write one with two bytes.
    package static let mostFields = 8192

    package private(set) var position: Int
    package let end: Int
    private var fields = 0

    package init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    package var isAtEnd: Bool { position == end }

    /// Reads the next field's tag; `nil` at the end of the message.
    package mutating func nextField(in bytes: Span<UInt8>) throws(ProtoError) -> ProtoField? {
        guard position < end else { return nil }
        fields += 1
        guard fields <= ProtoReader.mostFields else { throw .tooManyFields }
        // The reference reader, too, drops what five bytes have beyond 32 bits. Java's takes ten; no peer writes them.
        let tag = UInt32(truncatingIfNeeded: try varint(in: bytes, maximumSize: 5))
        guard let type = ProtoField.WireType(rawValue: tag & 7) else { throw .invalidWireType }
        guard tag >> 3 != 0 else { throw .fieldNumberZero }
        return ProtoField(number: tag >> 3, type: type)
    }

    /// Reads a number of 64 bits; what a tenth byte has beyond them is dropped.
    package mutating func varint(in bytes: Span<UInt8>, maximumSize: Int = 10) throws(ProtoError) -> UInt64 {
        guard position < end else { throw .truncated }
        let first = bytes[position]
        if first < 0x80 {
            position += 1
            return UInt64(first)
        }
        var value: UInt64 = 0
        for index in 0..<maximumSize {
            guard position < end else { throw .truncated }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7f) << UInt64(7 * index)
            if byte < 0x80 { return value }
        }
        throw .overlongVarint
    }

    /// Reads a number of 32 bits. Negative numbers take ten bytes on the wire; the low 32 bits count.
    package mutating func int32(in bytes: Span<UInt8>) throws(ProtoError) -> Int32 {
        Int32(truncatingIfNeeded: try varint(in: bytes))
    }

    package mutating func int64(in bytes: Span<UInt8>) throws(ProtoError) -> Int64 {
        Int64(truncatingIfNeeded: try varint(in: bytes))
    }

    package mutating func bool(in bytes: Span<UInt8>) throws(ProtoError) -> Bool {
        try varint(in: bytes) != 0
    }

    /// Returns the range of the bytes of a length-delimited value. The reader stands behind them afterwards.
    package mutating func delimited(in bytes: Span<UInt8>) throws(ProtoError) -> Range<Int> {
        let length = try varint(in: bytes, maximumSize: 5)
        guard length <= UInt64(end - position) else { throw .truncated }
        let start = position
        position += Int(length)
        return start..<position
    }

    package mutating func data(in bytes: Span<UInt8>) throws(ProtoError) -> [UInt8] {
        let value = bytes.extracting(try delimited(in: bytes))
        var data: [UInt8] = []
        data.append(addingCapacity: value.count) { output in
            for index in value.indices { output.append(value[index]) }
        }
        return data
    }

    package mutating func string(in bytes: Span<UInt8>) throws(ProtoError) -> String {
        let range = try delimited(in: bytes)
        guard let text = String(utf8: bytes.extracting(range)) else { throw .notUTF8 }
        return text
    }

    /// Appends the values of one `repeated int32` field, packed or a single one.
    mutating func int32s(
        _ type: ProtoField.WireType, appendingTo values: inout [Int32], in bytes: Span<UInt8>
    ) throws(ProtoError) {
        guard type == .lengthDelimited else {
            values.append(try int32(in: bytes))
            return
        }
        var packed = ProtoReader(try delimited(in: bytes))
        while !packed.isAtEnd { values.append(try packed.int32(in: bytes)) }
    }

    /// Merges the fields of an embedded message into `message`, as proto3 does when a field comes twice.
    mutating func merge(into message: inout some ProtoReadable, in bytes: Span<UInt8>) throws(ProtoError) {
        var fields = ProtoReader(try delimited(in: bytes))
        while let field = try fields.nextField(in: bytes) {
            try message.merge(field, from: &fields, in: bytes)
        }
    }

    /// Steps over the value of a field nobody here knows, checking that it is well formed.
    package mutating func skip(_ field: ProtoField, in bytes: Span<UInt8>) throws(ProtoError) {
        switch field.type {
        case .varint: _ = try varint(in: bytes)
        case .fixed64: try skip(byteCount: 8)
        case .lengthDelimited: _ = try delimited(in: bytes)
        case .startGroup: try skipGroup(field.number, in: bytes)
        case .endGroup: throw .unmatchedGroup
        case .fixed32: try skip(byteCount: 4)
        }
    }

    private mutating func skip(byteCount: Int) throws(ProtoError) {
        guard byteCount <= end - position else { throw .truncated }
        position += byteCount
    }

    /// Groups are skipped with a list of the open ones, not by recursion: the bytes are a stranger's.
    private mutating func skipGroup(_ number: UInt32, in bytes: Span<UInt8>) throws(ProtoError) {
        var open = [number]
        while let innermost = open.last {
            guard let field = try nextField(in: bytes) else { throw .truncated }
            switch field.type {
            case .startGroup:
                guard open.count < Self.maximumGroupDepth else { throw .tooDeep }
                open.append(field.number)
            case .endGroup:
                guard field.number == innermost else { throw .unmatchedGroup }
                open.removeLast()
            case .varint, .fixed64, .lengthDelimited, .fixed32:
                try skip(field, in: bytes)
            }
        }
    }
}

/// A message that takes its fields one at a time.
package protocol ProtoReadable {
    /// Takes the value of `field`, at which the reader stands, or skips it.
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError)
}

extension String {
    /// Makes the text; `nil` when the bytes are not UTF-8.
    init?(utf8 bytes: Span<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes) else { return nil }
        self.init(copying: text)
    }
}
