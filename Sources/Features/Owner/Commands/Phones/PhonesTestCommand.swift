import ArgumentParser
import CallsCommands
import Client
import Glibc
import JSONCoding
import Node
import Processes
import Relay
import Terminal
import Wire

/// `onionbell phones test`.
package struct PhonesTestCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Ring the phones of a name, and say what became of it.",
        discussion: """
            The running node sends a test notification to each phone and waits up to a minute for the answer of its \
            push service. The node does not have the phones' key, so without --pairing-token or --key the text is \
            encrypted with a key that nobody has: the push service takes it, but most apps show nothing. With the key \
            the phone shows the test.

            Exit status: 0 delivered to all, 1 not, 3 stored, but not delivered yet: it may still ring; 64 usage, 65 the \
            key cannot be used, 69 no node runs, 75 the node has no room for it now, 77 the node runs as another user. Of \
            several phones the first in the order 1, 3, 75.

            Example: onionbell phones test alice --pairing-token -
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: PhoneBookName

    @Option(
        help: ArgumentHelp(
            "The pairing token of one of the phones; - reads it from standard input.", valueName: "token"))
    var pairingToken: String?

    @Option(
        help: ArgumentHelp(
            "For phones of Bisq 2: 32 bytes in Base64; - reads them from standard input.",
            valueName: "base64"))
    var key: String?

    package func validate() throws {
        if key != nil, pairingToken != nil {
            throw ValidationError("use --pairing-token or --key, not both")
        }
    }

    package func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        var body: JSON.Object = [:]
        if let pairingToken {
            body["pairing_token"] = .string(try PairingTokenOption.token(pairingToken).text)
        }
        if let key { body["key"] = .string(try SecretInput.key.text(key)) }
        let book = try await BookOfCall(config).phones(of: which.name)
        guard !book.isEmpty else { throw fail(PhoneBook.Refusal.unknownName, status: 1) }
        let answer = try await config.call("POST", "names/\(which.name)/ring", .object(body))
        // The phone of this key; `nil`: not known, or all of the name.
        let owner = answer?["owner"]?.integer
        var statuses: Set<Int32> = []
        for rung in answer?["phones"]?.array ?? [] {
            let number = rung["number"]?.integer ?? 0
            let phone = book.first { $0["number"]?.integer == number }
            let (words, code) = Self.verdict(rung)
            let model = phone?["model"]?.string.flatMap { $0.isEmpty ? nil : ", \(plainText($0))" } ?? ""
            let doubt =
                owner.map { $0 != number ? "; it shows the test if it has the key of phone \($0)" : "" }
            printLine(
                "phone \(number) (\(phone?["platform"]?.string ?? "")\(model)): \(words)"
                    + (code == 0 ? doubt ?? "" : ""))
            statuses.insert(code)
        }
        let status = [1, 3, 75].first(where: statuses.contains) ?? 0
        if status != 0 { throw ExitCode(status) }
    }

    /// Returns the words for the outcome that the node names, and the exit status.
    private static func verdict(_ rung: JSON) -> (words: String, status: Int32) {
        let help = rung["help"]?.string.map { " (\(plainText($0)))" } ?? ""
        let reason = rung["reason"]?.string.map { ": \(plainText($0))" + help } ?? ""
        return switch rung["outcome"]?.string ?? "" {
        case "delivered": ("delivered: its push service has taken it", 0)
        case "stored": ("stored; its push service has not taken it within a minute\(reason)", 3)
        case "busy": ("the node has no room for it just now", 75)
        case "held": ("stored; the app is blocked\(reason)", 3)
        case "dead": ("the phone is dead\(reason). Pair it again, and remove it here", 1)
        case "expired": ("not delivered in time", 1)
        case _: ("refused\(reason)", 1)
        }
    }

    package init() {}
}
