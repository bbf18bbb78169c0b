import Foundation
import Glibc
import TestedStores
import Testing

@testable import Persistence
@testable import Relay

/// A file that is deleted, moved or replaced while the node has it open: "stored" is true of the file that is read next.
@Suite struct ReplacedFileTests {
    /// What somebody does to the files of a node that runs.
    enum Blow: String, CaseIterable {
        case all, database, log, index, logAndIndex, moved, emptied
    }

    let directory: Directory

    init() throws { directory = try Directory() }

    private func strike(_ blow: Blow) throws {
        let outbox = directory.outbox
        let files: [String] =
            switch blow {
            case .all: ["", "-wal", "-shm"]
            case .database: [""]
            case .log: ["-wal"]
            case .index: ["-shm"]
            case .logAndIndex: ["-wal", "-shm"]
            case .moved, .emptied: []
            }
        for suffix in files { #expect(unlink(outbox + suffix) == 0) }
        if blow == .moved || blow == .emptied { #expect(rename(outbox, outbox + ".away") == 0) }
        // As a command does that opens what is not there.
        if blow == .emptied { #expect(FileManager.default.createFile(atPath: outbox, contents: Data())) }
    }

    /// Stores one, as a sender does that is told to come again.
    private func insist(_ change: [OutboxChange], in outbox: OutboxStore) async -> [StoreResult]? {
        for _ in 0..<3 { if let results = try? await outbox.commit(change) { return results } }
        return nil
    }

    @Test(arguments: Blow.allCases) func whatWasAcceptedOutlivesTheLossOfTheFile(_ blow: Blow) async throws {
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1)), .store(request(2))])
        try strike(blow)
        #expect(
            await insist([.finish(sequence: 1, .delivered), .store(request(3))], in: outbox) == [
                .stored(sequence: 3)
            ])
        // As a kill does: nothing is closed before the next one opens it.
        let again = try await directory.open()
        #expect(try await again.content().waiting.map(\.sequence) == [2, 3])
        #expect(try await again.commit([.store(request(2))]) == [.alreadyWaiting(sequence: 2)])
        await again.close()
        await outbox.close()
        #expect(try OperatorsOutbox(path: directory.outbox, isReadOnly: true).faults() == [])
    }

    /// The operator hears of it, once.
    @Test func theNextCommitSaysThatTheFileWasGone() async throws {
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1))])
        try strike(.all)
        do {
            _ = try await outbox.commit([.store(request(2))])
            Issue.record("nothing was said")
        } catch {
            #expect("\(error)".contains("\(directory.outbox) was deleted or moved"), "\(error)")
        }
        #expect(try await outbox.commit([.store(request(2))]) == [.stored(sequence: 2)])
        await outbox.close()
    }

    /// Neither of two files that hold something is lost, and no start decides between them.
    @Test func aFileThatWasPutInItsPlaceIsNeitherUsedNorOverwritten() async throws {
        let other = try Directory()
        let second = try await other.open()
        _ = try await second.commit([.store(request(7, identity: 70))])
        await second.close()
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1))])
        try strike(.all)
        try FileManager.default.copyItem(atPath: other.outbox, toPath: directory.outbox)
        for _ in 0..<2 {
            do {
                _ = try await outbox.commit([.store(request(2))])
                Issue.record("it was said to be stored, and is nowhere")
            } catch {
                #expect("\(error)".contains("another file stands at \(directory.outbox)"), "\(error)")
            }
        }
        // What it has is still told to who asks.
        #expect(try await outbox.notifications([1]).count == 1)
        await outbox.close()
        do {
            _ = try await directory.open()
            Issue.record("a start has chosen one of two")
        } catch {
            #expect("\(error)".contains("\(directory.outbox).saved"), "\(error)")
        }
        #expect(try OperatorsOutbox(path: directory.outbox, isReadOnly: true).summary().waiting == 1)
        #expect(rename(directory.outbox + ".saved", directory.outbox) == 0)
        let again = try await directory.open()
        #expect(try await again.content().waiting.map(\.sequence) == [1])
        await again.close()
    }

    /// As `cp` and `mv` do it, and as file systems do that number their files anew: it is the same store.
    @Test(arguments: [[""], ["", "-wal"], ["-wal"]])
    func aCopyInThePlaceOfTheFileStopsNothing(_ suffixes: [String]) async throws {
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1)), .store(request(2))])
        for suffix in suffixes {
            let path = directory.outbox + suffix
            try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
            #expect(rename(path + ".copy", path) == 0)
        }
        #expect(
            await insist([.finish(sequence: 1, .delivered), .store(request(3))], in: outbox) == [
                .stored(sequence: 3)
            ])
        #expect(!FileManager.default.fileExists(atPath: directory.outbox + ".saved"))
        let again = try await directory.open()
        #expect(try await again.content().waiting.map(\.sequence) == [2, 3])
        await again.close()
        await outbox.close()
    }

    /// A directory that was put in the place of the node's holds another's files: they are left as they are.
    @Test func aDirectoryOfAnotherIsNotWrittenOver() async throws {
        let (other, away) = (try Directory(), directory.path + ".away")
        let second = try await other.open()
        _ = try await second.commit([.store(request(7, identity: 70))])
        await second.close()
        let bytes = try Data(contentsOf: URL(filePath: other.outbox))
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1))])
        #expect(rename(directory.path, away) == 0)
        defer { try? FileManager.default.removeItem(atPath: away) }
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: other.outbox, toPath: directory.outbox)
        await #expect(throws: OutboxError.self) { try await outbox.commit([.store(request(2))]) }
        #expect(try Data(contentsOf: URL(filePath: directory.outbox)) == bytes)
        await outbox.close()
        #expect(try Data(contentsOf: URL(filePath: directory.outbox)) == bytes)
    }

    /// What was handed out of the backlog is not handed out again by the file that was written anew.
    @Test func whatWasHandedOutStaysSo() async throws {
        let outbox = try await directory.open()
        let placed = (1...4 as ClosedRange<Int64>).map { number in
            let one = request(2 * number)
            return StoreRequest(
                notification: one.notification, digests: one.digests, destination: .backlog(room: 9))
        }
        _ = try await outbox.commit(placed.map { .store($0) })
        let claim = Claim(.due(placed[0].notification.lane), at: 5000, last: .max, limit: 2)
        #expect(try await outbox.claim(claim).rows.map(\.row.sequence) == [1, 2])
        try strike(.all)
        #expect(await insist([.finish(sequence: 1, .delivered)], in: outbox) == [])
        #expect(try await outbox.claim(claim).rows.map(\.row.sequence) == [3, 4])
        await outbox.close()
    }

    /// A node that is killed while it writes the file anew has it in one of two places.
    @Test func whatWasSavedIsTakenWhereNothingElseStands() async throws {
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1))])
        await outbox.close()
        #expect(rename(directory.outbox, directory.outbox + ".saved") == 0)
        let again = try await directory.open()
        #expect(try await again.content().waiting.map(\.sequence) == [1])
        await again.close()
    }
}

/// A file is looked at and left as it is: a log beside it may belong to another one.
@Suite struct InspectedFileTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    private func files(_ path: String) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            found[name] = try Data(contentsOf: URL(filePath: path + "/" + name))
        }
        return found
    }

    @Test(arguments: [false, true]) func nothingIsChangedByALook(afterAKill isKilled: Bool) async throws {
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1)), .store(request(2))])
        let copy = directory.path + "/a directory of 100% #1?"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        if !isKilled { await outbox.close() }
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: directory.outbox + suffix) {
            try FileManager.default.copyItem(
                atPath: directory.outbox + suffix, toPath: copy + "/outbox.sqlite" + suffix)
        }
        if isKilled { await outbox.close() }
        let before = try files(copy)
        #expect(before.count == (isKilled ? 2 : 1))
        do {
            let file = try OperatorsOutbox(.file(copy + "/outbox.sqlite"), for: .inspecting)
            let (faults, waiting) = (try file.faults(), try file.summary().waiting)
            #expect(faults == [] && waiting == 2)
        }
        #expect(try files(copy) == before)
    }
}
