import Processes
import Reactor

/// The identity of the directory authority in `dataDirectory`.
struct AuthorityIdentity: Sendable {
    let name: String
    let dataDirectory: String
    let orPort: UInt16
    let dirPort: UInt16
    /// The fingerprint of its signing certificate, 40 hex digits.
    let v3Identity: String
    /// The fingerprint as a relay, 40 hex digits.
    let fingerprint: String

    var torrcLine: String {
        "DirAuthority \(name) orport=\(orPort) no-v2 v3ident=\(v3Identity) 127.0.0.1:\(dirPort) \(fingerprint)"
    }
}

/// Makes an authority's keys with tor's own tools; the costly part of a network's start (RSA-3072).
@EventLoop
struct AuthorityKeys {
    private let name: String
    private let dataDirectory: String
    private let orPort: UInt16
    private let dirPort: UInt16
    private let certificateTool: Tool
    private let fingerprintTool: Tool

    /// Starts the tools.
    init(
        tor: String, name: String, in directory: LabDirectory, orPort: UInt16, dirPort: UInt16
    ) throws(LabError) {
        self.name = name
        self.orPort = orPort
        self.dirPort = dirPort
        dataDirectory = try directory.make(name)
        let keys = try directory.make("\(name)/keys")
        certificateTool = try start([
            tor + "-gencert", "--create-identity-key", "-m", "12", "-a", "127.0.0.1:\(dirPort)",
            "-i", keys + "/authority_identity_key", "-s", keys + "/authority_signing_key",
            "-c", keys + "/authority_certificate",
            // The passphrase: standard input is /dev/null, so there is none.
            "--passphrase-fd", "0",
        ])
        let torrc = dataDirectory + "/keys.torrc"
        let lines = [
            "DataDirectory \(dataDirectory)", "Nickname \(name)", "ORPort 127.0.0.1:\(orPort)", "SocksPort 0",
            "",
        ]
        try LabDirectory.write(Array(lines.joined(separator: "\n").utf8), to: torrc)
        // Makes the relay's keys, tells its fingerprint, and ends without having used the network.
        fingerprintTool = try start([tor, "-f", torrc, "--list-fingerprint", "--quiet"])
    }

    /// Waits for the tools.
    func finish() async throws(LabError) -> AuthorityIdentity {
        let fingerprintLine: String
        do {
            fingerprintLine = try await fingerprintTool.finish().last ?? ""
            _ = try await certificateTool.finish()
        } catch {
            throw .tool(error)
        }
        // `a1 A760 EFF1 …`
        let fingerprint = fingerprintLine.split(separator: " ").dropFirst().joined()
        let certificate = try LabDirectory.read(dataDirectory + "/keys/authority_certificate")
        let prefix = "fingerprint "
        let line = String(decoding: certificate, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix(prefix)
        }
        guard let v3Identity = line?.dropFirst(prefix.count), v3Identity.count == 40, fingerprint.count == 40
        else {
            throw .unreadable("an authority's fingerprint")
        }
        return AuthorityIdentity(
            name: name, dataDirectory: dataDirectory, orPort: orPort, dirPort: dirPort,
            v3Identity: String(v3Identity), fingerprint: fingerprint)
    }
}

@EventLoop
private func start(_ arguments: [String]) throws(LabError) -> Tool {
    do { return try Tool(arguments) } catch { throw .tool(error) }
}
