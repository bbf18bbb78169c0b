import Crypto
import Encodings
import Testing

@testable import Tor

@Suite struct ProtocolInfoTests {
    @Test func methodsCookieFileAndVersionAreRead() throws {
        let info = try ProtocolInfo(ControlDecoderTests.protocolInfo)
        #expect(info.methods == [.cookie, .safeCookie, .hashedPassword])
        #expect(info.cookieFile == "/run/tor/control.authcookie")
        #expect(info.version == TorVersion("0.4.9.11"))
    }

    @Test func unknownLinesAndMethodsArePassedOver() throws {
        let info = try ProtocolInfo(
            ControlReply([
                .init(code: 250, text: "PROTOCOLINFO 1"), .init(code: 250, text: "AUTH METHODS=NULL,QUANTUM"),
                .init(code: 250, text: "WEATHER sunny"),
                .init(code: 250, text: "VERSION Tor=\"0.5.0.1-alpha-dev\""), .init(code: 250, text: "OK"),
            ]))
        #expect(info.methods == [.null])
        #expect(info.cookieFile == nil)
    }

    @Test func anAnswerWithoutVersionOrMethodsIsRefused() {
        #expect(throws: ControlSyntaxError.unreadableReply(to: "PROTOCOLINFO")) {
            try ProtocolInfo(reply(250, "OK"))
        }
    }

    @Test(arguments: [
        ("0.4.8.22", true), ("0.4.9", false), ("0.4.9.1-alpha", false), ("0.4.9.11 (git-0123)", false),
        ("0.10.0.1", false), ("1.0.0", false), ("0.3.5.10", true),
    ])
    func versionsAreComparedByTheirNumbers(text: String, isTooOld: Bool) throws {
        #expect(try (#require(TorVersion(text)) < TorVersion.oldestSupported) == isTooOld)
    }

    @Test(arguments: ["", "0.4", "0.4.9.1.2", "a.b.c", "0..4", "0.4.99999", "-"])
    func whatIsNoVersionIsNone(text: String) {
        #expect(TorVersion(text) == nil)
    }
}

/// Cookie 00…1f, client nonce 20…3f, server nonce 40…5f; both values were made apart, with Python's `hmac`.
@Suite struct SafeCookieTests {
    let cookie = Array(UInt8(0)..<32)
    let nonce = Array(UInt8(32)..<64)
    let challenge = reply(
        250,
        "AUTHCHALLENGE SERVERHASH=3C8780AB52365C0D080750447E5F64DABC00428C6C434579C2043E18C1F85389 SERVERNONCE=\(Hex.encode(Array(UInt8(64)..<96)))"
    )

    @Test func theAnswerIsTheKeyedHashOfCookieAndBothNonces() throws {
        let exchange = try SafeCookie(cookie: cookie, nonce: nonce, reply: challenge)
        #expect(
            Hex.encode(exchange.answer) == "b47642df2d5abb84f69e6d02d41bed6b44aee33e69562528a82166fc98bc0b1e")
    }

    @Test func aServerThatDoesNotKnowTheCookieGetsNoAnswer() {
        #expect(throws: ControlError.cookieMismatch) {
            try SafeCookie(cookie: cookie.reversed(), nonce: nonce, reply: challenge)
        }
    }

    @Test(arguments: [
        "AUTHCHALLENGE", "AUTHCHALLENGE SERVERHASH=00 SERVERNONCE=00", "OK", "AUTHCHALLENGE SERVERHASH=\"",
    ])
    func aChallengeInAnotherFormIsRefused(text: String) {
        #expect(throws: ControlError.self) {
            try SafeCookie(cookie: cookie, nonce: nonce, reply: reply(250, text))
        }
    }
}
