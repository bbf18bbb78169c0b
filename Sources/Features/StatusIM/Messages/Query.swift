import Wire

/// Status' `PushNotificationQuery`: whose phones can be reached, and how.
package struct Query: Equatable, Sendable {
    /// SHAKE-256 of the clients' keys, 64 bytes each.
    package var keyHashes: [[UInt8]] = []
    /// Whether there were more hashes than those in ``keyHashes``.
    package var isOverLimit = false

    /// Reads a query, and no more than `limit` of its hashes.
    package init(_ bytes: [UInt8], limit: Int) throws(ProtoError) {
        let span = bytes.span
        var reader = ProtoReader(0..<bytes.count)
        while let field = try reader.nextField(in: span) {
            switch (field.number, field.type) {
            case (1, .lengthDelimited):
                let range = try reader.delimited(in: span)
                isOverLimit = keyHashes.count == limit
                if !isOverLimit { keyHashes.append(Array(bytes[range])) }
            default: try reader.skip(field, in: span)
            }
        }
    }
}

/// The answer to a query.
package struct QueryResponse: Sendable {
    /// Protobuf of the `info` fields.
    private var infos: [UInt8] = []

    package init() {}

    /// Bytes so far, without what ``encoded(to:isSuccess:)`` adds.
    package var size: Int { infos.count }

    /// Adds a registration to the answer, with the hash of the key that it was found by.
    package mutating func add(_ registration: Registration, foundBy keyHash: [UInt8]) {
        var writer = ProtoWriter(appendingTo: infos)
        writer.message(1) { info in
            // Who lets contacts only send hands out the token to those alone who can open it.
            if !registration.isFromContactsOnly { info.string(1, registration.accessToken) }
            info.string(2, registration.installationID)
            info.data(3, keyHash)
            if registration.isFromContactsOnly {
                for key in registration.allowedKeys { info.element(4, key) }
            }
            info.data(5, registration.grant)
            info.uint64(6, registration.version)
        }
        infos = writer.bytes
    }

    /// Returns the encoded answer to the query with this message id.
    package func encoded(to queryID: [UInt8], isSuccess: Bool) -> [UInt8] {
        var writer = ProtoWriter(appendingTo: infos)
        writer.data(2, queryID)
        writer.bool(3, isSuccess)
        return writer.bytes
    }
}
