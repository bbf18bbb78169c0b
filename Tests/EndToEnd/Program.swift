import Foundation
import Reactor

/// The built program of the commands, which lies beside the tests.
let program = built("onionbell")

/// The built node.
let nodeProgram = built("onionbelld")

private func built(_ name: String) -> String {
    let tests = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: tests ?? CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name)
        .path
}

/// The project's torrc.
let projectTorrc = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../torrc")
    .standardized.path

/// What a command of the program said and how it ended.
struct CommandResult {
    var status: Int32
    var output: String
    var errors: String
}

/// Runs a command to its end.
func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:]
) throws -> CommandResult {
    // Files, not pipes: a command that ends before it has read would end the tests as well, by SIGPIPE.
    let files = (0...2).map { _ in
        FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    }
    defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
    try Data(input.utf8).write(to: URL(filePath: files[0]))
    let process = try spawn(arguments, files, environment)
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    func said(_ file: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
    }
    // As a shell has it: the status, or the signal.
    return CommandResult(
        status: status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f, output: try said(files[1]),
        errors: try said(files[2]))
}

/// Starts a command with these files as standard input, output and error. Not by Foundation's Process, whose `run`
/// was seen to read beyond its memory. What is allocated here is freed here: the child has copies.
private func spawn(
    _ arguments: [String], _ files: [String], _ environment: [String: String]
) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, files[0], O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, files[1], O_WRONLY | O_CREAT, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, files[2], O_WRONLY | O_CREAT, 0o600)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A thread of the pool blocks signals; a command must not.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let words = (["/usr/bin/env"] + arguments).map { strdup($0) } + [nil]
    let settings = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + settings { free(text) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, "/usr/bin/env", &actions, &attributes, words, settings)
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
    return process
}
