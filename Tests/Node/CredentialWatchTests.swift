import Encodings
import Foundation
import Logging
import Reactor
import Testing

@testable import Node

@EventLoop
@Suite struct CredentialWatchTests {
    private let path =
        FileManager.default.temporaryDirectory.path + "/onionbell-credential-\(UUID().uuidString)"

    private func write(_ text: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// A watch over one file whose content is good unless it is `bad`.
    private final class Watched {
        var taken: [String] = []
        var changes = 0
        var watch: CredentialWatch!

        /// Called with each change that was taken, and each that could not be.
        var onLook: (() -> Void)?

        @EventLoop
        init(_ path: String) {
            let app = CredentialWatch.App(name: "ios", files: CredentialFiles([path, ""])) {
                [unowned self] contents throws(SettingsFault) in
                defer { onLook?() }
                let text = (try? contents.read(path)).map { String(decoding: $0, as: UTF8.self) } ?? "bad"
                guard text != "bad" else { throw SettingsFault(key: "apps[0].key_file", problem: "no key") }
                taken.append(text)
            }
            let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            watch = CredentialWatch(
                [app], interval: .milliseconds(20), settling: .milliseconds(5), log: silent
            ) { [unowned self] _ in changes += 1 }
        }
    }

    /// Nobody says that a file has changed: it is found, also when it can't be used.
    @Test func whatHasChangedIsFoundByItself() async throws {
        try write("first")
        let watched = Watched(path)
        watched.watch.start()
        for (text, fault) in [("bad", "apps[0].key_file: no key"), ("second", nil)] {
            try write(text)
            await withCheckedContinuation { looked in
                watched.onLook = {
                    watched.onLook = nil
                    looked.resume()
                }
            }
            // The fault is noted right after the look.
            await Task {}.value
            #expect(watched.watch.faults[ByteText("ios")] == fault)
        }
        #expect(watched.taken == ["second"])
        watched.watch.stop()
    }

    @Test func whatHasChangedIsTakenOnce() async throws {
        try write("first")
        let watched = Watched(path)
        await watched.watch.lookNow()
        #expect(watched.taken.isEmpty)
        try write("second")
        await watched.watch.lookNow()
        await watched.watch.lookNow()
        #expect(watched.taken == ["second"])
        #expect(watched.changes == 1)
    }

    @Test func aFileThatIsWrittenAgainUnchangedIsNoNews() async throws {
        try write("first")
        let watched = Watched(path)
        try write("first")
        await watched.watch.lookNow()
        #expect(watched.taken.isEmpty)
    }

    @Test func whatCanNotBeUsedIsToldOnceUntilItChanges() async throws {
        try write("first")
        let watched = Watched(path)
        try write("bad")
        await watched.watch.lookNow()
        #expect(watched.watch.faults[ByteText("ios")] == "apps[0].key_file: no key")
        #expect(watched.changes == 0)
        try write("third")
        await watched.watch.lookNow()
        #expect(watched.watch.faults[ByteText("ios")] == nil)
        #expect(watched.taken == ["third"])
    }

    /// A look waits for its files while changed settings bring others.
    @Test func aLookThatCrossesAChangeOfSettingsPutsNothingOldBack() async throws {
        try write("first")
        let watched = Watched(path)
        let other = path + "-other"
        func writeOther(_ text: String) throws {
            try text.write(toFile: other, atomically: true, encoding: .utf8)
        }
        try writeOther("third")
        try write("second")
        var taken: [String] = []
        let look = Task { await watched.watch.lookNow() }
        let change = Task {
            await watched.watch.change("ios", files: [other]) { contents throws(SettingsFault) in
                guard let bytes = try? contents.read(other) else {
                    throw SettingsFault(key: "apps[0].key_file", problem: "no key")
                }
                taken.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        await look.value
        #expect(await change.value)
        #expect(taken == ["third"])
        #expect(watched.watch.faults[ByteText("ios")] == nil)
        // The files of before are nobody's any more, and the others are watched.
        try write("fourth")
        try writeOther("fifth")
        await watched.watch.lookNow()
        #expect(taken == ["third", "fifth"])
        #expect(watched.taken == ["second"])
        watched.watch.stop()
    }

    /// A file that can't be read just now, as where no more can be opened, is looked at again without a change.
    @Test func aFileThatCouldNotBeReadIsNotNotedAsSeen() throws {
        try write("first")
        var files = CredentialFiles([path])
        try write("second")
        files.look { (path) throws(SystemError) in throw SystemError("open \(path)", code: EMFILE) }
        let failed = files
        #expect(files.presentStamps != files.stamps)
        files.look()
        #expect(files.presentStamps == files.stamps && files.differ(from: failed))
    }

    @Test func aFileThatIsGoneIsToldAndTakenWhenItIsBack() async throws {
        try write("first")
        let watched = Watched(path)
        try FileManager.default.removeItem(atPath: path)
        await watched.watch.lookNow()
        #expect(watched.watch.faults[ByteText("ios")] != nil)
        try write("second")
        await watched.watch.lookNow()
        #expect(watched.taken == ["second"])
    }
}
