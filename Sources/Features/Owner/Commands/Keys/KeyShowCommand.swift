import ArgumentParser
import CallsCommands
import JSONCoding
import Processes
import Terminal

/// `onionbell key show`.
package struct KeyShowCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the address and the path of its key.",
        discussion: """
            A running node is asked; where none runs, its files are read.

            With --json an object: address (with --vapid public_key), file.

            Example: onionbell key show --json
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var format: JSONOption
    @OptionGroup var kind: KeyKind

    package func run() async throws {
        let path = kind.vapid ? "keys/vapid" : "keys/onion"
        guard let key = try await config.call("GET", path, refusal: 69) else { return }
        let text = key[kind.vapid ? "public_key" : "address"]?.string ?? ""
        printLine(format.json ? key.text : "\(text)\n\(key["file"]?.string ?? "")")
    }

    package init() {}
}
