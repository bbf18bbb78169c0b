import Crypto
import Encodings

/// The public half of a client's key: a client that has the other half finds a private service.
package struct ClientKey: Hashable, Sendable {
    /// 32 bytes, X25519.
    let bytes: [UInt8]

    /// The key as tor writes it: 52 characters of base32.
    var base32: String { Base32.encode(bytes).uppercased() }

    /// A line of tor's `authorized_clients/*.auth`.
    package var line: String { "descriptor:x25519:\(base32)" }

    /// Reads such a line; `nil` for any other.
    package init?(line: some StringProtocol) {
        let prefix = "descriptor:x25519:"
        guard line.hasPrefix(prefix), let bytes = Base32.decode(String(line.dropFirst(prefix.count))),
            bytes.count == 32
        else { return nil }
        self.bytes = bytes
    }

    fileprivate init(bytes: [UInt8]) { self.bytes = bytes }
}

/// A client's key with its secret half. Made here, shown once, and not kept.
package struct ClientSecret: Sendable {
    package let publicKey: ClientKey
    private let secret: [UInt8]

    package static func generate() -> ClientSecret {
        let secret = randomBytes(32)
        // Fails for another length only.
        return ClientSecret(
            publicKey: ClientKey(bytes: try! X25519.publicKey(secret: secret)), secret: secret)
    }

    /// Makes the key of a secret that was handed on; `nil`: it is none.
    init?(bytes: [UInt8]) {
        guard bytes.count == 32, let key = try? X25519.publicKey(secret: bytes) else { return nil }
        self.init(publicKey: ClientKey(bytes: key), secret: bytes)
    }

    private init(publicKey: ClientKey, secret: [UInt8]) {
        (self.publicKey, self.secret) = (publicKey, secret)
    }

    /// The secret for this process' successor.
    var bytes: [UInt8] { secret }

    /// The secret as Tor Browser takes it.
    package var base32: String { Base32.encode(secret).uppercased() }

    /// Returns a line of the client's `*.auth_private`, in the directory that its `ClientOnionAuthDir` names.
    package func line(for address: OnionAddress) -> String {
        "\(address.serviceID):descriptor:x25519:\(base32)"
    }

    /// Returns the command that gives the key to a client's tor until that ends.
    package func command(for address: OnionAddress) -> ControlCommand {
        ControlCommand("ONION_CLIENT_AUTH_ADD", [address.serviceID, "x25519:\(Base64.encode(secret))"])
    }

    /// Returns the command as a person types it.
    package func commandLine(for address: OnionAddress) -> String { command(for: address).line }
}

extension ClientSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
