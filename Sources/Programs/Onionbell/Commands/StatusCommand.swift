import ArgumentParser
import Glibc
import HTTP1
import JSONCoding
import Processes
import Terminal

/// `onionbell status`: what a running node says of itself, over a socket in its state directory.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the running node's status.",
        discussion: """
            Asks the node over a socket in its state directory, which only the node's user may use: sudo -u \
            onionbell onionbell status.

            Exit status: 0 the node answered, whatever its health; 69 no node runs; 77 the node runs as another \
            user; 78 configuration.

            With --check the exit status is for who starts the node again when it is 1, as a container's health check \
            does: 0 the node answers and has its tor, even if the network, a push service or its owner keeps it \
            waiting; 1 no node answers within ten seconds, or its tor does not run.

            Example: onionbell status --watch
            """)

    @OptionGroup var config: ConfigOption

    @Flag(help: "Refresh until Ctrl-C.")
    var watch = false

    @Option(help: ArgumentHelp("Refresh interval of --watch in seconds, 1 to 3600.", valueName: "seconds"))
    var interval = 2

    @Flag(help: "As JSON, with --watch one object a line.")
    var json = false

    @Flag(help: "Only whether a restart would help: exit status 1.")
    var check = false

    func validate() throws {
        guard !check || !watch && !json else {
            throw ValidationError("--check goes with neither --watch nor --json")
        }
        guard (1...3600).contains(interval) else {
            throw ValidationError("--interval is \(interval); it must be 1 to 3600")
        }
    }

    func run() async throws {
        if check { return try await checkLife() }
        let socket = try NodeSocket(config)
        signal(SIGPIPE, SIG_IGN)
        repeat {
            let text = try await ask(socket)
            // Erased from the top-left corner to the end, so that nothing of the last look is left.
            printText(watch && !json && isatty(STDOUT_FILENO) == 1 ? "\u{1b}[H\u{1b}[2J\(text)" : text)
            if watch { try await Task.sleep(for: .seconds(interval)) }
        } while watch
    }

    /// Checks that the node runs, and its tor. Trouble of networks and push services is no fault here: a
    /// restart would only lose what the node knows of it.
    private func checkLife() async throws {
        let answer: HTTPResponse
        do {
            answer = try await NodeSocket(config).get("/api/v1/state")
        } catch let status as ExitCode where status.rawValue != 78 {
            throw ExitCode(1)
        }
        guard let onion = (try? JSON(answer.body))?["onion"], onion["tor_connected"]?.bool == true else {
            throw fail("the node's tor does not run", status: 1)
        }
        printLine("the node runs, and its tor: \(onion["sentence"]?.string ?? "")")
    }

    private func ask(_ socket: NodeSocket) async throws -> String {
        let text = hasColours ? "state/text?colours=true" : "state/text"
        let answer = try await socket.get("/api/v1/\(json ? "state" : text)")
        guard answer.status == 200 else { throw NodeSocket.failure(answer) }
        return String(decoding: answer.body, as: UTF8.self)
    }
}
