import ArgumentParser
import JSONCoding
import Processes

/// `onionbell outbox drop`: gives notifications up.
struct OutboxDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Delete waiting notifications.",
        discussion: """
            They are not delivered. A sender that repeats one of them gets the answer refused (Internal), as \
            long as repetitions are remembered. A running node does it at once; by number it drops only what \
            it has in memory and is not sending.

            Exit status: 0 dropped, 1 some of the numbers were not dropped (the others were), 69 there is no \
            outbox, 78 configuration.

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
        let (count, isRunning) = (Int(done?["count"]?.integer ?? 0), done?["running"]?.bool == true)
        printLine("\(count) dropped")
        // A number that doesn't wait was probably mistyped.
        let missing = which.sequences.count - count
        guard which.sequences.isEmpty || missing == 0 else {
            let words = "not found: \(missing) of \(which.sequences.count) numbers"
            throw fail(
                isRunning
                    ? "\(words). What is missing may be on its way, or wait on disk only: to drop it there, stop the node first"
                    : words, status: 1)
        }
    }
}
