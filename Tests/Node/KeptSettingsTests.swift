import FeatureList
import Foundation
import Glibc
import Reactor
import Testing

@testable import Node

/// The files from which a start finds the settings that it can go back to.
@Suite struct KeptSettingsTests {
    /// A settings file, and the state directory that it names.
    private final class Machine {
        let directory: URL
        var configuration: String { directory.path + "/onionbell.yaml" }
        var state: String { directory.path + "/state" }
        var good: String { "state_directory: state\n" }
        var bad: String { good + "tor: {mode: nonsense}\n" }

        init() throws {
            directory = FileManager.default.temporaryDirectory.appending(
                path: "onionbell-kept-\(UUID().uuidString)")
            try FileManager.default.createDirectory(
                at: directory.appending(path: "state"), withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: directory) }

        func put(_ text: String) throws {
            try text.write(toFile: configuration, atomically: true, encoding: .utf8)
        }

        func keep(_ text: String, isOfFile: Bool = true) async {
            let fault = await KeptSettings.keep(text, isOfFile: isOfFile, in: state)
            #expect(fault == nil)
        }

        func found() -> KeptSettings? {
            KeptSettings(for: configuration, environment: [:], features: .built)
        }
    }

    @Test func aStartGoesBackFromWhatTheConsoleWrote() async throws {
        let machine = try Machine()
        await machine.keep(machine.good)
        try KeptSettings.willWrite(machine.bad, in: machine.state)
        try machine.put(machine.bad)
        let found = try #require(machine.found())
        #expect(found.text == machine.good && !found.hasCrashed)
        var status = stat()
        #expect(stat(KeptSettings.copy(in: machine.state), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func whatIsWrittenByHandIsTheAuthorsOwn() async throws {
        let machine = try Machine()
        await machine.keep(machine.good)
        try machine.put(machine.bad)
        #expect(machine.found() == nil)
        // Also after the console had written something else.
        try KeptSettings.willWrite(machine.good + "# more\n", in: machine.state)
        #expect(machine.found() == nil)
    }

    @Test func withoutASettingThatRanThereIsNoWayBack() async throws {
        let machine = try Machine()
        try KeptSettings.willWrite(machine.bad, in: machine.state)
        try machine.put(machine.bad)
        #expect(machine.found() == nil)
        // The text that ran is the one that fails now.
        await machine.keep(machine.bad, isOfFile: false)
        #expect(machine.found() == nil)
    }

    @Test func aStartThatCameToNoEndIsNoticed() async throws {
        let machine = try Machine()
        await machine.keep(machine.good)
        try KeptSettings.willWrite(machine.bad, in: machine.state)
        try machine.put(machine.bad)
        try #require(machine.found()).begin()
        #expect(try #require(machine.found()).hasCrashed)
        try #require(machine.found()).end()
        #expect(try !#require(machine.found()).hasCrashed)
    }

    @Test func aStartThatSucceedsForgetsWhoWrote() async throws {
        let machine = try Machine()
        await machine.keep(machine.good)
        let other = machine.good + "# by the console\n"
        try KeptSettings.willWrite(other, in: machine.state)
        try machine.put(other)
        let found = try #require(machine.found())
        found.begin()
        await machine.keep(other)
        found.end()
        #expect(access(KeptSettings.note(in: machine.state), F_OK) != 0)
        #expect(machine.found() == nil)
    }

    @Test(arguments: ["", "tried", "abc tried\n", String(repeating: "0", count: 63), "\0"])
    func aNoteOfSomethingElseIsNone(text: String) {
        #expect(KeptSettings.Note(Array(text.utf8)) == nil)
    }

    @Test(arguments: [false, true])
    func theNoteIsReadAsItWasWritten(isTried: Bool) {
        let note = KeptSettings.Note(of: "a: 1\n", isTried: isTried)
        #expect(KeptSettings.Note(Array(note.line.utf8)) == note)
        #expect(note.isOf("a: 1\n") && !note.isOf("a: 2\n"))
    }

    @Test func aWordToTheSuccessorIsReadAsItWasSaid() throws {
        let word = Successor.Word(text: "a: 1\n\nb: 2\n", since: 12)
        let read = try #require(Successor.Word(word.bytes))
        #expect(read.text == word.text && read.since == 12 && read.fault == nil)
        let late = Successor.Word(text: "a: 1\n", since: 7, fault: "it was not over in time")
        let readLate = try #require(Successor.Word(late.bytes))
        #expect(readLate.text == late.text && readLate.since == 7 && readLate.fault == late.fault)
        for bytes in ["", "\n", "a\nb", "-1\nb", "12", " \nb", "x 12\nb"] {
            #expect(Successor.Word(Array(bytes.utf8)) == nil, "\(bytes)")
        }
    }
}
