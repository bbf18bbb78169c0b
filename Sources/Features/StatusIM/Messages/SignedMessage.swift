import Wire

/// The `ApplicationMetadataMessage` of Status (status.app), the messenger: a payload, whose kind it is, and who says so.
///
/// The sender is whom the signature recovers to; nothing else names it
/// (status-go, `protocol/protobuf/application_metadata_message.proto`, `protocol/v1/message.go`).
package struct SignedMessage: ProtoMessage, Equatable, Sendable {
    /// The kinds that a push notification server has to do with.
    package enum Kind: UInt64, Sendable {
        case registration = 16
        case registrationResponse = 17
        case query = 18
        case queryResponse = 19
        case request = 20
        case response = 21
    }

    /// 65 bytes: R and S of 32 each, V of 0 to 3; over ``digest``.
    package var signature: [UInt8] = []
    /// Protobuf; of a registration, the sealed one.
    package var payload: [UInt8] = []
    /// The kind of the payload; `nil` for all kinds but the six.
    package var kind: Kind?

    package init(signature: [UInt8], payload: [UInt8], kind: Kind) {
        self.signature = signature
        self.payload = payload
        self.kind = kind
    }

    package init() {}

    package init(_ bytes: [UInt8]) throws(ProtoError) { try read(bytes) }

    package var encoded: [UInt8] { protobuf }

    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.data(1, &signature, in: bytes)
        try fields.data(2, &payload, in: bytes)
        var number = kind?.rawValue ?? 0
        try fields.uint64(3, &number, in: bytes)
        kind = Kind(rawValue: number)
    }

    /// Returns the digest that is signed: Keccak-256 of the payload.
    package static func digest(of payload: [UInt8]) -> [UInt8] { Keccak.keccak256(payload) }

    /// Returns the name of a message, 32 bytes.
    ///
    /// - Parameters:
    ///   - signer: 65 bytes, the key that the signature recovers to.
    ///   - encoded: the whole message as it came.
    package static func id(signer: [UInt8], encoded: [UInt8]) -> [UInt8] {
        Keccak.keccak256([signer, encoded])
    }
}
