import Crypto
import Encodings
import Gateways
import Reactor

/// A credential of Apple's or Google's service, as its owner gives it to the console.
///
/// A value: it reads the bytes and says where they go and what the settings are to have. It opens and writes nothing.
struct WayCredential: Sendable {
    /// Bytes of a file at most: a key of Apple's has 260, a service account of Google's 2,400.
    static let longest = 16_384

    let content: Secret
    /// The place of the file in the state directory.
    let path: String
    /// The values of the app's settings, by their keys.
    let values: [(name: String, value: String)]

    /// Why a file is not taken.
    struct Fault: Error, Equatable { let words: String }

    /// Reads a key for Apple's service (`.p8`).
    ///
    /// - Parameters:
    ///   - ids: Of the key and of the team, ten characters each, in whatever case and with blanks around them.
    ///   - topic: The app's bundle id; empty: that of the settings.
    static func apple(
        _ file: [UInt8], keyID: String, teamID: String, topic: String, in state: String
    ) throws(Fault) -> WayCredential {
        let (keyID, teamID) = (identifier(keyID), identifier(teamID))
        guard AppleName.isIdentifier(keyID), AppleName.isIdentifier(teamID) else {
            throw Fault(words: "the ids of key and team have ten letters and digits each")
        }
        do throws(CryptoError) {
            _ = try ProviderKey(keyID: keyID, teamID: teamID, p8: file)
        } catch {
            throw Fault(words: "this is no key of Apple's (AuthKey_….p8): \(error)")
        }
        let path = "\(StateDirectory.gatewayKeys(in: state))/AuthKey_\(keyID).p8"
        let topics = topic.isEmpty ? [] : [("topic", topic)]
        return WayCredential(
            content: Secret(file), path: path,
            values: topics + [("key_file", path), ("key_id", keyID), ("team_id", teamID)])
    }

    /// Reads a service account of Google's (JSON).
    static func google(_ file: [UInt8], in state: String) throws(Fault) -> WayCredential {
        do throws(ServiceAccount.Fault) {
            _ = try ServiceAccount(file: file)
        } catch {
            throw Fault(words: "this is no service account of Google's: \(error)")
        }
        let digest = Hex.encode(Array(Hash.sha256(file).prefix(4)))
        let path = "\(StateDirectory.gatewayKeys(in: state))/service-account-\(digest).json"
        return WayCredential(
            content: Secret(file), path: path, values: [("service_account_file", path)])
    }

    private static func identifier(_ text: String) -> String {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let bytes = text.utf8.filter { $0 > UInt8(ascii: " ") }
            .map { letters.contains($0) ? $0 - (UInt8(ascii: "a") - UInt8(ascii: "A")) : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
