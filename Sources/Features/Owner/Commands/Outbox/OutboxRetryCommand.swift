import ArgumentParser
import CallsCommands
import JSONCoding
import Processes
import Terminal

/// `onionbell outbox retry`: what was put off is tried now.
struct OutboxRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Try postponed notifications now.",
        discussion: """
            It does not wait for the time that a push service has asked for (Retry-After). With numbers all \
            others of the same phones are tried as well. A running node takes numbers only of what it has in \
            memory, and counts all that waits on disk only as put off.

            Exit status: 0 done, 69 there is no outbox, 78 configuration.

            Example: onionbell outbox retry --all
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var which: OutboxSelection

    func run() async throws {
        let done = try await config.call("POST", "waiting/retry", which.body)
        let (count, isRunning) = (done?["count"]?.integer ?? 0, done?["running"]?.bool == true)
        guard count > 0 else {
            guard !isRunning || which.sequences.isEmpty else {
                return printLine(
                    "nothing of that was put off in memory; --app NAME tries what waits on disk only, too")
            }
            return printLine(
                "nothing was put off: what waits goes as soon as its push service takes it; onionbell status says which does not"
            )
        }
        printLine("\(count) made due; the node sends them \(isRunning ? "now" : "when it starts")")
    }
}
