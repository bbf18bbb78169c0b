import ArgumentParser
import CallsCommands
import JSONCoding
import Processes
import Terminal
import Tor

/// `onionbell console widget`.
struct ConsoleWidgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "widget",
        abstract: "Make a token by which a widget reads how the node is, and nothing else.",
        discussion: """
            Without a name it lists the tokens. A token is printed once and not stored. Give it as Authorization: Bearer TOKEN, \
            or as ?token=TOKEN, with /api/v1/widget at the console's address (Home Assistant's REST sensor, scripts) or \
            /api/v1/widget/umbrel (Umbrel's widgets).

            Exit status: 0 done, 1 the node has no console, has a token of that name, or has none to revoke, 64 usage, 69 no node runs, 77 the node runs as another user, 78 configuration.

            Example: onionbell console widget home-assistant
            """)

    @OptionGroup var config: ConfigOption

    @Flag(help: "Revoke the token of this name.")
    var revoke = false

    @Argument(help: "A name for the token: 1 to 64 letters, digits, - and _.")
    var name: String?

    func validate() throws {
        guard name != nil || !revoke else { throw ValidationError("--revoke needs the token's name") }
        // It becomes part of a path.
        guard name.map(Invitations.isName) ?? true else {
            throw ValidationError("a token's name has 1 to 64 letters, digits, - and _")
        }
    }

    func run() async throws {
        guard let name else {
            let answer = try await config.call("GET", "widget-tokens")
            for name in answer?["names"]?.array ?? [] { printLine(name.string ?? "") }
            return
        }
        if revoke {
            try await config.call("DELETE", "widget-tokens/\(name)")
            return printLine("\(name)'s token is revoked.")
        }
        let made = try await config.call("POST", "widget-tokens", ["name": .string(name)])
        printLine(made?["token"]?.string ?? "")
    }
}
