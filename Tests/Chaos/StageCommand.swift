import ArgumentParser
import Glibc
import Lab
import Processes
import Reactor

/// Shows a door on this machine alone: the built program between simulated gateways and a sender of any kind.
struct StageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stage",
        abstract: "Run the built program with simulated gateways, and a command that sends to it.",
        discussion: """
            The node's tor has no network: doors are to listen on this machine. The command finds the node's \
            configuration in CONFIG, its state directory in STATE, its process in NODE, the authority of the \
            https:// listeners in CA, and in PORT1, PORT2 and so on the free ports that stand for these words in the \
            settings. Each push that a gateway takes is printed. The exit status is the command's, \
            or 1 if it is well and the number of pushes is wrong.
            """)

    @Option(help: "The torrc that the node's is based on.")
    var torrc: String
    @Option(
        help:
            "Lines of configuration behind those that make the node work here; LAB stands for its directory.")
    var settings: String
    @Option(help: "How many pushes the gateways are to get in all. Without it, any number is right.")
    var pushes: Int?
    @Argument(parsing: .captureForPassthrough)
    var command: [String]

    func run() async throws {
        Chaos.prepare()
        throw ExitCode(try await Stage().play(self))
    }
}

@EventLoop
private final class Stage {
    func play(_ options: StageCommand) async throws -> Int32 {
        let world = try LabWorld()
        for (simulator, name) in [(world.apple, "Apple"), (world.google, "Google")] {
            simulator.onAccepted = { push in
                let fields = ["apns-topic", "apns-push-type", "apns-priority", "apns-collapse-id"].compactMap
                { name in
                    push.headers[name].map { "\(name): \($0)" }
                }
                say("  \(name) got, for \(push.deviceToken.prefix(12))…: \(fields.joined(separator: ", "))")
                say("    \(String(decoding: push.body, as: UTF8.self))")
            }
        }
        let path = world.directory.path
        try LabDirectory.write(
            try LabDirectory.read(options.torrc) + Array("\nDisableNetwork 1\n".utf8), to: path + "/torrc")
        let server = try world.credentials.authority.server(names: ["localhost", "127.0.0.1"])
        try LabDirectory.write(try server.chainPEM(), to: path + "/server.pem")
        try LabDirectory.write(try server.keyPEM().bytes, to: path + "/server-key.pem")
        var settings = options.settings.replacing("LAB", with: path)
        let ports = try setPorts(of: &settings)
        let configuration = try world.configure(
            tor: ["mode: own", "torrc: \(path)/torrc"], more: [settings])
        let node = try LabNode(Chaos.node, configuration: configuration)
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("node.started") } }
        guard node.exit == nil else {
            for line in node.lines { say(line) }
            return EXIT_FAILURE
        }
        var arguments = options.command
        if arguments.first == "--" { arguments.removeFirst() }
        let status = try await run(
            [
                "/usr/bin/env", "CONFIG=\(configuration)", "STATE=\(world.state)", "CA=\(path)/ca.pem",
                "NODE=\(node.processID ?? 0)",
            ] + ports + arguments)
        if status == 0, let pushes = options.pushes {
            let end = ContinuousClock.now + .seconds(30)
            while taken(by: world) < pushes, ContinuousClock.now < end { await pause(.milliseconds(20)) }
        }
        await node.stop()
        let taken = taken(by: world)
        await world.close()
        guard status == 0, let pushes = options.pushes else { return status }
        say(
            taken == pushes
                ? "\nAll \(pushes) pushes came." : "\nFAILED: \(taken) pushes came, not \(pushes).")
        return taken == pushes ? EXIT_SUCCESS : EXIT_FAILURE
    }

    /// Puts a free port in the place of each of `PORT1`, `PORT2` and so on to `PORT9`.
    ///
    /// - Returns: The same for an environment.
    private func setPorts(of settings: inout String) throws -> [String] {
        var words: [String] = []
        for (index, port) in try freePorts(9).enumerated() where settings.contains("PORT\(index + 1)") {
            settings = settings.replacing("PORT\(index + 1)", with: "\(port)")
            words.append("PORT\(index + 1)=\(port)")
        }
        return words
    }

    private func taken(by world: LabWorld) -> Int { world.apple.book.count + world.google.book.count }

    private func run(_ arguments: [String]) async throws -> Int32 {
        var child: ChildProcess?
        defer { _ = child }
        return try await withCheckedThrowingContinuation { continuation in
            do {
                child = try ChildProcess(arguments) { exit in
                    if case .exited(let code) = exit {
                        continuation.resume(returning: code)
                    } else {
                        continuation.resume(returning: EXIT_FAILURE)
                    }
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
