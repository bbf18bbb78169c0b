import ArgumentParser
import Programs

/// `onionbell outbox retry`: what was put off is tried as soon as the node starts.
struct OutboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Make what was put off due now. The node must be stopped.")

    @OptionGroup var outbox: OutboxOption
    @OptionGroup var which: OutboxSelection

    func run() throws {
        let count = try outbox.change { try $0.makeDue(which.selection) }
        printLine("\(count) made due; the node tries them when it starts")
    }
}
