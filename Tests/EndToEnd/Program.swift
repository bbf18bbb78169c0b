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

/// Runs a command to its end; ends it after so many seconds.
func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:], limit: Double = 120
) throws -> CommandResult {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    // No pipe: a command that ends before it has read would end the tests as well, by SIGPIPE.
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(input.utf8).write(to: file)
    process.standardInput = try FileHandle(forReadingFrom: file)
    try FileManager.default.removeItem(at: file)
    try process.run()
    let patience = DispatchWorkItem { process.terminate() }
    DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: patience)
    let said = output.fileHandleForReading.readDataToEndOfFile()
    let complained = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    patience.cancel()
    return CommandResult(
        status: process.terminationStatus, output: String(decoding: said, as: UTF8.self),
        errors: String(decoding: complained, as: UTF8.self))
}

/// A port that nobody has just now, for a setting that must name one.
@EventLoop
func freePort() throws -> UInt16 {
    let listener = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
    defer { listener.close() }
    guard case .host(_, let port) = listener.endpoint else { return 0 }
    return port
}
