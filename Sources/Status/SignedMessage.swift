import Wire

/// Status' `ApplicationMetadataMessage`: a payload, whose kind it is, and who says so.
///
/// The sender is whom the signature recovers to; nothing else names it
/// (status-go, `protocol/protobuf/application_metadata_message.proto`, `protocol/v1/message.go`).
package struct SignedMessage: Equatable, Sendable {
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
    package var signature: [UInt8]
    /// Protobuf; of a registration, the sealed one.
    package var payload: [UInt8]
    /// `nil` for all kinds but the six.
    package var kind: Kind?

    package init(signature: [UInt8], payload: [UInt8], kind: Kind) {
        self.signature = signature
        self.payload = payload
        self.kind = kind
    }

    package init(_ bytes: [UInt8]) throws(ProtoError) {
        signature = []
        payload = []
        let span = bytes.span
        var reader = ProtoReader(0..<bytes.count)
        while let field = try reader.nextField(in: span) {
            switch (field.number, field.type) {
            case (1, .lengthDelimited): signature = Array(bytes[try reader.delimited(in: span)])
            case (2, .lengthDelimited): payload = Array(bytes[try reader.delimited(in: span)])
            case (3, .varint): kind = Kind(rawValue: try reader.varint(in: span))
            default: try reader.skip(field, in: span)
            }
        }
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.data(1, signature)
        writer.data(2, payload)
        writer.uint64(3, kind?.rawValue ?? 0)
        return writer.bytes
    }

    /// What is signed: Keccak-256 of the payload.
    package static func digest(of payload: [UInt8]) -> [UInt8] { Keccak.keccak256(payload) }

    /// The name of a message, 32 bytes.
    ///
    /// - Parameters:
    ///   - signer: 65 bytes, the key that the signature recovers to.
    ///   - encoded: the whole message as it came.
    package static func id(signer: [UInt8], encoded: [UInt8]) -> [UInt8] {
        Keccak.keccak256([signer, encoded])
    }
}
