import ArgumentParser
import Crypto
import Glibc
import Reactor

/// The source of a passphrase: a file, standard input, or a person at the terminal.
package enum Passphrase {
    private static let longest = 4096

    /// Reads a passphrase: the first line of a file, or with `-` of standard input.
    package static func read(from file: String) throws -> Secret {
        if file == "-" { return try checked(SecretInput.line("Passphrase").read()) }
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.read(file, limit: longest)
        } catch {
            throw fail(error, status: 66)
        }
        return try checked(bytes)
    }

    package static func ask(_ prompt: String = "Passphrase") throws -> Secret {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw fail("there is no terminal to ask for the passphrase", status: 66)
        }
        defer { close(terminal) }
        return try checked(SecretInput.line(prompt).read(from: terminal))
    }

    private static func checked(_ bytes: [UInt8]) throws -> Secret {
        let line = Array(bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
        guard !line.isEmpty else { throw fail("the passphrase is empty", status: 65) }
        return Secret(line)
    }
}

/// The passphrase of a file that goes from one machine to another.
package struct PassphraseFileOption: ParsableArguments {
    /// The fewest characters of a passphrase that guards all keys: fewer can be guessed, however slow each guess is.
    private static let shortest = 12

    @Option(
        help: ArgumentHelp(
            "Take the passphrase from the first line of a file; - means standard input. Without it you are asked.",
            valueName: "file"),
        completion: .file())
    package var passphraseFile: String?

    package init() {}

    /// Returns the passphrase of the file, or asks for it.
    ///
    /// - Parameter isNew: Whether it is a new passphrase: it is asked for twice, and must not be short.
    package func secret(isNew: Bool) throws -> Secret {
        let secret = try passphraseFile.map { try Passphrase.read(from: $0) } ?? Passphrase.ask()
        guard isNew else { return secret }
        guard secret.bytes.count >= Self.shortest else {
            throw fail("the passphrase must have \(Self.shortest) characters or more", status: 65)
        }
        if passphraseFile == nil, try Passphrase.ask("Once more") != secret {
            throw fail("the two passphrases differ", status: 65)
        }
        return secret
    }
}
