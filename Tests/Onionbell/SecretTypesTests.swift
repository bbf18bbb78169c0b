import Foundation
import Testing

/// Secrets have a type that prints as `<secret>` (``Crypto/Secret``): whatever is written to a log or to a fault can't show one.
@Suite struct SecretTypesTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardized

    /// The members, variables and cases of a source that are named like a secret and hold text or bytes.
    private func plainSecrets(in source: String) -> [Substring] {
        let words = ["secret", "password", "passphrase", "token", "authorization", "assertion", "privatekey"]
        // What is worked out each time is none.
        let member = /(?:let|var) (\w+)(?:: (?:String|\[UInt8\]|ByteText|Substring)\??(?: = .*)?| = ".*)$/
        let payload = /^ *(?:indirect )?case (\w+)\((?:\w+: \w+, )*(?:String|\[UInt8\]|ByteText|Substring)\b/
        return source.split(separator: "\n").filter { line in
            guard let name = line.firstMatch(of: member)?.1 ?? line.firstMatch(of: payload)?.1 else {
                return false
            }
            // A word of the program's own, such as a column's name, is no secret.
            return !line.contains("static ") && words.contains { name.lowercased().hasSuffix($0) }
        }
    }

    @Test(arguments: ["Edge/Gateways", "Edge/Outbound", "Edge/Persistence", "Node", "Features/Database"])
    func noSecretIsAText(_ folder: String) throws {
        let files = try #require(
            FileManager.default.enumerator(
                at: Self.sources.appending(path: folder), includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            count += 1
            let found = plainSecrets(in: try String(contentsOf: file, encoding: .utf8))
            #expect(found.isEmpty, "\(file.lastPathComponent): \(found)")
        }
        #expect(count > 1)
    }

    @Test(arguments: [
        "    let secret: [UInt8]", "    private let accessToken: String", "    var password: [UInt8]? = nil",
        #"    private var authorization = """#, "    fileprivate(set) var token: String?",
        "        case token(String)", "        case password(user: String, String)",
    ])
    func whatIsLookedForIsFound(_ line: String) {
        #expect(plainSecrets(in: "struct A {\n\(line)\n}").count == 1)
    }

    @Test(arguments: [
        "    let secret: Secret", "    package var passwordFile = \"\"", "    var tokens: VAPIDTokens",
        "    var authorization: Secret {", "        case reader(name: String, token: Digest)",
        "        case password(user: String, Secret)",
    ])
    func othersAreLeft(_ line: String) {
        #expect(plainSecrets(in: "struct A {\n\(line)\n}").isEmpty)
    }
}
