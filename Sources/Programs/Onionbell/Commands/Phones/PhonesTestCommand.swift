import ArgumentParser
import Client
import Encodings
import Glibc
import HTTP1
import JSONCoding
import Node
import Persistence
import Programs
import Relay
import Wire

/// `onionbell phones test`.
struct PhonesTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Ring the phones of a name, and say what became of it.",
        discussion: """
            The running node sends a test notification to each phone and waits up to a minute for the answer of its \
            push service. The node does not have the phones' key, so without --pairing-token or --key the text is \
            encrypted with a key that nobody has: the push service takes it, but most apps show nothing. With the key \
            the phone shows the test.

            Exit status: 0 delivered to all, 1 not, 64 usage, 65 the key cannot be used, 69 no node runs, 75 stored, \
            but not delivered yet, 77 the node runs as another user.

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

    func validate() throws {
        if key != nil, pairingToken != nil {
            throw ValidationError("use --pairing-token or --key, not both")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        let pairing = try pairingToken.map { try PairingTokenOption.token($0) }
        let sealer = try sealer(pairing)
        var phones: [PhoneEntry] = []
        var alias: DeviceToken?
        try config.registrations(isReadOnly: true) { file in
            let (entries, book) = try file.phoneBook()
            phones = entries.filter { $0.phone.name == which.name }
            alias = book.alias(of: which.name)
        }
        guard !phones.isEmpty else { throw fail(PhoneBook.Refusal.unknownName, status: 1) }
        // The phone of this key; `nil`: not known, or all of the name.
        let owner = try pairing.flatMap { try number(of: $0, among: phones, alias: alias) }
        let socket = try NodeSocket(config)
        var status: Int32 = 0
        for entry in phones {
            let phone = entry.phone
            let text = try told { () throws(CallRefusal) in try sealer.seal(for: phone) }
            let answer = try await Self.answer(of: socket, number: phone.number, Array(text.utf8))
            let (words, code) = Self.verdict(answer)
            let model = entry.model.isEmpty ? "" : ", \(entry.model)"
            let doubt =
                owner.map { $0 != phone.number ? "; it shows the test if it has the key of phone \($0)" : "" }
            printLine(
                "phone \(phone.number) (\(phone.platform.stored)\(model)): \(words)"
                    + (code == 0 ? doubt ?? "" : ""))
            if status != 1, code != 0 { status = code }
        }
        if status != 0 { throw ExitCode(status) }
    }

    /// The node looks into the book every two seconds: one that was added just now is known in a moment.
    private static func answer(
        of socket: NodeSocket, number: Int64, _ text: [UInt8]
    ) async throws -> HTTPResponse {
        for _ in 0..<3 {
            let answer = try await socket.post("/phones/test?number=\(number)", text)
            guard answer.status == 404 else { return answer }
            try await Task.sleep(for: .seconds(1))
        }
        return try await socket.post("/phones/test?number=\(number)", text)
    }

    /// Whose the pairing token is: another phone's key would ring the phone with a text that it can't open, and the push
    /// service takes that as well.
    ///
    /// - Returns: The phone's number; `nil`: the token has the address of all phones of the name.
    private func number(
        of token: PairingToken, among phones: [PhoneEntry], alias: DeviceToken?
    ) throws -> Int64? {
        let given = DeviceToken(token.deviceToken)
        guard given != alias else { return nil }
        // As the book has it, in the spelling of its service.
        let spelt =
            (try? PhoneEntry(of: token, named: which.name, in: try config.settings()))?.phone.deviceToken
            ?? given
        guard let owner = phones.first(where: { [given, spelt].contains($0.phone.deviceToken) }) else {
            throw fail(
                "the pairing token is another phone's: no phone of \(which.name) has its device token, so none was rung. "
                    + "Give the token of one of them, or add this phone: \(config.command("phones add \(which.name) --pairing-token -"))",
                status: 65)
        }
        return owner.phone.number
    }

    private func sealer(_ pairing: PairingToken?) throws -> TestSeal {
        if let pairing { return .bisq1(key: pairing.key) }
        guard let key else { return .nobody }
        guard let bytes = Base64.decode(try SecretInput.key.text(key)), bytes.count == ConnectPhone.keyLength
        else {
            throw fail("--key must be \(ConnectPhone.keyLength) bytes in Base64", status: 65)
        }
        return .bisq2(key: bytes)
    }

    /// What the node says became of it.
    private static func verdict(_ answer: HTTPResponse) -> (words: String, status: Int32) {
        guard answer.status == 200, let json = try? JSON(answer.body),
            let outcome = json["outcome"]?.string
        else {
            return (
                answer.status == 404
                    ? "the node does not have it yet: try again in a few seconds"
                    : "the node answers with status \(answer.status)", 1
            )
        }
        let reason = json["reason"]?.string.map { ": \(plainText($0))" } ?? ""
        return switch outcome {
        case "delivered": ("delivered: its push service has taken it", 0)
        case "stored": ("stored; its push service has not answered within a minute", 75)
        case "busy": ("the node has no room for it just now", 75)
        case "held": ("stored; the app is blocked\(reason)", 75)
        case "dead": ("the phone is dead\(reason). Pair it again, and remove it here", 1)
        case "expired": ("not delivered in time", 1)
        case _: ("refused\(reason)", 1)
        }
    }
}
