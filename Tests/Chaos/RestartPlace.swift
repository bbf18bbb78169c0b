import Glibc
import Lab
import Processes
import Reactor

/// The files of a node, which are spoilt and mended.
@EventLoop
final class RestartPlace {
    let directory: LabDirectory
    let configuration: String
    /// A copy of the settings as they were, for the command that asks the node: it reads no spoilt ones.
    let commands: String
    private let good: String
    /// A place at which this process listens.
    private let taken: Listener
    /// The format of the store.
    private(set) var format = ""

    var path: String { directory.path }

    init(_ directory: LabDirectory, configuration: String) throws {
        (self.directory, self.configuration) = (directory, configuration)
        commands = directory.path + "/commands.yaml"
        let text = try LabDirectory.read(configuration)
        try LabDirectory.write(text, to: commands)
        good = String(decoding: text, as: UTF8.self)
        taken = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
    }

    /// Looks what is to be put back later; the node runs.
    func look() async throws {
        format = try await ask("PRAGMA user_version")
    }

    @discardableResult
    func command(_ words: String...) async throws -> String {
        try await Tool(words).finish().joined(separator: "\n")
    }

    /// Asks the store.
    @discardableResult
    func ask(_ sql: String) async throws -> String {
        let program =
            "import sqlite3, sys; s = sqlite3.connect(sys.argv[1]); print(*[r[0] for r in s.execute(sys.argv[2])]); s.commit()"
        return try await command("/usr/bin/python3", "-c", program, path + "/state/outbox.sqlite", sql)
    }

    // MARK: Settings

    /// Writes the settings anew, as somebody does who edits the file.
    func write(_ change: (String) -> String) throws {
        try LabDirectory.write(Array(change(good).utf8), to: configuration)
    }

    func inUse(_ text: String) -> String {
        text.replacing("doors: {", with: "doors: {web_push: {listen: [\"\(taken.endpoint)\"]}, ")
    }

    // MARK: Files

    enum Other: Sendable {
        case directory
        case text(String)
        case script(String)
        /// The program, for a machine of another kind.
        case foreignProgram
    }

    /// Puts another file in the place of one, or none.
    func put(_ other: Other?, _ file: String) async throws {
        let name = "\(path)/\(file)"
        guard rename(name, name + ".kept") == 0 else { throw SystemError("rename \(name)") }
        switch other {
        case nil: break
        case .directory: _ = try directory.make(file)
        case .text(let text): try LabDirectory.write(Array(text.utf8), to: name)
        case .script(let text):
            try LabDirectory.write(Array("#!/bin/sh\n\(text)\n".utf8), to: name)
            guard chmod(name, 0o700) == 0 else { throw SystemError("chmod \(name)") }
        case .foreignProgram:
            var bytes = try LabDirectory.read(name + ".kept")
            // The machine, in an ELF header: a SPARC.
            (bytes[18], bytes[19]) = (2, 0)
            try LabDirectory.write(bytes, to: name)
            guard chmod(name, 0o700) == 0 else { throw SystemError("chmod \(name)") }
        }
    }

    func back(_ file: String) throws {
        let name = "\(path)/\(file)"
        rmdir(name)
        guard rename(name + ".kept", name) == 0 else { throw SystemError("rename \(name).kept") }
    }

    func close() { taken.close() }
}
