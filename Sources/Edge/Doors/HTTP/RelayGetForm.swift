import Encodings
import HTTP1
import Relay

/// Bisq 1's request: `GET /relay?isAndroid=..&isProduction=..&isContentAvailable=..&snd=..&token=HEX&msg=HEX`
/// (bisq-network/bisq, `MobileNotificationService.java`; bisq-network/bisq-relay, `RelayController.java`).
///
/// Parameters come in any order, unknown ones are ignored. It is always urgent. What today's relay ignores is
/// honoured: `isProduction=false` on Apple's side means the sandbox host, `snd` a sound. A client that doesn't say
/// whether content is available (Bisq 2 before April 2026) gets what that relay sends to all: it is. Only Bisq 1 puts its
/// magic before a message: that tells the generation of the phone's app.
enum RelayGetForm {
    /// Reads the submission from a query; `nil` when a parameter that must be there is missing or can't be
    /// read.
    static func submission(_ query: HTTPQuery, bisq1: PhoneApps, bisq2: PhoneApps) -> Submission? {
        guard let isAndroid = flag("isAndroid", in: query, default: false),
            let isProduction = flag("isProduction", in: query, default: true),
            let isContentAvailable = flag("isContentAvailable", in: query, default: true),
            let hasSound = flag("snd", in: query, default: false),
            let isMutable = flag("mutableContent", in: query, default: false),
            let token = query["token"], !token.isEmpty,
            let message = query.withValue(of: "msg", text(hex:)) ?? nil, !message.isEmpty
        else { return nil }
        let apps = message.hasPrefix("BisqMessage") ? bisq1 : bisq2
        return Submission(
            platform: isAndroid ? .android : isProduction ? .ios : .iosDev,
            app: isAndroid ? apps.android : apps.ios,
            deviceToken: printableText(hex: token) ?? token, message: message, isUrgent: true,
            hasSound: hasSound,
            isMutableContent: isMutable, isContentAvailable: isContentAvailable)
    }

    /// Returns the answer to a receipt. Bisq 1 compares with `success`, 7 bytes and nothing else; any other
    /// status is a failure to it.
    static func response(to receipt: Receipt) -> HTTPResponse {
        switch receipt.answer {
        case .taken: success
        case .later(let busy): HTTPResponse(busy)
        case .failed(let failure): HTTPResponse(status: failure.kind.bisqStatus, text: failure.code)
        }
    }

    private static let success = HTTPResponse(status: 200, text: "success")

    private static func flag(_ name: String, in query: HTTPQuery, default fallback: Bool) -> Bool? {
        query.withValue(of: name) { value in
            value.isWord("true") ? true : value.isWord("false") ? false : nil
        } ?? fallback
    }

    private static func text(hex: Span<UInt8>) -> String? {
        guard let bytes = Hex.decode(hex), let text = try? UTF8Span(validating: bytes.span) else {
            return nil
        }
        return String(copying: text)
    }

    /// Decodes hex to printable text; `nil`: its bytes are none. Tokens come raw (older Bisq 2) or as hex of
    /// their text. An APNs token is hex itself, of bytes that are no text.
    private static func printableText(hex: String) -> String? {
        guard let bytes = Hex.decode(hex), bytes.allSatisfy({ (0x20...0x7e).contains($0) }) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
