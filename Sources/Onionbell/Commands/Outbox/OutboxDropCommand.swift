import ArgumentParser
import Programs

/// `onionbell outbox drop`: gives notifications up.
struct OutboxDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Delete waiting notifications.",
        discussion: """
            They are not delivered. A sender that repeats one of them gets the answer refused (Internal), as long as \
            repetitions are remembered. A running node does it at once; of numbers it drops those that it has in \
            memory and is not just sending.

            Exit status: 0 dropped, 1 some of the numbers were not dropped (the others were), 69 there is no outbox, \
            78 configuration.

            Example: onionbell outbox drop --app bisq-remote-ios --yes
            """)

    @OptionGroup var outbox: OutboxOption
    @OptionGroup var which: OutboxSelection

    @Flag(help: "Required except with sequence numbers.")
    var yes = false

    func validate() throws {
        guard yes || !which.sequences.isEmpty else {
            throw ValidationError("this deletes accepted notifications: add --yes to confirm")
        }
    }

    func run() async throws {
        let (count, isRunning) = try await outbox.change(
            orAsk: "/outbox/drop?\(which.query)", which.sequences
        ) { try $0.drop(which.selection) }
        printLine("\(count) dropped")
        // A number that doesn't wait was probably mistyped.
        let missing = which.sequences.count - count
        guard which.sequences.isEmpty || missing == 0 else {
            throw fail(
                isRunning
                    ? "\(missing) of the numbers do not wait, or are just being sent, or wait on disk only: for those stop the node"
                    : "\(missing) of the numbers do not wait", status: 1)
        }
    }
}
