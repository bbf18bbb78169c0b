import Testing

@testable import Tor

/// Every refusal that tor 0.4.9.11 was seen to send has a value of its own.
@Suite struct ControlRefusalTests {
    /// Those whose value carries tor's words as they are.
    static let inWords: [(UInt16, String, @Sendable (String) -> ControlRefusal)] = [
        (512, "Bad arguments to ADD_ONION: Need at least 1 argument(s)", { .badArguments($0) }),
        (512, "Bad arguments to ADD_ONION: Unrecognized keyword argument \"Foo\"", { .badArguments($0) }),
        (512, "Bad arguments to ADD_ONION: Cannot parse keyword argument(s)", { .badArguments($0) }),
        (515, "Something new", { .authenticationRefused(.unexplained($0)) }),
        (513, "Invalid base16 client nonce", { .authenticationRefused(.challengeRefused($0)) }),
        (
            513, "AUTHCHALLENGE only supports SAFECOOKIE authentication",
            { .authenticationRefused(.challengeRefused($0)) }
        ),
        (
            512, "Wrong number of arguments for AUTHCHALLENGE",
            { .authenticationRefused(.challengeRefused($0)) }
        ),
        (512, "Failed to decode ED25519-V3 key", { .onionKeyRefused($0) }),
        (551, "Failed to generate onion address", { .onionKeyRefused($0) }),
        (513, "Invalid key type", { .onionKeyRefused($0) }),
        (512, "Invalid key type/blob", { .onionKeyRefused($0) }),
        (512, "No auth clients specified", { .clientAuthorizationRefused($0) }),
        (512, "Cannot decode v3 client auth key", { .clientAuthorizationRefused($0) }),
        (512, "Invalid v3 address \"foo\"", { .clientAuthorizationRefused($0) }),
        (512, "Failed to decode x25519 private key", { .clientAuthorizationRefused($0) }),
        (512, "Incomplete ONION_CLIENT_AUTH_ADD command", { .clientAuthorizationRefused($0) }),
        (552, "Unrecognized key type \"rsa\"", { .clientAuthorizationRefused($0) }),
        (553, "Unable to store creds for \"abc\"", { .clientAuthorizationRefused($0) }),
        (553, "Something new", { .unexplained(code: 553, words: $0) }),
    ]

    @Test(arguments: inWords.indices)
    func aRefusalThatTorExplainsKeepsItsWords(index: Int) {
        let (code, text, expected) = Self.inWords[index]
        #expect(ControlRefusal(reply(code, text)) == expected(text))
    }

    static let failed = "Authentication failed: "
    static let seen: [(UInt16, String, ControlRefusal)] = [
        (510, "Unrecognized command \"FOO\"", .unrecognizedCommand("FOO")),
        (510, "Unrecognized command \"\"", .unrecognizedCommand("")),
        (514, "Authentication required.", .authenticationRequired),
        (
            515, failed + "Password did not match HashedControlPassword value from configuration",
            .authenticationRefused(.wrongPassword)
        ),
        (
            515, failed + "Password did not match HashedControlPassword *or* authentication cookie.",
            .authenticationRefused(.wrongPasswordOrCookie)
        ),
        (
            551, "Invalid hexadecimal encoding.  Maybe you tried a plain text password?  If so, ...",
            .authenticationRefused(.notHexadecimal)
        ),
        (515, failed + "Wrong length on authentication cookie.", .authenticationRefused(.wrongCookieLength)),
        (
            515, failed + "Authentication cookie did not match expected value.",
            .authenticationRefused(.wrongCookie)
        ),
        (
            515, failed + "Safe cookie response did not match expected value.",
            .authenticationRefused(.wrongSafeCookieAnswer)
        ),
        (515, "Cookie authentication is disabled", .authenticationRefused(.cookieDisabled)),
        (550, "Onion address collision", .onionAddressCollision),
        (552, "Unknown Onion Service id", .unknownOnionService),
        (512, "Malformed Onion Service id", .malformedOnionService),
        (512, "Missing 'Port' argument", .portMissing),
        (512, "Invalid VIRTPORT/TARGET", .portRefused),
        (512, "Invalid 'Flags' argument", .flagRefused(nil)),
        (512, "Invalid 'Flags' argument: \"Foo\"", .flagRefused("Foo")),
        (512, "Invalid MaxStreams", .limitRefused("MaxStreams")),
        (512, "Invalid PoWDefensesEnabled", .limitRefused("PoWDefensesEnabled")),
        (512, "Invalid PoWQueueRate", .limitRefused("PoWQueueRate")),
        (512, "Invalid PoWQueueBurst", .limitRefused("PoWQueueBurst")),
        (512, "Tor is in anonymous hidden service mode", .anonymityMode(torIsAnonymous: true)),
        (512, "Tor is in non-anonymous hidden service mode", .anonymityMode(torIsAnonymous: false)),
        (552, "Unrecognized key \"nonsense\"", .unrecognizedKey("nonsense")),
        (552, "Unrecognized configuration key \"nope\"", .unrecognizedOption("nope")),
        (552, "Unrecognized event \"FOO\"", .unrecognizedEvent("FOO")),
        // Not fit for a log as it is.
        (552, "Unrecognized event \"a\\1b\"", .unrecognizedEvent("a?b")),
        (552, "Unrecognized signal code \"FOO\"", .unrecognizedSignal("FOO")),
        (
            513, "Unacceptable option value: Failed to configure rendezvous options. See logs for details.",
            .unacceptableValue("Failed to configure rendezvous options. See logs for details.")
        ),
    ]

    @Test(arguments: seen)
    func eachRefusalIsAValue(code: UInt16, text: String, expected: ControlRefusal) {
        #expect(ControlRefusal(reply(code, text)) == expected)
    }

    @Test func aRefusalInALogHoldsNoControlCharacters() {
        let refusal = ControlRefusal(reply(599, "a\u{1B}[2Jb" + String(repeating: "c", count: 1_000)))
        #expect(refusal == .unexplained(code: 599, words: "a?[2Jb" + String(repeating: "c", count: 194)))
    }

    @Test func aCookieMayBeRightAMomentLaterAndAPasswordMayNot() {
        #expect(ControlError.refused(.authenticationRefused(.wrongSafeCookieAnswer)).mayPassSoon)
        #expect(!ControlError.refused(.authenticationRefused(.wrongPassword)).mayPassSoon)
    }
}
