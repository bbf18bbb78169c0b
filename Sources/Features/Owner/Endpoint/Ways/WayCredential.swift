import Crypto
import Encodings
import Gateways
import Node
import Reactor

/// A credential of Apple's or Google's service, as its owner gives it to the console.
///
/// A value: it reads the bytes and says where they go and what the settings are to have. It opens and writes nothing.
struct WayCredential: Sendable {
    /// Bytes of a file at most: a key of Apple's has 260, a service account of Google's 2,400.
    static let longest = 16_384

    /// The credential, and behind it a certificate's password, with their places in the state directory.
    let files: [(path: String, content: Secret)]
    /// The values of the app's settings, by their keys.
    let values: [(name: String, value: String)]
    /// The bundle id of an app that is made for the credential; `nil`: the usual one.
    var topic: String?

    /// The place of the credential itself.
    var path: String { files[0].path }

    /// The reason why a file is not taken: a word for programs, and a sentence.
    struct Fault: Error, Equatable {
        var code = "unfit_credential"
        let words: String
    }

    /// Reads what Apple's service takes: a key (`.p8`), or the Base64 text of a certificate with its key (`.p12`).
    ///
    /// - Parameters:
    ///   - ids: Of the key and of the team, ten characters each, in whatever case and with blanks around them. A certificate
    ///     needs none.
    ///   - password: The one that opens a `.p12`.
    ///   - topic: The app's bundle id; empty: that of the settings.
    static func apple(
        _ file: [UInt8], keyID: String, teamID: String, password: String = "", topic: String, in state: String
    ) throws(Fault) -> WayCredential {
        if let archive = archive(in: file) {
            return try certificate(archive, password: password, topic: topic, in: state)
        }
        let (keyID, teamID) = (identifier(keyID), identifier(teamID))
        guard AppleName.isIdentifier(keyID), AppleName.isIdentifier(teamID) else {
            throw Fault(
                code: "unfit_ids", words: "the ids of key and team have ten letters and digits each")
        }
        do throws(CryptoError) {
            _ = try ProviderKey(keyID: keyID, teamID: teamID, p8: file)
        } catch {
            throw Fault(words: "this is no key of Apple's (AuthKey_….p8): \(error)")
        }
        let path = "\(StateDirectory.gatewayKeys(in: state))/AuthKey_\(keyID).p8"
        let topics = topic.isEmpty ? [] : [("topic", topic)]
        return WayCredential(
            files: [(path, Secret(file))],
            values: topics + [("key_file", path), ("key_id", keyID), ("team_id", teamID)],
            topic: topic.isEmpty ? nil : topic)
    }

    /// Reads a push certificate with its key. The file is kept as it is, and its password beside it.
    private static func certificate(
        _ file: [UInt8], password: String, topic: String, in state: String
    ) throws(Fault) -> WayCredential {
        let identity: Identity
        do throws(CryptoError) {
            identity = try PKCS12.open(file, password: password)
        } catch {
            let code =
                switch error {
                case .passwordNeeded: "certificate_password"
                case .wrongPassword: "certificate_password_wrong"
                case .wrongLength, .notAuthentic, .unreadable, .legacyPKCS12Unsupported, .library:
                    "unfit_credential"
                }
            throw Fault(code: code, words: "this is no push certificate of Apple's (.p12): \(error)")
        }
        let digest = Hex.encode(Array(Hash.sha256(file).prefix(4)))
        let path = "\(StateDirectory.gatewayKeys(in: state))/certificate-\(digest)"
        var files = [("\(path).p12", Secret(file))]
        var values = [("certificate_file", "\(path).p12")]
        if !password.isEmpty {
            files.append(("\(path).password", Secret(password)))
            values.append(("certificate_password_file", "\(path).password"))
        }
        return WayCredential(
            files: files, values: (topic.isEmpty ? [] : [("topic", topic)]) + values,
            topic: topic.isEmpty ? identity.certificate.userID : topic)
    }

    /// Returns the bytes of a Base64 text, whatever its line ends; `nil` unless they are DER. The text of a key that has lost its
    /// first and last line is no archive: its sequence begins with the number 0.
    private static func archive(in file: [UInt8]) -> [UInt8]? {
        let digits = file.filter { $0 > UInt8(ascii: " ") }
        guard let bytes = Base64.decode(String(decoding: digits, as: UTF8.self)), bytes.count > 2,
            bytes[0] == 0x30
        else { return nil }
        let lengthBytes = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7f)
        return bytes.dropFirst(2 + lengthBytes).starts(with: [0x02, 0x01, 0x00]) ? nil : bytes
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
            files: [(path, Secret(file))], values: [("service_account_file", path)])
    }

    private static func identifier(_ text: String) -> String {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let bytes = text.utf8.filter { $0 > UInt8(ascii: " ") }
            .map { letters.contains($0) ? $0 - (UInt8(ascii: "a") - UInt8(ascii: "A")) : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}
