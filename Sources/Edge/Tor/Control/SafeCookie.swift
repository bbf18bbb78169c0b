import Crypto
import Encodings

/// The SAFECOOKIE exchange: both sides prove that they know the cookie, and neither sends it.
///
/// Source: control-spec, "AUTHCHALLENGE"; checked with tor 0.4.9.11.
struct SafeCookie {
    /// The argument of AUTHENTICATE, 32 bytes. Tor accepts nothing else after a challenge.
    let answer: [UInt8]

    /// Makes the answer to a challenge.
    ///
    /// - Parameters:
    ///   - cookie: the file's 32 bytes.
    ///   - nonce: the 32 random bytes that went with AUTHCHALLENGE.
    ///   - reply: `250 AUTHCHALLENGE SERVERHASH=<64 hex> SERVERNONCE=<64 hex>`.
    /// - Throws: ``ControlError/cookieMismatch`` when the other side does not know our cookie: it may be another
    ///   program, or a tor that has written a new cookie since.
    init(cookie: [UInt8], nonce: [UInt8], reply: ControlReply) throws(ControlError) {
        let words: ReplyFields
        do { words = try ReplyFields(reply.lines[0].text) } catch { throw .notUnderstood(error) }
        guard words[0] == "AUTHCHALLENGE",
            let hash = words["SERVERHASH"].flatMap(Hex.decode), hash.count == 32,
            let serverNonce = words["SERVERNONCE"].flatMap(Hex.decode), serverNonce.count == 32
        else { throw .notUnderstood(.unreadableReply(to: "AUTHCHALLENGE")) }
        let message = cookie + nonce + serverNonce
        guard equalInConstantTime(HMAC.sha256(message, key: Self.serverKey), hash) else {
            throw .cookieMismatch
        }
        answer = HMAC.sha256(message, key: Self.controllerKey)
    }

    private static let serverKey = Array("Tor safe cookie authentication server-to-controller hash".utf8)
    private static let controllerKey = Array("Tor safe cookie authentication controller-to-server hash".utf8)
}
