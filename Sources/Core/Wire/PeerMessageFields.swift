// The fields of Bisq's messages: onionbell.proto in code.

extension NodeAddress: ProtoPart {
    package init() { self.init(hostName: "") }

    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.string(1, &hostName, in: bytes)
        try fields.int32(2, &port, in: bytes)
    }
}

extension Peer: ProtoPart {
    package init() { self.init(date: 0) }

    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.message(1, &nodeAddress, in: bytes)
        try fields.int64(2, &date, in: bytes)
        try fields.int32s(3, &supportedCapabilities, in: bytes)
    }
}

extension Ping: ProtoMessage {
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.int32(1, &nonce, in: bytes)
        try fields.int32(2, &lastRoundTripTime, in: bytes)
    }
}

extension Pong: ProtoMessage {
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.int32(1, &requestNonce, in: bytes)
    }
}

extension CloseConnectionMessage: ProtoMessage {
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.string(1, &reason, in: bytes)
    }
}

extension GetPeersRequest: ProtoMessage {
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.message(1, &senderNodeAddress, in: bytes)
        try fields.int32(2, &nonce, in: bytes)
        try fields.int32s(3, &supportedCapabilities, in: bytes)
        try fields.messages(4, &reportedPeers, in: bytes)
    }
}

extension GetPeersResponse: ProtoMessage {
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.int32(1, &requestNonce, in: bytes)
        try fields.messages(2, &reportedPeers, in: bytes)
        try fields.int32s(3, &supportedCapabilities, in: bytes)
    }
}

extension SwallowedMessage: ProtoReadable {
    package mutating func merge(
        _ field: ProtoField, from reader: inout ProtoReader, in bytes: Span<UInt8>
    ) throws(ProtoError) {
        switch (field.type, Int32(field.number)) {
        case (.lengthDelimited, senderField):
            var address = senderNodeAddress ?? NodeAddress()
            try reader.merge(into: &address, in: bytes)
            senderNodeAddress = address
        case (.varint, capabilitiesField), (.lengthDelimited, capabilitiesField):
            try reader.int32s(field.type, appendingTo: &supportedCapabilities, in: bytes)
        default: try reader.skip(field, in: bytes)
        }
    }

    /// Whether a message's fields are read. Nothing in other messages
    /// matters here, not even whether they are well formed.
    var isRead: Bool { senderField != nil || capabilitiesField != nil }

    /// The field in which the message names its sender. Other messages that do (within a trade) come sealed.
    private var senderField: Int32? {
        switch number {
        case 4, 16: 1  // GetUpdatedDataRequest, PrefixedSealedAndSignedMessage
        case 28: 3  // GetBlocksRequest
        case 32: 2  // AckMessage
        default: nil
        }
    }

    /// The field in which the message has the capabilities that are tested.
    private var capabilitiesField: Int32? {
        switch number {
        case 2: 3  // PreliminaryGetDataRequest
        case 3: 4  // GetDataResponse
        default: nil
        }
    }
}
