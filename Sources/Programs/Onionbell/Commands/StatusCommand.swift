import ArgumentParser
import Glibc
import Programs

/// `onionbell status`: what a running node says of itself, over a socket in its state directory.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the running node's status.",
        discussion: """
            Asks the node over a socket in its state directory, which only the node's user may use: sudo -u \
            onionbell onionbell status.

            Exit status: 0 the node answered, whatever its health; 69 no node runs; 77 the node runs as another \
            user; 78 configuration.

            Example: onionbell status --watch
            """)

    @OptionGroup var config: ConfigOption

    @Flag(help: "Refresh until Ctrl-C.")
    var watch = false

    @Option(help: ArgumentHelp("Refresh interval of --watch in seconds, 1 to 3600.", valueName: "seconds"))
    var interval = 2

    @Flag(help: "As JSON, with --watch one object a line.")
    var json = false

    func validate() throws {
        guard (1...3600).contains(interval) else {
            throw ValidationError("--interval is \(interval); it must be 1 to 3600")
        }
    }

    func run() async throws {
        let socket = try NodeSocket(config)
        signal(SIGPIPE, SIG_IGN)
        repeat {
            let text = try await ask(socket)
            // Erased from the top-left corner to the end, so that nothing of the last look is left.
            printText(watch && !json && isatty(STDOUT_FILENO) == 1 ? "\u{1b}[H\u{1b}[2J\(text)" : text)
            if watch { try await Task.sleep(for: .seconds(interval)) }
        } while watch
    }

    private func ask(_ socket: NodeSocket) async throws -> String {
        let path = json ? "/status.json" : hasColours ? "/status.ansi" : "/status.txt"
        return String(decoding: try await socket.get(path).body, as: UTF8.self)
    }
}
