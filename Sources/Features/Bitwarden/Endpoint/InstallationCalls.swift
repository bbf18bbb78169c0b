import Calls
import Crypto
import Doors
import Encodings
import HTTP1
import JSONCoding
import Node
import Persistence
import Reactor
import Relay

/// Which Bitwarden servers may use their door. They are listed and removed as all registrations are.
extension BitwardenFeature: FeatureWithCalls {
    package nonisolated static let calls: [NodeCalls.Call] = [
        NodeCalls.Call(
            CallText(
                "POST installations", "addInstallation",
                "Let a Bitwarden server in, or give it another key.",
                asks: [
                    "id?": .text(0...64, pattern: "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$")
                        .said("The server's own; without it a new one.")
                ], answer: .made("The key is not shown again.", ["id": .text, "key": .text]),
                refuses: [.unfit]),
            by: .store { files, asked throws(CallRefusal) in try files.addInstallation(asked.body) }),
        NodeCalls.Call(
            CallText(
                "PUT installations/{id}", "setInstallation",
                "Shut a Bitwarden server out for a while, or let it in again; its devices stay.",
                asks: ["enabled": .flag], answer: .done("It is."), refuses: [.absent]),
            by: .store { files, asked throws(CallRefusal) in
                try files.setInstallation(asked.segment.lowercased(), asked.body)
            }),
    ]
}

extension NodeFiles {
    /// Adds an installation. One that is there gets another key.
    fileprivate func addInstallation(_ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        let id = body.optionalText("id")?.lowercased() ?? InstallationID.new()
        guard BitwardenDoor.isInstallationID(id) else {
            throw CallRefusal(.unfit, "bad_id", "the id is not a GUID (8-4-4-4-12 hex digits)")
        }
        let key = InstallationID.newKey()
        return try registrations(changing: true) { file in
            let digests = BitwardenDigests(key: try StateDirectory.digestKey(in: stateDirectory))
            try file.put(
                Installation(
                    id: id, keyDigest: digests.key(key, of: id), addedAt: EventLoop.unixTime))
            return HTTPResponse(status: 201, json: ["id": .string(id), "key": .string(key)])
        }
    }

    fileprivate func setInstallation(_ id: String, _ body: CallBody) throws(CallRefusal) -> HTTPResponse {
        let isEnabled = body.flag("enabled")
        return try registrations(changing: true) { file in
            guard let known = try file.installation(id) else {
                throw CallRefusal(.absent, "unknown_installation", "no installation has this id")
            }
            try file.put(
                Installation(
                    id: id, keyDigest: known.keyDigest, isEnabled: isEnabled, addedAt: known.addedAt))
            return HTTPResponse(status: 204)
        }
    }
}

/// Ids and keys as Bitwarden's own cloud gives them out.
private enum InstallationID {
    static func new() -> String {
        var bytes = randomBytes(16)
        // A random one (RFC 9562, version 4).
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = Array(Hex.encode(bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    /// Makes a key of 24 letters and digits: 142 bits.
    static func newKey() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        var generator = SystemRandomNumberGenerator()
        return String((0..<24).map { _ in alphabet.randomElement(using: &generator)! })
    }
}
