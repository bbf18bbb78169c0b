import ArgumentParser
import Client
import Glibc
import HTTP1
import Node
import Programs
import Reactor

/// `onionbell status`: what a running node says of itself, over a socket in its state directory.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the running node's status.",
        discussion: """
            Asks the node over a socket in its state directory, which only the node's user may use: sudo -u \
            onionbell onionbell status.

            Exit status: 0 the node answered, whatever its health; 69 no node runs; 77 the node runs as another \
            user; 78 configuration.
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
        let socket = StateDirectory.statusSocket(in: try config.settings().stateDirectory)
        signal(SIGPIPE, SIG_IGN)
        repeat {
            let text = try await ask(socket)
            // Erased from the top-left corner to the end, so that nothing of the last look is left.
            printText(watch && !json && isatty(STDOUT_FILENO) == 1 ? "\u{1b}[H\u{1b}[2J\(text)" : text)
            if watch { try await Task.sleep(for: .seconds(interval)) }
        } while watch
    }

    private func ask(_ socket: String) async throws -> String {
        guard access(socket, R_OK | W_OK) == 0 else {
            if errno == EACCES {
                throw fail("\(socket) belongs to another user: run this as that user, or as root", status: 77)
            }
            throw fail("no node runs here: there is no \(socket)", status: 69)
        }
        let path = json ? "/status.json" : hasColours ? "/status.ansi" : "/status.txt"
        let request = HTTPRequest(method: "GET", path: path)
        do {
            let answer = try await HTTPExchange.answer(
                to: request, host: "localhost", by: .direct(.unix(path: socket)), deadline: .seconds(10))
            return String(decoding: answer.body, as: UTF8.self)
        } catch {
            throw fail("no node answers at \(socket): \(error)", status: 69)
        }
    }
}
