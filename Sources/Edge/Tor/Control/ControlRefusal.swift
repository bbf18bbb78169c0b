/// The reason why tor did not do what a command asked: a reply with a code of 4xx or 5xx, as far as a caller
/// can act on it.
///
/// Codes and texts as tor 0.4.9.11 sends them. Tor never repeats a password, cookie or service key in them.
package enum ControlRefusal: Error, Equatable, Sendable {
    /// 514. Tor closes the connection.
    case authenticationRequired
    /// Tor closes the connection.
    case authenticationRefused(AuthenticationRefusal)
    /// 510: too old a tor, or another program.
    case unrecognizedCommand(String)

    /// 550: this tor serves the address already, for another connection, detached, or from a `HiddenServiceDir`.
    case onionAddressCollision
    /// 552: the service is not of this connection, and not detached.
    case unknownOnionService
    case malformedOnionService
    /// The key is not of 64 bytes, is of another type, or gives no address.
    case onionKeyRefused(String)
    case portMissing
    /// A virtual port or its target can't be used as written.
    case portRefused
    /// The flag that tor refuses; `nil`: the list of flags is empty.
    case flagRefused(String?)
    /// Name of the setting: `MaxStreams`, `PoWDefensesEnabled`, `PoWQueueRate`, `PoWQueueBurst`.
    case limitRefused(String)
    /// The flag `NonAnonymous` and the mode in which this tor runs differ.
    case anonymityMode(torIsAnonymous: Bool)
    case clientAuthorizationRefused(String)

    /// GETINFO: this tor has no such key. The other keys of the request are not answered either.
    case unrecognizedKey(String)
    /// GETCONF, SETCONF, RESETCONF.
    case unrecognizedOption(String)
    /// SETCONF: tor's log tells more.
    case unacceptableValue(String)
    case unrecognizedEvent(String)
    case unrecognizedSignal(String)

    /// 512, about the form of the command in general.
    case badArguments(String)
    /// A code or text that tor 0.4.9.11 was not seen to send.
    case unexplained(code: UInt16, words: String)

    package init(_ reply: ControlReply) {
        let line = reply.lines[reply.lines.count - 1]
        let words = Self.printable(line.text)
        if let known = Self.exactly(line.code, words) ?? Self.beginning(line.code, words) {
            self = known
        } else if let refusal = AuthenticationRefusal(code: line.code, words: words) {
            self = .authenticationRefused(refusal)
        } else if line.code == 512 {
            self = .badArguments(words)
        } else {
            self = .unexplained(code: line.code, words: words)
        }
    }

    private static func exactly(_ code: UInt16, _ words: String) -> ControlRefusal? {
        switch (code, words) {
        case (514, _): .authenticationRequired
        case (550, "Onion address collision"): .onionAddressCollision
        case (552, "Unknown Onion Service id"): .unknownOnionService
        case (512, "Malformed Onion Service id"): .malformedOnionService
        case (512, "Missing 'Port' argument"): .portMissing
        case (512, "Invalid VIRTPORT/TARGET"): .portRefused
        case (512, "Invalid 'Flags' argument"): .flagRefused(nil)
        case (512, "Tor is in anonymous hidden service mode"): .anonymityMode(torIsAnonymous: true)
        case (512, "Tor is in non-anonymous hidden service mode"): .anonymityMode(torIsAnonymous: false)
        case (512, "Failed to decode ED25519-V3 key"), (551, "Failed to generate onion address"),
            (513, "Invalid key type"), (512, "Invalid key type/blob"):
            .onionKeyRefused(words)
        case (512, "No auth clients specified"), (512, "Cannot decode v3 client auth key"),
            (512, "Failed to decode x25519 private key"), (512, "Incomplete ONION_CLIENT_AUTH_ADD command"):
            .clientAuthorizationRefused(words)
        default: nil
        }
    }

    private static func beginning(_ code: UInt16, _ words: String) -> ControlRefusal? {
        /// Returns the quoted word after `opening`, or all of what follows it.
        func rest(after opening: String) -> String? {
            guard words.hasPrefix(opening) else { return nil }
            let rest = words.dropFirst(opening.count)
            // What was quoted may have had escapes in it.
            return printable((try? ReplyFields(rest))?.words.first?.value ?? String(rest))
        }
        switch code {
        case 510:
            return rest(after: "Unrecognized command ").map { .unrecognizedCommand($0) }
        case 512:
            for name in ["MaxStreams", "PoWDefensesEnabled", "PoWQueueRate", "PoWQueueBurst"]
            where words == "Invalid \(name)" {
                return .limitRefused(name)
            }
            if words.hasPrefix("Invalid v3 address") { return .clientAuthorizationRefused(words) }
            return rest(after: "Invalid 'Flags' argument: ").map { .flagRefused($0) }
        case 513:
            return rest(after: "Unacceptable option value: ").map { _ in
                .unacceptableValue(String(words.dropFirst("Unacceptable option value: ".count)))
            }
        case 552:
            if words.hasPrefix("Unrecognized key type ") { return .clientAuthorizationRefused(words) }
            return rest(after: "Unrecognized key ").map { .unrecognizedKey($0) }
                ?? rest(after: "Unrecognized configuration key ").map { .unrecognizedOption($0) }
                ?? rest(after: "Unrecognized event ").map { .unrecognizedEvent($0) }
                ?? rest(after: "Unrecognized signal code ").map { .unrecognizedSignal($0) }
        case 553:
            return words.hasPrefix("Unable to store creds") ? .clientAuthorizationRefused(words) : nil
        default:
            return nil
        }
    }

    /// Makes a stranger's text fit for a log line: printable ASCII, at most 200 characters.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(200).map { (" "..."~").contains($0) ? $0 : "?" }))
    }
}

extension ControlRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .authenticationRequired: "tor wants authentication first"
        case .authenticationRefused(let refusal): refusal.description
        case .unrecognizedCommand(let name): "tor does not know the command \(name)"
        case .onionAddressCollision:
            "tor serves this onion address already: another program, or a HiddenServiceDir, uses the same key"
        case .unknownOnionService: "tor knows no such onion service of this connection"
        case .malformedOnionService: "tor finds the onion address malformed"
        case .onionKeyRefused(let words): "tor refuses the onion key: \(words)"
        case .portMissing: "tor was given no virtual port"
        case .portRefused: "tor refuses a virtual port or its target"
        case .flagRefused(let flag): "tor refuses the flag \(flag ?? "list")"
        case .limitRefused(let name): "tor refuses the value of \(name)"
        case .anonymityMode(let isAnonymous):
            isAnonymous
                ? "tor runs in anonymous mode; a non-anonymous service was asked for"
                : "tor runs in non-anonymous (single hop) mode; an anonymous service was asked for"
        case .clientAuthorizationRefused(let words): "tor refuses the client authorization: \(words)"
        case .unrecognizedKey(let key): "tor does not know the key \(key)"
        case .unrecognizedOption(let option): "tor does not know the option \(option)"
        case .unacceptableValue(let words): "tor refuses the option's value: \(words)"
        case .unrecognizedEvent(let name): "tor does not know the event \(name)"
        case .unrecognizedSignal(let name): "tor does not know the signal \(name)"
        case .badArguments(let words): "tor refuses the command's arguments: \(words)"
        case .unexplained(let code, let words): "tor answered \(code) \(words)"
        }
    }
}
