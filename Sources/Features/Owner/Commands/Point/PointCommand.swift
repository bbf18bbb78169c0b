import ArgumentParser
import CallsCommands
import Encodings
import Glibc
import JSONCoding
import Node
import Pointing
import Processes
import Reactor
import Terminal
import Tor

extension PointedClient: ExpressibleByArgument {}

/// `onionbell point`: how an unmodified Bisq sends to this node.
package struct PointCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "point",
        abstract: "Show how a Bisq program is pointed at this node.",
        discussion: """
            Prints what to write where, for this node's address or for the one behind --to. Without --to a running node is \
            asked, and where none runs its files are. Bisq itself is not changed. \
            With --write the command changes the program's file and shows the changed lines; all other lines stay. \
            Run it as the user who runs Bisq, on the machine where Bisq runs.

            Exit status: 0 done; 64 wrong arguments; 65 the file can't be changed automatically, the reason is printed; \
            66 the directory or file can't be read; 69 the node has no address yet; 73 the file can't be written; 78 \
            configuration.

            Example: onionbell point bisq1 --write ~/.local/share/Bisq
            """)

    @OptionGroup var config: ConfigOption

    @Argument(help: "bisq1, haveno, bisq2 or bisq2-docker. Without it: all of them.")
    var client: PointedClient?

    @Option(
        help: ArgumentHelp("The node's address. Without it: this machine's node.", valueName: "address.onion")
    )
    var to: String?

    @Flag(
        help: """
            Let Bisq 2 ask Bisq's own relay when the node fails. After one failure it leaves the node for all \
            phones, until it is restarted or that relay fails as well.
            """)
    var fallback = false

    @Flag(
        name: .customLong("private"),
        help: "The node lets in authorized clients only. Known for this machine's node.")
    var isPrivate = false

    @Option(help: ArgumentHelp("Change the program's file in this data directory.", valueName: "dir"))
    var write: String?

    @Option(
        help: ArgumentHelp(
            "Take the lines out of the program's file in this data directory.", valueName: "dir"))
    var undo: String?

    package func validate() throws {
        if fallback, let client, client == .bisq1 || client == .haveno {
            throw ValidationError("\(client.name) knows one relay only: --fallback is for Bisq 2")
        }
        guard write != nil || undo != nil else { return }
        guard write == nil || undo == nil else {
            throw ValidationError("--write and --undo exclude each other")
        }
        guard client != nil else {
            throw ValidationError("name the program: onionbell point bisq1 --write DIR")
        }
    }

    package func run() async throws {
        if let undo, let client { return try remove(client, in: undo) }
        let node = try await node()
        if let write, let client {
            return try add(PointedSettings(client, at: node, hasFallback: fallback), in: write)
        }
        for (index, client) in (client.map { [$0] } ?? PointedClient.allCases).enumerated() {
            if index > 0 { printText("\n") }
            let hasFallback = fallback && client != .bisq1 && client != .haveno
            printText(PointedSettings(client, at: node, hasFallback: hasFallback).advice)
        }
    }

    // MARK: The node

    private func node() async throws -> PointedNode {
        if let to {
            guard let address = OnionAddress(to) else {
                throw fail("\"\(to)\" is no onion address: a letter is wrong or missing", status: 64)
            }
            if let owner = PointedClient.allCases.first(where: { $0.builtInAddress == address.description }) {
                throw fail(
                    "\(owner.name) sends to this relay by itself: --to takes the address of your own node",
                    status: 64)
            }
            return PointedNode(address: address.description, isPrivate: isPrivate)
        }
        let known = try await config.call("GET", "point")
        return PointedNode(
            address: known?["address"]?.string ?? "",
            bisq2Port: UInt16(clamping: known?["bisq2_port"]?.integer ?? 0),
            isPrivate: isPrivate || known?["private"]?.bool == true)
    }

    // MARK: The file

    private func add(_ pointing: PointedSettings, in directory: String) throws {
        try change(pointing.client, in: directory) { (text) throws(ConfigurationEditError) in
            try pointing.added(to: text)
        }
        printLine(
            "Restart \(pointing.client.name). Take the change back: onionbell point "
                + "\(pointing.client.rawValue) --undo \(directory)")
        if let fallback = pointing.fallback { printLine(fallback) }
    }

    private func remove(_ client: PointedClient, in directory: String) throws {
        try change(client, in: directory) { (text) throws(ConfigurationEditError) in
            try PointedSettings.removed(from: text, of: client)
        }
        printLine("Restart \(client.name).")
    }

    private func change(
        _ client: PointedClient, in directory: String,
        _ edit: (String) throws(ConfigurationEditError) -> String
    ) throws {
        let file: UserFile
        do throws(SystemError) {
            file = try UserFile("\(directory)/\(client.fileName)")
        } catch {
            // The file itself is named as well, or what is none.
            guard ![ENOENT, ENOTDIR].contains(error.code) else {
                throw fail(
                    "there is no directory \(directory): name the data directory of \(client.name) (on Linux: \(client.usualDirectory))",
                    status: 66)
            }
            throw fail("\(error)", status: 66)
        }
        let changed: String
        do {
            changed = try edit(file.text)
        } catch {
            throw fail("\(file.path): \(error)", status: 65)
        }
        guard changed != file.text else { return printLine("\(file.path) says so already.") }
        printLine("\(file.path):")
        for line in TextDiff.lines(from: file.text, to: changed, around: 0) {
            printLine("  \(line.kind == .added ? "+" : "-")\(line.text)")
        }
        do {
            try file.write(changed)
        } catch {
            throw fail("\(error)", status: 73)
        }
    }

    package init() {}
}
