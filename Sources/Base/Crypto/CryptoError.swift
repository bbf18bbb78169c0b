import COpenSSL

/// A failure of a cryptographic operation. No case holds key or message bytes.
package enum CryptoError: Error, Equatable, Sendable {
    /// An argument of a wrong size: our own mistake, or a peer's bytes that were not checked.
    case wrongLength(of: String, bytes: Int, allowed: String)
    /// The bytes were changed, or made under another key.
    case notAuthentic
    /// A key or certificate file that can't be used. `what` names it and what was expected, `reason` is OpenSSL's.
    case unreadable(what: String, reason: String)
    /// The password does not open the file.
    case wrongPassword
    /// The file has a password, and none was given.
    case passwordNeeded
    /// A PKCS#12 file of the old RC2 or 3DES kind, and this OpenSSL has no legacy provider to read it.
    case legacyPKCS12Unsupported
    /// OpenSSL failed where it should not.
    case library(operation: String, reason: String)
}

extension CryptoError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .wrongLength(let what, let bytes, let allowed):
            "\(what) of \(bytes) bytes; allowed is \(allowed)"
        case .notAuthentic:
            "the message was changed, or sealed under another key"
        case .unreadable(let what, let reason):
            "\(what): \(reason)"
        case .wrongPassword:
            "the password does not open the file"
        case .passwordNeeded:
            "the file has a password, and none was given"
        case .legacyPKCS12Unsupported:
            """
            the PKCS#12 file is encrypted with RC2 or 3DES, which this OpenSSL can't read (no legacy provider); \
            convert it on a machine that can: openssl pkcs12 -legacy -nodes -in old.p12 | \
            openssl pkcs12 -export -out new.p12
            """
        case .library(let operation, let reason):
            "\(operation): \(reason)"
        }
    }
}

/// OpenSSL's error queue of this thread.
enum LibraryErrors {
    static func clear() { ERR_clear_error() }

    /// Returns the words for the oldest queued error, which is the cause of those after it. Empties the
    /// queue.
    static func takeReason() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return "no reason given" }
        guard let reason = ERR_reason_error_string(code) else {
            var text = [CChar](repeating: 0, count: 256)
            ERR_error_string_n(code, &text, text.count)
            return text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        }
        return String(cString: reason)
    }

    static func failure(_ operation: String) -> CryptoError {
        .library(operation: operation, reason: takeReason())
    }
}
