// The field numbers of Bisq's messages, for reading and writing: onionbell.proto in code.

extension NodeAddress: ProtoReadable {
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.number, field.type) {
        case (1, .lengthDelimited): hostName = try reader.string(in: bytes)
        case (2, .varint): port = try reader.int32(in: bytes)
        default: try reader.skip(field, in: bytes)
        }
    }

    func write(to writer: inout ProtoWriter) {
        writer.string(1, hostName)
        writer.int32(2, port)
    }
}

extension NodeAddress? {
    /// Sets the address, or merges a further one into it.
    mutating func merge(from reader: inout ProtoReader, in bytes: Span<UInt8>) throws(ProtoError) {
        var address = self ?? NodeAddress()
        try reader.merge(into: &address, in: bytes)
        self = address
    }
}

extension Peer: ProtoReadable {
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.number, field.type) {
        case (1, .lengthDelimited): try nodeAddress.merge(from: &reader, in: bytes)
        case (2, .varint): date = try reader.int64(in: bytes)
        case (3, .varint), (3, .lengthDelimited):
            try reader.int32s(field.type, appendingTo: &supportedCapabilities, in: bytes)
        default: try reader.skip(field, in: bytes)
        }
    }

    func write(to writer: inout ProtoWriter) {
        if let nodeAddress { writer.message(1, nodeAddress.write) }
        writer.int64(2, date)
        writer.int32s(3, supportedCapabilities)
    }
}

extension Ping: ProtoReadable {
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.number, field.type) {
        case (1, .varint): nonce = try reader.int32(in: bytes)
        case (2, .varint): lastRoundTripTime = try reader.int32(in: bytes)
        default: try reader.skip(field, in: bytes)
        }
    }

    func write(to writer: inout ProtoWriter) {
        writer.int32(1, nonce)
        writer.int32(2, lastRoundTripTime)
    }
}

extension Pong: ProtoReadable {
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.number, field.type) {
        case (1, .varint): requestNonce = try reader.int32(in: bytes)
        default: try reader.skip(field, in: bytes)
        }
    }

    func write(to writer: inout ProtoWriter) {
        writer.int32(1, requestNonce)
    }
}

extension CloseConnectionMessage: ProtoReadable {
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.number, field.type) {
        case (1, .lengthDelimited): reason = try reader.string(in: bytes)
        default: try reader.skip(field, in: bytes)
        }
    }

    func write(to writer: inout ProtoWriter) {
        writer.string(1, reason)
    }
}

extension GetPeersRequest: ProtoReadable {
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.number, field.type) {
        case (1, .lengthDelimited): try senderNodeAddress.merge(from: &reader, in: bytes)
        case (2, .varint): nonce = try reader.int32(in: bytes)
        case (3, .varint), (3, .lengthDelimited):
            try reader.int32s(field.type, appendingTo: &supportedCapabilities, in: bytes)
        case (4, .lengthDelimited):
            var peer = Peer()
            try reader.merge(into: &peer, in: bytes)
            reportedPeers.append(peer)
        default: try reader.skip(field, in: bytes)
        }
    }

    func write(to writer: inout ProtoWriter) {
        if let senderNodeAddress { writer.message(1, senderNodeAddress.write) }
        writer.int32(2, nonce)
        writer.int32s(3, supportedCapabilities)
        for peer in reportedPeers { writer.message(4, peer.write) }
    }
}

extension GetPeersResponse: ProtoReadable {
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.number, field.type) {
        case (1, .varint): requestNonce = try reader.int32(in: bytes)
        case (2, .lengthDelimited):
            var peer = Peer()
            try reader.merge(into: &peer, in: bytes)
            reportedPeers.append(peer)
        case (3, .varint), (3, .lengthDelimited):
            try reader.int32s(field.type, appendingTo: &supportedCapabilities, in: bytes)
        default: try reader.skip(field, in: bytes)
        }
    }

    func write(to writer: inout ProtoWriter) {
        writer.int32(1, requestNonce)
        for peer in reportedPeers { writer.message(2, peer.write) }
        writer.int32s(3, supportedCapabilities)
    }
}

extension SwallowedMessage: ProtoReadable {
    mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.type, Int32(field.number)) {
        case (.lengthDelimited, senderField): try senderNodeAddress.merge(from: &reader, in: bytes)
        case (.varint, capabilitiesField), (.lengthDelimited, capabilitiesField):
            try reader.int32s(field.type, appendingTo: &supportedCapabilities, in: bytes)
        default: try reader.skip(field, in: bytes)
        }
    }

    /// Nothing in the others matters here, not even whether they are well formed.
    var isRead: Bool { senderField != nil || capabilitiesField != nil }

    /// Where the message names its sender. Other messages that do (within a trade) come sealed.
    private var senderField: Int32? {
        switch number {
        case 4, 16: 1  // GetUpdatedDataRequest, PrefixedSealedAndSignedMessage
        case 28: 3  // GetBlocksRequest
        case 32: 2  // AckMessage
        default: nil
        }
    }

    /// Where the message has the capabilities that are tested.
    private var capabilitiesField: Int32? {
        switch number {
        case 2: 3  // PreliminaryGetDataRequest
        case 3: 4  // GetDataResponse
        default: nil
        }
    }
}
