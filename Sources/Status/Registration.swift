import Wire

/// A phone that wants notifications: Status' `PushNotificationRegistration`
/// (status-go, `protocol/protobuf/push_notifications.proto`).
package struct Registration: Equatable, Sendable {
    package enum TokenType: UInt64, Sendable {
        case apns = 1
        case firebase = 2
    }

    /// As it came: 0 is none, and what is neither Apple's nor Google's is taken, and never sent to.
    package var tokenType: UInt64 = 0
    package var deviceToken = ""
    package var installationID = ""
    package var accessToken = ""
    package var version: UInt64 = 0
    /// The access token, sealed for one contact each: handed out in its place when only contacts may send.
    package var allowedKeys: [[UInt8]] = []
    package var blockedChats: [[UInt8]] = []
    package var isUnregister = false
    /// 65 bytes, the client's signature of ``grantDigest(client:server:)``.
    package var grant: [UInt8] = []
    package var isFromContactsOnly = false
    /// The app's bundle id, for Apple.
    package var topic = ""
    package var blocksMentions = false
    package var allowedMentionChats: [[UInt8]] = []
    package var mutedChats: [[UInt8]] = []

    package init() {}

    /// Elements of all lists together: each push to this phone may have to look at them.
    package static let mostElements = 4096

    private var elements: Int {
        allowedKeys.count + blockedChats.count + allowedMentionChats.count + mutedChats.count
    }

    package init(_ bytes: [UInt8]) throws(ProtoError) {
        let span = bytes.span
        var reader = ProtoReader(0..<bytes.count)
        while let field = try reader.nextField(in: span) {
            switch (field.number, field.type) {
            case (1, .varint): tokenType = try reader.varint(in: span)
            case (2, .lengthDelimited): deviceToken = try reader.string(in: span)
            case (3, .lengthDelimited): installationID = try reader.string(in: span)
            case (4, .lengthDelimited): accessToken = try reader.string(in: span)
            case (6, .varint): version = try reader.varint(in: span)
            case (7, .lengthDelimited): allowedKeys.append(Array(bytes[try reader.delimited(in: span)]))
            case (8, .lengthDelimited): blockedChats.append(Array(bytes[try reader.delimited(in: span)]))
            case (9, .varint): isUnregister = try reader.bool(in: span)
            case (10, .lengthDelimited): grant = Array(bytes[try reader.delimited(in: span)])
            case (11, .varint): isFromContactsOnly = try reader.bool(in: span)
            case (12, .lengthDelimited): topic = try reader.string(in: span)
            case (13, .varint): blocksMentions = try reader.bool(in: span)
            case (14, .lengthDelimited):
                allowedMentionChats.append(Array(bytes[try reader.delimited(in: span)]))
            case (15, .lengthDelimited): mutedChats.append(Array(bytes[try reader.delimited(in: span)]))
            default: try reader.skip(field, in: span)
            }
        }
    }

    /// What is worth keeping of it, for the store; ``enabled`` (5) is not: nobody looks at it.
    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.uint64(1, tokenType)
        writer.string(2, deviceToken)
        writer.string(3, installationID)
        writer.string(4, accessToken)
        writer.uint64(6, version)
        for key in allowedKeys { writer.element(7, key) }
        for chat in blockedChats { writer.element(8, chat) }
        writer.bool(9, isUnregister)
        writer.data(10, grant)
        writer.bool(11, isFromContactsOnly)
        writer.string(12, topic)
        writer.bool(13, blocksMentions)
        for chat in allowedMentionChats { writer.element(14, chat) }
        for chat in mutedChats { writer.element(15, chat) }
        return writer.bytes
    }

    /// What a client signs to let a server serve it.
    ///
    /// - Parameters:
    ///   - client: 33 bytes, the client's key.
    ///   - server: 33 bytes, the server's.
    package func grantDigest(client: [UInt8], server: [UInt8]) -> [UInt8] {
        Keccak.keccak256([client, server, Array(accessToken.utf8)])
    }
}

/// Why a registration is refused: the numbers of Status' `PushNotificationRegistrationResponse`.
package enum RegistrationFault: UInt64, Error, Equatable, Sendable {
    case malformedMessage = 1
    case versionMismatch = 2
    case unsupportedTokenType = 3
    case `internal` = 4
}

extension Registration {
    /// The checks that need nothing else: a registration that fails them touches nothing stored.
    package func checkIdentity() throws(RegistrationFault) {
        guard version >= 1 else { throw .versionMismatch }
        guard isUUID(installationID) else { throw .malformedMessage }
    }

    /// The checks that come after ``checkIdentity()``, in status-go's order, but for ``mostElements``.
    ///
    /// - Parameters:
    ///   - storedVersion: of the registration that this one is to replace, also when that was an unregistering one.
    ///   - isGranted: whether the grant is the registering client's for this server.
    package func check(
        storedVersion: UInt64?, isGranted: (Registration) -> Bool
    ) throws(RegistrationFault) {
        if let storedVersion, version <= storedVersion { throw .versionMismatch }
        guard !isUnregister else { return }
        guard elements <= Registration.mostElements else { throw .internal }
        guard isUUID(accessToken), !grant.isEmpty, isGranted(self), !deviceToken.isEmpty, tokenType != 0
        else { throw .malformedMessage }
    }
}

/// The answer to a registration.
package struct RegistrationResponse: Equatable, Sendable {
    /// `nil`: it was taken.
    package var fault: RegistrationFault?
    /// SHAKE-256 of the sealed registration, by which the client knows what it is the answer to.
    package var requestID: [UInt8]

    package init(fault: RegistrationFault?, requestID: [UInt8]) {
        self.fault = fault
        self.requestID = requestID
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.bool(1, fault == nil)
        writer.uint64(2, fault?.rawValue ?? 0)
        writer.data(3, requestID)
        return writer.bytes
    }
}
