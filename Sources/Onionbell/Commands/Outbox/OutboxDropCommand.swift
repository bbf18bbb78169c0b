import ArgumentParser
import Programs

/// `onionbell outbox drop`: gives notifications up.
struct OutboxDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Delete waiting notifications.",
        discussion: """
            They are not delivered. A sender that repeats one of them gets the answer refused (Internal), as long as \
            repetitions are remembered. A running node does it at once; with numbers, stop it first.

            Exit status: 0 dropped, 1 some of the numbers do not wait (the others are dropped), 69 the node runs, or \
            there is no outbox, 78 configuration.
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
        let count = try await outbox.change(orAsk: which.query.map { "/outbox/drop?\($0)" }) {
            try $0.drop(which.selection)
        }
        printLine("\(count) dropped")
        // A number that doesn't wait was probably mistyped.
        let missing = which.sequences.count - count
        guard which.sequences.isEmpty || missing == 0 else {
            throw fail("\(missing) of the numbers do not wait", status: 1)
        }
    }
}
