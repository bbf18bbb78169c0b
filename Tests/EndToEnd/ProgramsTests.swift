import Foundation
import Glibc
import Lab
import Reactor
import Testing

/// The three programs, and how one goes on as another.
@EventLoop
@Suite struct ProgramsTests {
    @Test func runBecomesTheNodeInTheSameProcess() async throws {
        let stage = try LoopbackStage {
            $0.replacing("key_file: AuthKey.p8", with: "key_file: credentials/AuthKey.p8")
        }
        let directory = stage.world.directory.path
        // As systemd hands it over.
        try FileManager.default.moveItem(
            atPath: "\(directory)/AuthKey.p8", toPath: "\(directory)/credentials_AuthKey.p8")
        let manager = try NotifiedSocket(path: "\(directory)/notify")
        // The shell knows its own process number, which the node has to have in the end.
        let node = try LabNode(
            "/bin/sh", arguments: ["-c", #"WATCHDOG_PID=$$ exec "$0" run "$@""#, program],
            configuration: stage.configuration,
            environment: [
                "PATH=\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")",
                "NOTIFY_SOCKET=\(directory)/notify", "WATCHDOG_USEC=200000",
                "CREDENTIALS_DIRECTORY=\(directory)",
            ])
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("node.started") } }
        let lines = node.lines
        let process = try #require(node.processID, "\(lines)")
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/exe") == nodeProgram)
        #expect(await manager.receives("READY=1"))
        #expect(await manager.receives("WATCHDOG=1"))
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
        }
        #expect(open.filter { $0.hasPrefix("/") && $0 != "/dev/null" && !$0.hasPrefix(directory) } == [])
        #expect(await node.stop() == .exited(0))
        await stage.world.close()
    }

    /// Neither is looked for anywhere but beside the program, and it is said which one is missing.
    @Test(arguments: [
        ("run", "/onionbelld can't be started: No such file or directory"),
        (
            "demo",
            "/onionbell-lab can't be started: No such file or directory. Install the package onionbell-lab"
        ),
        (
            "lab",
            "/onionbell-lab can't be started: No such file or directory. Install the package onionbell-lab"
        ),
    ])
    func aProgramThatIsNotInstalledBesideIsMissing(command: String, words: String) async throws {
        let directory = try LabDirectory()
        try FileManager.default.copyItem(atPath: program, toPath: directory.path + "/onionbell")
        let built = URL(filePath: program).deletingLastPathComponent().path
        let result = try run(
            [directory.path + "/onionbell", command], environment: ["PATH": "\(built):/usr/bin:/bin"])
        #expect(result.status == 69)
        #expect(result.errors == "onionbell: \(directory.path)\(words)\n")
        await directory.remove()
    }

    @Test func theNodeTellsItsOptionsAndRefusesOthers() throws {
        let version = try run([program, "--version"]).output
        #expect(
            version.hasPrefix("0.1.0\n") && version.contains("OpenSSL 3.") && version.contains("SQLite 3."))
        #expect(try run([nodeProgram, "--version"]).output == run([program, "--version"]).output)
        let help = try run([nodeProgram, "--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("Usage: onionbelld [--config FILE]"))
        for words in [["--confg", "x"], ["x"], ["--config"], ["--config", "x", "y"]] {
            let result = try run([nodeProgram] + words)
            #expect(result.status == 64, "\(words)")
            #expect(result.errors.contains("Usage: onionbelld [--config FILE]"))
        }
    }

    @Test func theLabHasItsOwnHelpAlsoByWayOfTheCommands() throws {
        for command in ["demo", "lab"] {
            let result = try run([program, command, "--help"])
            #expect(result.status == 0)
            #expect(result.output.contains("USAGE: onionbell-lab \(command)"))
        }
    }

    /// What only commands and rehearsals need faces no strangers.
    @Test func theNodeHoldsNeitherArgumentParserNorSimulatorNorFoundation() throws {
        let libraries = try run(["ldd", nodeProgram]).output
        #expect(libraries.contains("libevent"))
        #expect(!libraries.contains("Foundation"))
        let node = try Data(contentsOf: URL(filePath: nodeProgram), options: .mappedIfSafe)
        let commands = try Data(contentsOf: URL(filePath: program), options: .mappedIfSafe)
        for (name, isInCommands) in [("ArgumentParser", true), ("GatewaySimulator", false)] {
            #expect(node.range(of: Data(name.utf8)) == nil, "\(name)")
            #expect((commands.range(of: Data(name.utf8)) != nil) == isInCommands, "\(name)")
        }
        // Regular expressions with their tables are a tenth of it. A symbol's name has its module's length before it.
        #expect(node.range(of: Data("17_StringProcessing".utf8)) == nil, "see String.mentions(_:)")
    }
}

/// A datagram socket of a service manager's.
@EventLoop
private final class NotifiedSocket {
    private let descriptor: Int32
    private var received: [String] = []

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
    }

    deinit { close(descriptor) }

    /// Within ten seconds.
    func receives(_ line: String) async -> Bool {
        for _ in 0..<1000 {
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count > 0 {
                received += String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(
                    String.init)
                continue
            }
            if received.contains(line) { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}
