import Glibc
import Reactor

/// The directory of a service of tor's configuration (`HiddenServiceDir`), as we fill it for tor.
///
///     hs_ed25519_secret_key            32 bytes of header, the 64 of the expanded key
///     hs_ed25519_public_key, hostname  tor's own
///     authorized_clients/*.auth        `descriptor:x25519:<52 characters>`, one client each
///     ob_config                        `MasterOnionAddress <56 characters>.onion`, if an onionbalance stands before it
///
/// A copy of what the node keeps elsewhere: it is made anew whenever the service is given to tor. Tor writes to it as well.
struct ServiceDirectory {
    let path: String

    private static let keyFile = "hs_ed25519_secret_key"

    func fill(key: OnionKey, clients: [ClientKey], front: OnionAddress? = nil) throws(SystemError) {
        let directory = try PrivateDirectory(path)
        let bytes = key.torsFile
        if (try? directory.read(Self.keyFile, limit: bytes.count)) != bytes {
            // Tor ends at once when it finds the public key of another one beside the secret key.
            try directory.remove("hs_ed25519_public_key")
            try directory.remove("hostname")
            try directory.write(bytes, to: Self.keyFile)
        }
        if let front {
            try directory.write(Array("MasterOnionAddress \(front)\n".utf8), to: "ob_config")
        } else {
            try directory.remove("ob_config")
        }
        // The new first: with none of these files the service would be everybody's.
        let authorized = try directory.directory("authorized_clients")
        let names = clients.indices.map { "\($0).auth" }
        for (client, name) in zip(clients, names) {
            try authorized.write(Array((client.line + "\n").utf8), to: name)
        }
        for name in try authorized.names() where !names.contains(name) { try authorized.remove(name) }
    }

    /// Leaves no second copy of the key while no tor needs it. Not while tor has the service: it would make itself another
    /// one whenever something is set in its configuration.
    func forgetKey() { unlink("\(path)/\(Self.keyFile)") }

    /// Returns the address that tor has written when it took the service.
    func address() throws(SystemError) -> OnionAddress? {
        let text = String(decoding: try PrivateDirectory(path).read("hostname", limit: 128), as: UTF8.self)
        return text.split(separator: "\n").first.flatMap { OnionAddress(String($0)) }
    }
}
