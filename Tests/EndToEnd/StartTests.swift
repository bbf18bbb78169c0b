import Foundation
import Glibc
import Testing

/// What the program does with the places that its settings name, before it does anything else.
@Suite(.timeLimit(.minutes(5))) struct StartTests {
    private let directory: String

    init() throws {
        directory = FileManager.default.temporaryDirectory.path + "/onionbell-start-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    private func configuration(_ text: String) throws -> String {
        let path = directory + "/onionbell.yaml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    /// It would take away others' access to it.
    @Test func aDirectoryThatOthersUseIsLeftAsItIs() throws {
        let shared = directory + "/shared"
        try FileManager.default.createDirectory(
            atPath: shared, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        try "a".write(toFile: shared + "/letter", atomically: true, encoding: .utf8)
        let result = try run([
            program, "run", "--config", configuration("{state_directory: \(shared)}"),
        ])
        #expect(result.status == 69)
        #expect(result.errors.contains("others can open \(shared)"))
        #expect(try mode(shared) == 0o755)
        let checked = try run([
            program, "check-config", "--config", configuration("{state_directory: \(shared)}"),
        ])
        #expect(checked.status == 78)
        #expect(checked.errors.contains("state_directory: others can open \(shared)"))
    }

    @Test func aFileIsLeftAsItIs() throws {
        let file = directory + "/file"
        try "a".write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let path = try configuration("{state_directory: \(file)}")
        let result = try run([program, "run", "--config", path])
        #expect(result.status == 69)
        #expect(result.errors.contains("\(file) is not a directory"))
        #expect(try mode(file) == 0o644)
        #expect(try run([program, "check-config", "--config", path]).status == 78)
    }

    @Test func checkConfigMissesWhatAStartWouldMiss() throws {
        let path = try configuration(
            "{state_directory: \(directory)/none/state, tor: {binary: \(directory)/torr}}")
        let result = try run([program, "check-config", "--config", path])
        #expect(result.status == 78)
        #expect(result.errors.contains("tor.binary"))
        #expect(result.errors.contains("state_directory"))
    }

    /// systemd(1) connects standard error to the journal and says so.
    @Test func theJournalGetsPriorities() throws {
        let path = try configuration("{state_directory: \(directory)/none/state}")
        let command = "JOURNAL_STREAM=$(stat -L -c %d:%i /dev/stderr) exec \(program) run --config \(path)"
        let lines = try run(["sh", "-c", command]).errors.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("<3>onionbell: state_directory") })
        #expect(lines.allSatisfy { $0.hasPrefix("<") })
        #expect(geteuid() != 0 || lines.contains("<4>warning node.runs_as_root"))
    }
}
