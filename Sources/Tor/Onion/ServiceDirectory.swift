import Glibc
import Reactor

/// The directory of a service of tor's configuration (`HiddenServiceDir`), as we fill it for tor.
///
///     hs_ed25519_secret_key            32 bytes of header, the 64 of the expanded key
///     hs_ed25519_public_key, hostname  tor's own
///     authorized_clients/*.auth        `descriptor:x25519:<52 characters>`, one client each
///
/// A copy of what the node keeps elsewhere: it is made anew whenever the service is given to tor.
struct ServiceDirectory {
    let path: String

    private var keyFile: String { path + "/hs_ed25519_secret_key" }
    private var clientsDirectory: String { path + "/authorized_clients" }

    func fill(key: OnionKey, clients: [ClientKey]) throws(SystemError) {
        try PrivateFile.makeDirectory(path)
        let bytes = key.torsFile
        if (try? PrivateFile.read(keyFile, limit: bytes.count)) != bytes {
            // Tor ends at once when it finds the public key of another one beside the secret key.
            try remove(path + "/hs_ed25519_public_key")
            try remove(path + "/hostname")
            try PrivateFile.write(bytes, to: keyFile, replacing: true)
        }
        try PrivateFile.makeDirectory(clientsDirectory)
        for name in try PrivateFile.names(in: clientsDirectory) { try remove(clientsDirectory + "/" + name) }
        for (number, client) in clients.enumerated() {
            try PrivateFile.write(
                Array((client.line + "\n").utf8), to: "\(clientsDirectory)/\(number).auth", replacing: true)
        }
    }

    /// Leaves no second copy of the key while no tor needs it. Not before tor has ended: it would make itself another one
    /// whenever something is set in its configuration.
    func forgetKey() { unlink(keyFile) }

    /// What tor has written when it took the service.
    func address() throws(SystemError) -> OnionAddress? {
        let text = String(decoding: try PrivateFile.read(path + "/hostname", limit: 128), as: UTF8.self)
        return text.split(separator: "\n").first.flatMap { OnionAddress(String($0)) }
    }

    private func remove(_ path: String) throws(SystemError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemError("remove \(path)") }
    }
}
