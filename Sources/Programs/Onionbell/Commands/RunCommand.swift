import ArgumentParser
import Processes
import Terminal

/// `onionbell run`: goes on as the node, `onionbelld`.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the node.",
        discussion: """
            Replaces itself by onionbelld, the program beside this one. The node prints its onion address once it \
            can be reached, and writes it to onion-address in the state directory. An environment variable overrides \
            a setting, for example ONIONBELL_TOR_MODE=system.

            SIGTERM and SIGINT stop the node in order, within 10 seconds; the outbox keeps what is not delivered by \
            then. On SIGHUP the node reads changed credentials at once, and retries what a gateway has blocked.

            Exit status: 0 stopped, 78 configuration, 69 something that the node needs is missing or in use.

            Example: onionbell run --config node.yaml
            """)

    @OptionGroup var config: ConfigOption

    func run() throws {
        try config.becomeOwner()
        throw fail(
            ProgramBeside("onionbelld").replaceThisProcess(arguments: ["--config", config.config]), status: 69
        )
    }
}
