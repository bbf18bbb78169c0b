/// The reason why tor refused an authentication. Each refusal also closes the connection.
package enum AuthenticationRefusal: Equatable, Sendable {
    case wrongPassword
    /// Tor checks passwords and cookies, and the value was neither.
    case wrongPasswordOrCookie
    /// An unquoted password.
    case notHexadecimal
    case wrongCookieLength
    case wrongCookie
    case wrongSafeCookieAnswer
    case cookieDisabled
    /// The form of AUTHCHALLENGE: nonce, method or number of arguments.
    case challengeRefused(String)
    case unexplained(String)

    /// Whether the next attempt may pass, with the file read again: tor writes a new cookie at every start, shortly after
    /// it begins to listen.
    package var mayPassSoon: Bool {
        switch self {
        case .wrongPasswordOrCookie, .wrongCookieLength, .wrongCookie, .wrongSafeCookieAnswer: true
        case .wrongPassword, .notHexadecimal, .cookieDisabled, .challengeRefused, .unexplained: false
        }
    }

    init?(code: UInt16, words: String) {
        let failed = "Authentication failed: "
        switch (code, words) {
        case (515, "Cookie authentication is disabled"):
            self = .cookieDisabled
        // Both go on with a hint about quotes when the password came as digits.
        case (515, let words)
        where words.hasPrefix(
            failed + "Password did not match HashedControlPassword value from configuration"):
            self = .wrongPassword
        case (515, let words)
        where words.hasPrefix(
            failed + "Password did not match HashedControlPassword *or* authentication cookie."):
            self = .wrongPasswordOrCookie
        case (515, failed + "Wrong length on authentication cookie."):
            self = .wrongCookieLength
        case (515, failed + "Authentication cookie did not match expected value."):
            self = .wrongCookie
        case (515, failed + "Safe cookie response did not match expected value."):
            self = .wrongSafeCookieAnswer
        case (515, _):
            self = .unexplained(words)
        case (551, let words) where words.hasPrefix("Invalid hexadecimal encoding."):
            self = .notHexadecimal
        case (513, "Invalid base16 client nonce"),
            (513, "AUTHCHALLENGE only supports SAFECOOKIE authentication"),
            (512, "Wrong number of arguments for AUTHCHALLENGE"):
            self = .challengeRefused(words)
        default:
            return nil
        }
    }
}

extension AuthenticationRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .wrongPassword: "tor refuses the control port password"
        case .wrongPasswordOrCookie: "tor refuses the control port password or cookie"
        case .notHexadecimal: "tor could not read the password"
        case .wrongCookieLength: "tor refuses a cookie of this length"
        case .wrongCookie, .wrongSafeCookieAnswer: "tor refuses the cookie: it is not that of this tor"
        case .cookieDisabled: "tor has cookie authentication switched off"
        case .challengeRefused(let words): "tor refuses the cookie challenge: \(words)"
        case .unexplained(let words): "tor refuses the authentication: \(words)"
        }
    }
}
