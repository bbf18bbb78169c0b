/// Apple's identifiers of keys and teams: ten capital letters and digits.
package enum AppleName {
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: false
                }
            }
    }

    /// Returns the key's id, `ABC123DEFG` of `AuthKey_ABC123DEFG.p8`, as Apple names the file.
    package static func keyID(inFileName path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        let id = String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
        return isIdentifier(id) ? id : nil
    }
}
