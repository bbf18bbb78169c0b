import ArgumentParser
import Client
import Encodings
import Glibc
import HTTP1
import JSONCoding
import Node
import Owner
import Processes
import Reactor
import Terminal

/// `onionbell restore`: moves in from a file of `onionbell backup`.
package struct RestoreCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make this node the one of a file of onionbell backup, with its address.",
        discussion: """
            The running node takes the file in and becomes the other node at its next start. It must have no phones and no \
            mailboxes yet, unless the file is its own. Two nodes with one address disturb each other: it refuses as long as \
            the Tor network knows the old node, which is up to three hours after it stopped. If you have stopped it, say so \
            with --old-node-stopped. A phone or mailbox that has another one of its name here is named, and not taken.

            The file may bring keys, invitations, rows, settings, and the files that these settings name; it names no program \
            for the node to run. Nothing is taken in with which the node would not start. Should its next start fail all the \
            same, it goes back to what it was.

            Exit status: 0 taken in, 1 refused, 3 the node ended before it answered, 64 usage, 65 the file or the passphrase \
            cannot be used, 66 the file cannot be read, 69 no node runs, 75 the node is at two other copies, 77 the node \
            runs as another user, 78 configuration.

            Example: onionbell restore my-node --old-node-stopped
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var passphrase: PassphraseFileOption
    @Flag(help: "The old node has stopped for good.") var oldNodeStopped = false
    @Flag(help: "Keep the settings of this node.") var keepSettings = false
    @Flag(help: "Say what would be done, and do nothing.") var look = false
    @Argument(help: "The file of onionbell backup.", completion: .file()) var file: String

    package func run() async throws {
        let socket = try NodeSocket(config)
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try PrivateFile.read(file, limit: NodeBackup.longestFile)
        } catch {
            throw fail(error, status: error.code == EFBIG ? 65 : 66)
        }
        let secret = try passphrase.secret(isNew: false)
        let body: JSON = [
            "passphrase": .string(String(decoding: secret.bytes, as: UTF8.self)),
            "file": .string(Base64.encode(bytes)), "look": .bool(look),
            "old_node_stopped": .bool(oldNodeStopped), "keep_settings": .bool(keepSettings),
        ]
        let answer = try await socket.post("/api/v1/restore", Array(body.text.utf8))
        guard answer.status == 200, let plan = try? JSON(answer.body) else {
            throw NodeSocket.failure(answer)
        }
        tell(plan)
        guard !look else { return }
        let restarted = try await socket.post("/api/v1/restart", [])
        printLine(
            restarted.status == 202
                ? "the node restarts and becomes this one"
                : "restart the node: it becomes this one. With the package: sudo systemctl restart onionbell")
    }

    private func tell(_ plan: JSON) {
        printLine("address    \(plan["address"]?.string ?? "")")
        printLine("phones     \(plan["phones"]?.integer ?? 0)")
        printLine("mailboxes  \(plan["mailboxes"]?.integer ?? 0)")
        let words =
            switch plan["settings"]?.string {
            case "taken": "those of the file"
            case "same": "the same"
            case "kept": "those of this node, as you asked"
            case _: "those of this node: \(plainText(plan["reason"]?.string ?? ""))"
            }
        printLine("settings   \(words)")
        for line in plan["difference"]?.array ?? [] {
            let sign =
                switch line["kind"]?.string {
                case "added": "+"
                case "removed": "-"
                case _: " "
                }
            printLine("  \(sign) \(plainText(line["text"]?.string ?? ""))")
        }
        for file in plan["files"]?.array ?? [] where file["fate"]?.string != "left" {
            printLine("file       \(plainText(file["name"]?.string ?? "")): \(file["fate"]?.string ?? "")")
        }
        if plan["database"]?.bool == true {
            printLine("phones and mailboxes are those of the database that the settings name")
        }
        for row in plan["conflicts"]?.array ?? [] {
            let name = plainText(row["name"]?.string ?? "")
            let place = row["mailbox"]?.string.map { " of \(plainText($0))" } ?? ""
            let reason =
                switch row["reason"]?.string {
                case "taken": "there is another one here"
                case "full": "there is no room for more"
                case _: "it does not fit to what is here"
                }
            printLine("not taken: \(row["kind"]?.string ?? "") \(name)\(place): \(reason)")
        }
        for fault in plan["faults"]?.array ?? [] {
            let key = plainText(fault["key"]?.string ?? "")
            printLine(
                "the node would not start with it: \(key.isEmpty ? "" : "\(key): ")\(plainText(fault["problem"]?.string ?? ""))"
            )
        }
        for name in plan["left"]?.array ?? [] {
            printLine("copy it from the old machine: \(plainText(name.string ?? ""))")
        }
    }

    package init() {}
}
