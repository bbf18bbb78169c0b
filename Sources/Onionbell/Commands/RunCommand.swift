import ArgumentParser
import Programs

/// `onionbell run`: goes on as the node, `onionbelld`.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the node.",
        discussion: """
            Becomes onionbelld, the program beside this one. It prints the onion address once it can be reached, and \
            writes it to onion-address in the state directory. Every setting can be overridden from the environment: \
            ONIONBELL_TOR_MODE=system.

            SIGTERM and SIGINT stop it in order, within 10 seconds; what is not delivered by then is kept. SIGHUP \
            reads changed credentials at once, and tries again what a gateway has blocked.

            Exit status: 0 stopped, 78 configuration, 69 something it needs is missing or taken.
            """)

    @OptionGroup var config: ConfigOption

    func run() throws {
        throw fail(
            ProgramBeside("onionbelld").replaceThisProcess(arguments: ["--config", config.config]), status: 69
        )
    }
}
