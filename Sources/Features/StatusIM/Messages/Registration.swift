import Encodings
import Wire

/// A phone that wants notifications: Status' `PushNotificationRegistration`
/// (status-go, `protocol/protobuf/push_notifications.proto`).
package struct Registration: ProtoMessage, Equatable, Sendable {
    package enum TokenType: UInt64, Sendable {
        case apns = 1
        case firebase = 2
    }

    /// The token's type as it came; 0: none. A registration with a type that is neither Apple's nor Google's is stored, and
    /// nothing is sent to it.
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

    package init(_ bytes: [UInt8]) throws(ProtoError) { try read(bytes) }

    /// The part that is worth keeping, encoded for the store.
    package var encoded: [UInt8] { protobuf }

    /// Lists all fields but ``enabled`` (5): nobody looks at it.
    package mutating func list<Fields: ProtoFields>(
        for fields: inout Fields, in bytes: Span<UInt8>
    ) throws(Fields.Failure) {
        try fields.uint64(1, &tokenType, in: bytes)
        try fields.string(2, &deviceToken, in: bytes)
        try fields.string(3, &installationID, in: bytes)
        try fields.string(4, &accessToken, in: bytes)
        try fields.uint64(6, &version, in: bytes)
        try fields.elements(7, &allowedKeys, in: bytes)
        try fields.elements(8, &blockedChats, in: bytes)
        try fields.bool(9, &isUnregister, in: bytes)
        try fields.data(10, &grant, in: bytes)
        try fields.bool(11, &isFromContactsOnly, in: bytes)
        try fields.string(12, &topic, in: bytes)
        try fields.bool(13, &blocksMentions, in: bytes)
        try fields.elements(14, &allowedMentionChats, in: bytes)
        try fields.elements(15, &mutedChats, in: bytes)
    }

    /// Returns the digest that a client signs to let a server serve it.
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
    /// Makes the checks that need nothing else: a registration that fails them touches nothing stored.
    package func checkIdentity() throws(RegistrationFault) {
        guard version >= 1 else { throw .versionMismatch }
        guard isUUID(installationID) else { throw .malformedMessage }
    }

    /// Makes the checks that come after ``checkIdentity()``, in status-go's order, but for ``mostElements``.
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
    /// The reason why the registration was not taken; `nil`: it was taken.
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
