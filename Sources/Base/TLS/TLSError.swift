import COpenSSL

/// Why a TLS connection, or the set-up for one, failed.
package enum TLSError: Error, Equatable, Sendable {
    /// The peer's certificate does not prove that it is who we wanted. Nothing was sent to it.
    case untrusted(TrustFault, reason: String)
    /// The peer ended the connection with this alert (RFC 8446, section 6): often our certificate, or no protocol in
    /// common.
    case refusedByPeer(alert: Int, reason: String)
    /// The bytes were not TLS, or broken.
    case broken(reason: String)
    /// A certificate, key or CA file that can't be used. `what` names it.
    case unusable(what: String, reason: String)
}

/// A fault of a peer's certificate.
package enum TrustFault: Equatable, Sendable {
    case expired
    case notYetValid
    /// The certificate is for another host name or address.
    case wrongName
    /// Signed by itself, and not among the trusted.
    case selfSigned
    /// Signed by nobody we trust.
    case unknownAuthority
    /// Any other fault of the chain, with OpenSSL's number (`X509_V_ERR_...`).
    case faultyChain(code: Int)
}

extension TLSError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .untrusted(_, let reason): "the peer's certificate is not trusted: \(reason)"
        case .refusedByPeer(let alert, let reason): "the peer refused with alert \(alert): \(reason)"
        case .broken(let reason): "TLS error: \(reason)"
        case .unusable(let what, let reason): "\(what): \(reason)"
        }
    }
}

extension TLSError {
    /// Returns the words for the oldest error in OpenSSL's queue, which is the cause of those after it.
    /// Empties the queue.
    static func takeReason() -> String { takeError().reason }

    static func unusable(_ what: String) -> TLSError { .unusable(what: what, reason: takeReason()) }

    /// Returns the cause of a failed call on `ssl`, from the error queue and the result of verification.
    static func cause(of ssl: OpaquePointer) -> TLSError {
        let (code, reason) = takeError()
        let isTLS = code != 0 && ERR_GET_LIB(code) == ERR_LIB_SSL
        let number = code == 0 ? 0 : ERR_GET_REASON(code)
        if isTLS, number == SSL_R_CERTIFICATE_VERIFY_FAILED {
            let result = SSL_get_verify_result(ssl)
            return .untrusted(
                TrustFault(result), reason: String(cString: X509_verify_cert_error_string(result)))
        }
        if isTLS, number > SSL_AD_REASON_OFFSET {
            return .refusedByPeer(alert: Int(number - SSL_AD_REASON_OFFSET), reason: reason)
        }
        return .broken(reason: reason)
    }

    private static func takeError() -> (code: UInt, reason: String) {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return (0, "no reason given") }
        guard let reason = ERR_reason_error_string(code) else {
            var text = [CChar](repeating: 0, count: 256)
            ERR_error_string_n(code, &text, text.count)
            return (code, text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
        }
        return (code, String(cString: reason))
    }
}

extension TrustFault {
    init(_ code: CLong) {
        switch CInt(code) {
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: self = .wrongName
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: self = .selfSigned
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            self = .unknownAuthority
        default: self = .faultyChain(code: Int(code))
        }
    }
}
