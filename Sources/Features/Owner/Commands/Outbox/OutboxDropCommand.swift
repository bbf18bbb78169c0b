import ArgumentParser
import CallsCommands
import JSONCoding
import Processes
import Terminal

/// `onionbell outbox drop`: gives notifications up.
struct OutboxDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Delete waiting notifications.",
        discussion: """
            They are not delivered. A sender that repeats one of them gets the answer refused (Internal), as \
            long as repetitions are remembered. A running node does it at once, but for what it is just \
            sending; by number it drops only what it has in memory.

            Exit status: 0 dropped, 1 some of the numbers were not found, 69 there is no outbox, 75 some are just \
            being sent: the same again, later, drops what then still waits; 78 configuration. What could be \
            dropped was.

            Example: onionbell outbox drop --app bisq-remote-ios --yes
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: OutboxSelection

    @Flag(help: "Required except with sequence numbers.")
    var yes = false

    func validate() throws {
        guard yes || !which.sequences.isEmpty else {
            throw ValidationError("this deletes accepted notifications: add --yes to confirm")
        }
    }

    func run() async throws {
        let done = try await config.call("POST", "waiting/drop", which.body)
        func number(_ name: String) -> Int { Int(done?[name]?.integer ?? 0) }
        let (count, underWay) = (number("count"), number("under_way"))
        let isRunning = done?["running"]?.bool == true
        printLine("\(count) dropped")
        // A number that doesn't wait was probably mistyped.
        let missing = which.sequences.count - count - underWay
        guard which.sequences.isEmpty || missing <= 0 else {
            let words = "not found: \(missing) of \(which.sequences.count) numbers"
            throw fail(
                isRunning
                    ? "\(words). What is missing may wait on disk only: to drop it there, stop the node first"
                    : words, status: 1)
        }
        guard underWay == 0 else {
            throw fail(
                "\(underWay) just being sent, and not dropped: what comes back waits again", status: 75)
        }
    }
}
