import Foundation
import Vectors

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
    let run = try ProgramRun(arguments, input: Array(input.utf8), environment: environment)
    return CommandResult(status: run.status, output: run.text, errors: run.errorText)
}

/// Returns a new path in a temporary folder in which a node's sockets have room, however long the name of a person's own is.
func shortPath(_ name: String) -> String {
    let temporary = FileManager.default.temporaryDirectory.path
    return
        "\(temporary.utf8.count <= 24 ? temporary : "/tmp")/onionbell-\(name)-\(UInt32.random(in: 0 ... .max))"
}
