import ArgumentParser
import Client
import Encodings
import Glibc
import JSONCoding
import Node
import Processes
import Reactor
import Terminal

/// `onionbell backup`: the console's copy, by a command.
package struct BackupCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write all that makes the node this node to one encrypted file.",
        discussion: """
            The running node puts settings, keys and with them its address, phone book, mailboxes, invitations and \
            credentials into the file, encrypted with a passphrase (scrypt, AES-256-GCM). What waits is not in it. The file \
            gets mode 0600; an existing file is not replaced. onionbell restore reads it.

            Exit status: 0 written, 3 the node ended before it answered, 65 the passphrase is too short, 69 no node runs or it \
            cannot read its files, 73 the file cannot be written or exists already, 75 the node is at two other copies, \
            77 the node runs as another user, 78 configuration.

            Example: onionbell backup my-node
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var passphrase: PassphraseFileOption
    @Argument(help: "The file to write.", completion: .file()) var file: String

    package func run() async throws {
        let socket = try NodeSocket(config)
        guard access(file, F_OK) != 0 else { throw fail("\(file) exists already", status: 73) }
        let secret = try passphrase.secret(isNew: true)
        let body: JSON = ["passphrase": .string(String(decoding: secret.bytes, as: UTF8.self))]
        let answer = try await socket.post("/api/v1/backup", Array(body.text.utf8))
        guard answer.status == 200 else { throw NodeSocket.failure(answer) }
        do throws(SystemError) {
            try PrivateFile.write(answer.body, to: file, replacing: false)
        } catch {
            throw fail(error, status: 73)
        }
        printLine("written: \(plainText(file)). Keep it and its passphrase apart from this machine")
    }

    package init() {}
}
