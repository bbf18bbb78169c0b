import ArgumentParser
import CallsCommands
import JSONCoding
import Processes
import Terminal

/// `onionbell console invite`: from the first key on, the console's onion address is private.
struct ConsoleInviteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract:
            "Make a key for the console's onion address. From the first one on, nobody finds it without a key.",
        discussion: """
            Prints the key for Tor Browser, which asks for it when the address is opened. It is shown only once and not \
            stored. A running node applies it at once; where none runs, it waits in the node's files. The login stays as it \
            is. Peers are not concerned: see onionbell invite.

            Exit status: 0 printed, 1 there is a key of this name, 65 the name cannot be used, 69 the node has not started yet, \
            78 configuration.

            Example: onionbell console invite laptop
            """)

    @OptionGroup var config: ConfigOption

    @Argument(help: "Your name for the browser: 1 to 64 letters, digits, - and _.")
    var name: String

    func run() async throws {
        let made = try await config.call("POST", "console-keys", ["name": .string(name)])
        printText(
            """
            Open http://\(made?["address"]?.string ?? "")/ in Tor Browser, and enter this key when it asks for one. It is not \
            shown again.

            \(made?["key"]?.string ?? "")

            For another tor: a file whose name ends in .auth_private, in the directory of ClientOnionAuthDir, with the
            line:

            \(made?["file"]?.string ?? "")

            """)
    }
}

/// `onionbell console revoke`.
struct ConsoleRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a key for the console's onion address.",
        discussion: """
            The key is useless within seconds. Open connections end, those of peers too, who connect again. The address stays \
            private even if no key is left; --let-everybody-in makes it public again.

            Exit status: 0 done, 1 there is no such key, 69 the node has not started yet, 78 configuration.

            Example: onionbell console revoke laptop
            """)

    @OptionGroup var config: ConfigOption

    @Flag(help: "Revoke all keys: whoever knows the address reaches the login.")
    var letEverybodyIn = false

    @Argument(help: "The name of the key.")
    var name: String?

    func validate() throws {
        guard letEverybodyIn == (name == nil) else {
            throw ValidationError("give the name of a key, or --let-everybody-in")
        }
    }

    func run() async throws {
        guard let name else {
            try await config.call("DELETE", "console-keys")
            return printLine("The console's onion address is public.")
        }
        try await config.call("DELETE", "console-keys/\(name.percentEncoded)")
        let left = try await config.call("GET", "console-keys")?["names"]?.array?.count ?? 0
        printLine("\(name)'s key is revoked; \(left == 0 ? "no key is left" : "\(left) left").")
    }
}
