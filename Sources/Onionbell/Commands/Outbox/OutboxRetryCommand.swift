import ArgumentParser
import Programs

/// `onionbell outbox retry`: what was put off is tried as soon as the node starts.
struct OutboxRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Make postponed notifications due now. Stop the node first.")

    @OptionGroup var outbox: OutboxOption
    @OptionGroup var which: OutboxSelection

    func run() async throws {
        let count = try await outbox.change { try $0.makeDue(which.selection) }
        printLine("\(count) made due; the node sends them when it starts")
    }
}
