/// Says in words what a file is that should be a key or a certificate and is none, by looking at its bytes.
///
/// OpenSSL's words for such a file ("no start line", "wrong tag") name neither what it is nor what helps. These do, and
/// hold nothing of what is in it.
package enum MistakenFile {
    /// The kind of file that is wanted.
    package enum Wanted {
        /// A private key in PEM, without a pass phrase.
        case privateKey
        /// Certificates in PEM.
        case certificate
        /// A certificate with its key, as `.p12`.
        case archive
        /// The JSON of a service account.
        case json
    }

    /// Returns a sentence that says what the file is and what to do; `nil`: the file is of no known kind.
    package static func words(for file: [UInt8], wanted: Wanted) -> String? {
        // Whatever it is, it says so at its beginning.
        let text = file.withoutMark.prefix(65_536)
        guard let first = text.first(where: { !isBlank($0) }) else { return "the file is empty" }
        if file.starts(with: [0xff, 0xfe]) || file.starts(with: [0xfe, 0xff]) {
            return "the file is text in UTF-16: save it as UTF-8 or ASCII"
        }
        switch first {
        case UInt8(ascii: "<"):
            return
                "this is a web page (HTML) and no key: the download has failed, so sign in there and download it again"
        case UInt8(ascii: "{") where wanted == .json:
            return has("}", in: file.suffix(16)) ? nil : "the file is cut off: its last } is missing"
        case UInt8(ascii: "{"):
            return
                "this is a JSON file, such as Google's of a service account, and \(name(of: wanted)) is needed"
        default: break
        }
        if let words = words(forPEM: text, wanted) { return words }
        if first == 0x30, text.count > 1, text.dropFirst().first.map({ $0 >= 0x80 }) == true,
            wanted != .archive
        {
            return binary(wanted)
        }
        return words(forBase64: text, wanted)
    }

    private static func name(of wanted: Wanted) -> String {
        switch wanted {
        case .privateKey: "a private key"
        case .certificate: "a certificate"
        case .archive: "a .p12"
        case .json: "the JSON file of a service account"
        }
    }

    private static func binary(_ wanted: Wanted) -> String {
        guard wanted != .json else { return "this is binary, and \(name(of: wanted)) is needed" }
        let command = wanted == .privateKey ? "openssl pkey" : "openssl x509"
        return "this is binary (DER), and PEM is needed: \(command) -inform DER -in OLD -out NEW; "
            + "if it is a .p12: openssl pkcs12 -in OLD -nodes -out NEW"
    }

    // MARK: PEM

    private static func words(forPEM text: ArraySlice<UInt8>, _ wanted: Wanted) -> String? {
        let labels = labels(in: text)
        guard !labels.isEmpty else { return nil }
        guard wanted != .json else { return "this is PEM, and \(name(of: wanted)) is needed" }
        let hasKey = labels.contains { $0.hasSuffix("PRIVATE KEY") }
        let hasCertificate = labels.contains { $0.hasSuffix("CERTIFICATE") }
        if labels.contains("ENCRYPTED PRIVATE KEY") || has("Proc-Type: 4,ENCRYPTED", in: text),
            wanted != .certificate
        {
            return "the key is encrypted with a pass phrase, which the node can't ask for: "
                + "openssl pkey -in OLD -out NEW takes it away"
        }
        if has("\\n", in: text) {
            return "the file has \\n in place of line ends: printf '%b' \"$(cat OLD)\" > NEW mends it"
        }
        if labels.contains("OPENSSH PRIVATE KEY") { return "this is a key for SSH, and no key for this" }
        switch wanted {
        case .archive:
            if hasKey, hasCertificate {
                return "this is PEM; a .p12 is needed: openssl pkcs12 -export -in OLD -out NEW.p12"
            }
            if hasKey {
                return "this is a private key in PEM (.p8): name it in key_file with key_id and team_id, "
                    + "or make a .p12 of it and its certificate: openssl pkcs12 -export -inkey KEY -in CERTIFICATE -out NEW.p12"
            }
            if hasCertificate {
                return "this is PEM, a certificate without its key; a .p12 with both is needed: "
                    + "openssl pkcs12 -export -inkey KEY -in CERTIFICATE -out NEW.p12"
            }
        case .privateKey where !hasKey:
            if labels.contains(where: { $0.hasSuffix("PUBLIC KEY") }) {
                return "this is the public key; the private one is needed"
            }
            if hasCertificate { return "this is a certificate without its key; the private key is needed" }
        case .certificate where !hasCertificate:
            if labels.contains(where: { $0.hasSuffix("CERTIFICATE REQUEST") }) {
                return "this is only the request for a certificate: have it signed, and name what comes back"
            }
            if hasKey { return "this is a private key; its certificate is needed" }
        case .privateKey, .certificate, .json: break
        }
        guard has("-----END ", in: text) else { return "the file is cut off: its END line is missing" }
        let lines = text.split { $0 == 0x0a || $0 == 0x0d }
        if lines.contains(where: { has("-----BEGIN ", in: $0) && has("-----END ", in: $0) }) {
            return "the file has lost its line ends: the BEGIN line and the END line must stand alone"
        }
        return nil
    }

    /// Returns the word behind each `BEGIN`.
    private static func labels(in text: ArraySlice<UInt8>) -> [String] {
        var labels: [String] = []
        var rest = text
        while labels.count < 32, let start = firstIndex(of: "-----BEGIN ", in: rest) {
            rest = rest[start...].dropFirst(11)
            let label = rest.prefix(64).prefix { $0 != UInt8(ascii: "-") && $0 >= 0x20 }
            labels.append(String(decoding: label, as: UTF8.self))
        }
        return labels
    }

    private static func words(forBase64 text: ArraySlice<UInt8>, _ wanted: Wanted) -> String? {
        let digits = text.filter { !isBlank($0) }
        // DER begins with a sequence of more than 127 bytes.
        guard digits.count > 100, digits.starts(with: "MI".utf8),
            digits.allSatisfy({ byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte & 0xdf)
                    || "+/=".utf8.contains(byte)
            })
        else { return nil }
        return switch wanted {
        case .json: nil
        case .archive: "this is a .p12 as Base64 text: base64 -d OLD > NEW.p12"
        case .privateKey: "the lines -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- are missing"
        case .certificate: "the lines -----BEGIN CERTIFICATE----- and -----END CERTIFICATE----- are missing"
        }
    }

    // MARK: Bytes

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    private static func has(_ words: String, in text: ArraySlice<UInt8>) -> Bool {
        firstIndex(of: words, in: text) != nil
    }

    private static func firstIndex(of words: String, in text: ArraySlice<UInt8>) -> Int? {
        let count = words.utf8.count
        guard text.count >= count else { return nil }
        return (text.startIndex...(text.endIndex - count)).first { text[$0...].starts(with: words.utf8) }
    }
}

extension [UInt8] {
    /// The bytes without the mark that programs of Windows write before UTF-8.
    package var withoutMark: ArraySlice<UInt8> {
        starts(with: [0xef, 0xbb, 0xbf]) ? dropFirst(3) : self[...]
    }
}
