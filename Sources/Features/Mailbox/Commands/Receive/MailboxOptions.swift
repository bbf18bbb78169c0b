import ArgumentParser
import Client
import Encodings
import JSONCoding
import MailboxClients
import Processes
import Reactor
import Terminal
import Wire

/// Which mailbox is read, and with what: from a file, standard input or the command line.
struct MailboxOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The output of onionbell mailbox add --json; - reads it from standard input. The options below replace what it has.",
            valueName: "file"))
    var mailbox: String?

    @Option(help: ArgumentHelp("The name of this reader, if the mailbox has several.", valueName: "name"))
    var reader: String?

    @Option(help: ArgumentHelp("The mailbox's ntfy address, http://ADDRESS.onion/TOPIC.", valueName: "url"))
    var url: String?

    @Option(help: ArgumentHelp("The reader's token; - reads it from standard input.", valueName: "token"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "The pairing token; - reads it from standard input, after the reader's token.",
            valueName: "token"))
    var pairingToken: String?

    private static let longest = 16_384

    func validate() throws {
        if mailbox == nil, reader != nil { throw ValidationError("--reader is for --mailbox") }
    }

    /// Returns the access to the mailbox that the options give.
    ///
    /// - Parameter known: The access of an earlier run: what the options do not give stays.
    func access(besides known: MailboxBook.Access?) throws -> MailboxBook.Access {
        let file = try mailbox.map { try MailboxOptions.contents(of: $0) }
        guard let url = url ?? file?["url"]?.string ?? known?.url else {
            throw MailboxOptions.missing("--url")
        }
        let bearer = try token(in: file) ?? known?.token ?? ""
        let pairing: PairingToken
        if let text = pairingToken ?? file?["pairingToken"]?.string {
            pairing = try PairingTokenOption.token(text)
        } else if let known {
            pairing = known.pairingToken
        } else {
            throw MailboxOptions.missing("--pairing-token")
        }
        return MailboxBook.Access(pairingToken: pairing, url: url, token: bearer)
    }

    private static func missing(_ option: String) -> Error {
        fail(
            "the mailbox is not known yet: give \(option), or --mailbox with what onionbell mailbox add --json printed",
            status: 64)
    }

    /// Returns the reader's token, of the option or the file: it goes into a field of a request's head.
    private func token(in file: JSON?) throws -> String? {
        guard
            let text = try token.map(SecretInput.line("Reader's token").text) ?? file.flatMap(tokenOfReader)
        else { return nil }
        guard text.utf8.count <= 200, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw fail("the reader's token has characters that no token has", status: 65)
        }
        return text
    }

    /// Returns the token that the file has for the reader; `""` in a mailbox that everybody may read.
    private func tokenOfReader(in file: JSON) throws -> String {
        let readers = file["readers"]?.object ?? [:]
        guard let name = try reader ?? theOnly(of: readers) else { return "" }
        guard let known = readers[name] else {
            throw fail("the mailbox has no reader \(plainText(name))", status: 65)
        }
        guard let token = known.string else {
            throw fail(
                "the reader \(plainText(name)) keeps the token of another mailbox: give it with --token",
                status: 64)
        }
        return token
    }

    private func theOnly(of readers: JSON.Object) throws -> String? {
        guard readers.count <= 1 else {
            let names = readers.keys.map(plainText).sorted().joined(separator: ", ")
            throw fail("the mailbox has several readers: name one with --reader (\(names))", status: 64)
        }
        return readers.keys.first { _ in true }
    }

    static func contents(of path: String) throws -> JSON {
        let bytes: [UInt8]
        if path == "-" {
            bytes = try SecretInput.mailbox.read()
        } else {
            do {
                bytes = try PrivateFile.read(path, limit: longest)
            } catch {
                throw fail(error, status: 66)
            }
        }
        guard let json = try? JSON(bytes), json["pairingToken"]?.string != nil else {
            throw fail("this is not what onionbell mailbox add --json prints", status: 65)
        }
        return json
    }
}

/// The address at which a mailbox is read.
struct MailboxURL: Equatable {
    let node: CalledNode
    /// The host as HTTP's Host field has it.
    let host: String
    /// The topic with its slash.
    let topic: String

    /// Reads a mailbox's address.
    ///
    /// - Parameters:
    ///   - url: `http://<address>[:port]/<topic>`.
    ///   - needsTopic: Whether the address must have a topic. False: the topic is another one's matter.
    init(_ url: String, needsTopic: Bool = true) throws {
        let scheme = "http://"
        guard url.utf8.count <= 300, url.utf8.starts(with: scheme.utf8) else {
            throw fail(
                "the ntfy address must be http://ADDRESS.onion:PORT/TOPIC (Tor encrypts; https is not supported)",
                status: 65)
        }
        let rest = Substring(url).dropFirst(scheme.count)
        let authority = String(rest.prefix { $0 != "/" })
        let topic = rest.dropFirst(authority.count)
        guard topic.utf8.count > 1 || !needsTopic,
            topic.utf8.dropFirst().allSatisfy(MailboxURL.isPartOfTopic)
        else {
            throw fail("the ntfy address has no topic behind the node's address", status: 65)
        }
        do throws(CalledNodeFault) {
            node = try CalledNode(authority, port: 80)
        } catch {
            throw fail("the ntfy address: \(error)", status: 65)
        }
        host = authority
        self.topic = String(topic)
    }

    private static func isPartOfTopic(_ byte: UInt8) -> Bool {
        ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, "-") | ASCII.equal(byte, "_") == 1
    }
}

extension SecretInput {
    fileprivate static let mailbox = SecretInput(name: "The output of onionbell mailbox add --json") {
        bytes in
        (try? JSON(bytes)) == nil ? .incomplete : .complete
    }
}
