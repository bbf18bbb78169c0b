import Crypto
import Encodings
import JSONCoding

/// A Google service account, read from the JSON file that Google's console gives.
package struct ServiceAccount: Sendable {
    package let projectID: String
    package let email: String
    package let tokenURI: String
    private let keyID: String
    private let key: SigningKey

    /// A file's fault, in words for the operator; never holds what stands in it.
    package enum Fault: Error, Equatable, CustomStringConvertible {
        case notJSON(JSONError)
        /// The file is of another kind, in words.
        case mistaken(String)
        case notServiceAccount
        case missing(key: String)
        case badKey(CryptoError)

        package var description: String {
            switch self {
            case .notJSON(let error): "not a JSON file: \(error)"
            case .mistaken(let words): words
            case .notServiceAccount: "\"type\" is not \"service_account\""
            case .missing(let key): "\"\(key)\" is missing"
            case .badKey(let error): "\"private_key\": \(error)"
            }
        }
    }

    package init(file: [UInt8]) throws(Fault) {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(Array(file.withoutMark))
        } catch {
            throw MistakenFile.words(for: file, wanted: .json).map { Fault.mistaken($0) }
                ?? Fault.notJSON(error)
        }
        guard json["type"]?.string == "service_account" else {
            throw ServiceAccount.otherFile(json).map { Fault.mistaken("\($0). \(ServiceAccount.way)") }
                ?? Fault.notServiceAccount
        }
        func text(_ key: String) throws(Fault) -> String {
            guard let text = json[key]?.string, !text.isEmpty else { throw .missing(key: key) }
            return text
        }
        projectID = try text("project_id")
        email = try text("client_email")
        tokenURI = try text("token_uri")
        keyID = try text("private_key_id")
        let pem = try text("private_key")
        do throws(CryptoError) {
            key = try SigningKey(pem: Array(pem.utf8), algorithm: .rs256)
        } catch {
            throw .badKey(error)
        }
    }

    /// The way to the right file at Google.
    private static let way =
        "In Firebase's console: Project settings, Service accounts, Generate new private key"

    /// Returns a sentence that names another file of Google's; `nil`: the file is none of these.
    private static func otherFile(_ json: JSON) -> String? {
        if json["project_info"] != nil, json["client"] != nil {
            return "this is google-services.json, which belongs into the phone's app"
        }
        if json["installed"] != nil || json["web"] != nil { return "this is an OAuth client, and no account" }
        switch json["type"]?.string {
        case "authorized_user": return "these are a person's credentials (gcloud), and no service account's"
        case "external_account": return "this is an external account (workload identity), which has no key"
        case _: return nil
        }
    }

    static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    /// Signs the assertion to exchange for an access token (RFC 7523): about 230 us of work.
    ///
    /// - Parameter now: Seconds since 1970. The assertion is for ``tokenURI`` also where another address
    ///   stands in for it.
    func assertion(now: Int64) throws(CryptoError) -> Secret {
        var header = Array(#"{"alg":"RS256","typ":"JWT","kid":"#.utf8)
        header.append(jsonString: keyID)
        header.append(contentsOf: "}".utf8)
        var claims = Array(#"{"iss":"#.utf8)
        claims.append(jsonString: email)
        claims.append(contentsOf: #","scope":"\#(ServiceAccount.scope)","aud":"#.utf8)
        claims.append(jsonString: tokenURI)
        claims.append(contentsOf: #","iat":\#(now),"exp":\#(now + 3600)}"#.utf8)
        return Secret(try JSONWebToken.sign(header: header, claims: claims, with: key))
    }
}
