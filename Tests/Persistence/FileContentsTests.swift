import CSQLite
import Foundation
import Glibc
import TestedStores
import Testing

@testable import Persistence
@testable import Relay

/// A file that is written over under its own name while the node has it open, as `cp` does it.
@Suite struct FileContentsTests {
    /// What somebody writes into the files.
    enum Writing: String, CaseIterable {
        case copy, ownCopy, ownCopyOfALargeFile, nothing, aByte, copyOfLog, olderLog, noLog
    }

    let directory: Directory

    init() throws { directory = try Directory() }

    /// As `cp` and a shell's redirection do it: the same file, and all of its bytes.
    private func write(_ bytes: Data, over path: String) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: bytes)
        try file.close()
    }

    private func modified(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0
            ? status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec : 0
    }

    private func strike(_ writing: Writing, older: (file: Data, log: Data)) async throws {
        let other = try Directory()
        let second = try await other.open()
        _ = try await second.commit([.store(request(7, identity: 70))])
        let (file, log) = (directory.outbox, directory.outbox + "-wal")
        switch writing {
        case .copy: try write(Data(contentsOf: URL(filePath: other.outbox)), over: file)
        case .ownCopy, .ownCopyOfALargeFile:
            // Files are dated in steps: until the clock has gone on, nobody could tell.
            let before = modified(file)
            repeat { try write(older.file, over: file) } while modified(file) == before
        case .nothing: try write(Data(), over: file)
        case .aByte:
            let handle = try FileHandle(forWritingTo: URL(filePath: file))
            try handle.seek(toOffset: 5000)
            try handle.write(contentsOf: Data([1]))
            try handle.close()
        case .copyOfLog: try write(Data(contentsOf: URL(filePath: other.outbox + "-wal")), over: log)
        case .olderLog: try write(older.log, over: log)
        case .noLog: try write(Data(), over: log)
        }
        await second.close()
    }

    @Test(arguments: Writing.allCases)
    func nothingIsSaidToBeStoredInAFileThatSomebodyWroteInto(_ writing: Writing) async throws {
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1))])
        if writing == .ownCopyOfALargeFile {
            let command = try Connection(.file(directory.outbox), for: .changing)
            try command.execute("CREATE TABLE room AS SELECT zeroblob(5000000) AS bytes")
            try command.engine.sweep()
        }
        let older = (
            file: try Data(contentsOf: URL(filePath: directory.outbox)),
            log: try Data(contentsOf: URL(filePath: directory.outbox + "-wal"))
        )
        _ = try await outbox.commit([.store(request(2))])
        // Else the older copy of the file would be the present one.
        if writing == .ownCopy || writing == .ownCopyOfALargeFile {
            let command = try Connection(.file(directory.outbox), for: .changing)
            // Whoever has read nothing moves nothing.
            try command.execute("SELECT count(*) FROM notification")
            try command.engine.sweep()
        }
        #expect(try await outbox.commit([.store(request(2))]) == [.alreadyWaiting(sequence: 2)])
        try await strike(writing, older: older)
        for number in 3...5 as ClosedRange<Int64> {
            do {
                _ = try await outbox.commit([.store(request(number))])
                Issue.record("it was said to be stored, and may be nowhere")
            } catch {
                #expect("\(error)".contains("was written over"), "\(error)")
            }
        }
        await outbox.close()
    }

    /// What looks as if somebody had written into the files.
    enum Doubt: String, CaseIterable {
        case time, timeOfLog, timeOfIndex, mode, sameBytes, sameBytesOfLog, timeOfALargeFile,
            timeOfALargerFile
    }

    /// Times change by themselves on file systems of a network, and a copy may be the same: what stands there decides.
    @Test(arguments: Doubt.allCases)
    func whoseContentsAreTheSameStopsNothing(_ doubt: Doubt) async throws {
        let outbox = try await directory.open()
        let first: ClosedRange<Int64> = 1...5
        _ = try await outbox.commit(first.map { .store(request($0, identity: UInt64($0))) })
        let (file, log) = (directory.outbox, directory.outbox + "-wal")
        if doubt == .timeOfALargeFile || doubt == .timeOfALargerFile {
            let bytes = doubt == .timeOfALargeFile ? 5_000_000 : 40_000_000
            let command = try Connection(.file(file), for: .changing)
            try command.execute("CREATE TABLE room AS SELECT zeroblob(\(bytes)) AS bytes")
            try command.engine.sweep()
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_size > bytes)
        }
        _ = try await outbox.commit([.store(request(20_001, identity: 20_001))])
        for round in 1...2 as ClosedRange<Int64> {
            let times = [
                timeval(tv_sec: 1_000_000_000 + Int(round), tv_usec: 0),
                timeval(tv_sec: 1_100_000_000, tv_usec: 0),
            ]
            switch doubt {
            case .time, .timeOfALargeFile, .timeOfALargerFile: #expect(utimes(file, times) == 0)
            case .timeOfLog: #expect(utimes(log, times) == 0)
            case .timeOfIndex: #expect(utimes(file + "-shm", times) == 0)
            case .mode: #expect(chmod(file, round == 1 ? 0o640 : 0o600) == 0)
            case .sameBytes: try write(Data(contentsOf: URL(filePath: file)), over: file)
            case .sameBytesOfLog: try write(Data(contentsOf: URL(filePath: log)), over: log)
            }
            let stored = try await outbox.commit([
                .store(request(20_001 + round, identity: UInt64(20_001 + round)))
            ])
            #expect(stored.count == 1, "a false alarm stopped the store")
        }
        // As a kill does: nothing is closed before the next one opens it.
        let again = try await directory.open()
        #expect(try await again.content().waiting.count == first.count + 3)
        await again.close()
        await outbox.close()
    }

    /// Whoever has written over the file and puts back what was there needs no restart.
    @Test func theRightContentsEndTheAlarm() async throws {
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1))])
        _ = try await outbox.commit([.store(request(1))])
        let right = try Data(contentsOf: URL(filePath: directory.outbox))
        try write(Data(repeating: 7, count: right.count), over: directory.outbox)
        for _ in 0..<2 {
            await #expect(throws: OutboxError.self) { try await outbox.commit([.store(request(2))]) }
        }
        try write(right, over: directory.outbox)
        #expect(try await outbox.commit([.store(request(2))]) == [.stored(sequence: 2)])
        await outbox.close()
        let again = try await directory.open()
        #expect(try await again.content().waiting.map(\.sequence) == [1, 2])
        await again.close()
    }

    /// What was put there stays as it is, and the log that belongs to another file is not mixed with it.
    @Test func aStartRefusesTheLogOfAnotherFile() async throws {
        let earlier = try await directory.open()
        _ = try await earlier.commit([.store(request(1))])
        await earlier.close()
        let copy = try Data(contentsOf: URL(filePath: directory.outbox))
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(2)), .store(request(3))])
        try write(copy, over: directory.outbox)
        await #expect(throws: OutboxError.self) { try await outbox.commit([.store(request(4))]) }
        await outbox.close()
        for access in [StoreAccess.inspecting, .owning] {
            do {
                _ = try OperatorsOutbox(.file(directory.outbox), for: access)
                Issue.record("two files were mixed")
            } catch {
                #expect("\(error)".contains("then move \(directory.outbox)-wal and"), "\(error)")
            }
        }
        do {
            _ = try await directory.open()
            Issue.record("two files were mixed")
        } catch {
            #expect("\(error)".contains("then move \(directory.outbox)-wal and"), "\(error)")
        }
        #expect(try Data(contentsOf: URL(filePath: directory.outbox)) == copy)
        for suffix in ["-wal", "-shm"] { unlink(directory.outbox + suffix) }
        let again = try await directory.open()
        #expect(try await again.content().waiting.map(\.sequence) == [1])
        await again.close()
    }

    /// As above, of a node that was killed: nobody was there to notice the copy.
    @Test func aStartAfterAKillRefusesTheLogOfAnotherFile() async throws {
        let (copy, killed) = (directory.path + "/copy", try Directory())
        let earlier = try await directory.open()
        _ = try await earlier.commit([.store(request(1))])
        await earlier.close()
        try FileManager.default.copyItem(atPath: directory.outbox, toPath: copy)
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(2))])
        for suffix in ["", "-wal", "-run"] {
            try FileManager.default.copyItem(
                atPath: directory.outbox + suffix, toPath: killed.outbox + suffix)
        }
        await outbox.close()
        // All three are the killed node's.
        let revived = try await killed.open()
        #expect(try await revived.content().waiting.map(\.sequence) == [1, 2])
        _ = try await revived.commit([.store(request(3))])
        let log = try Data(contentsOf: URL(filePath: killed.outbox + "-wal"))
        await revived.close()
        // The file is an older one's.
        try Data(contentsOf: URL(filePath: copy)).write(to: URL(filePath: killed.outbox))
        try log.write(to: URL(filePath: killed.outbox + "-wal"))
        do {
            _ = try await killed.open()
            Issue.record("two files were mixed")
        } catch {
            #expect("\(error)".contains("then move \(killed.outbox)-wal and"), "\(error)")
        }
        // Somebody who knows better.
        unlink(killed.outbox + "-run")
        await (try? killed.open())?.close()
    }

    /// A copy that SQLite made while the node ran, as the documents say, put back after a kill of the same run.
    @Test func aCopyOfTheSameRunIsNotMixedWithItsLog() async throws {
        let killed = try Directory()
        let outbox = try await directory.open()
        func store(_ numbers: ClosedRange<Int64>) async throws {
            _ = try await outbox.commit(numbers.map { .store(request($0, identity: UInt64($0))) })
        }
        try await store(1...400)
        _ = try await outbox.commit((1...350).map { .finish(sequence: $0, .delivered) })
        let copy = killed.outbox
        try Connection(.file(directory.outbox), for: .reading).execute("VACUUM INTO '\(copy)'")
        try await store(401...700)
        for suffix in ["-wal", "-run"] {
            try FileManager.default.copyItem(atPath: directory.outbox + suffix, toPath: copy + suffix)
        }
        await outbox.close()
        // Put there after the log was left, by the clock of the file system.
        func changed(_ path: String) -> Int {
            var status = stat()
            return stat(path, &status) == 0
                ? status.st_ctim.tv_sec * 1_000_000_000 + status.st_ctim.tv_nsec : 0
        }
        let bytes = try Data(contentsOf: URL(filePath: copy))
        while changed(copy) <= changed(copy + "-wal") { try write(bytes, over: copy) }
        do {
            _ = try await killed.open()
            Issue.record("two files were mixed")
        } catch {
            #expect("\(error)".contains("then move \(copy)-wal and"), "\(error)")
        }
        for suffix in ["-wal", "-shm"] { unlink(copy + suffix) }
        let again = try await killed.open()
        #expect(try await again.content().waiting.count == 50)
        await again.close()
    }

    /// Commands beside the node change the file as well, roll back, and move the log into it, at any moment.
    @Test(arguments: ["PASSIVE", "RESTART", "TRUNCATE"])
    func whatOtherConnectionsWriteIsNoDamage(_ mode: String) async throws {
        let outbox = try await directory.open()
        let path = directory.outbox
        let commands = Task.detached {
            for number in 1...150 {
                try await retrying {
                    let command = try Connection(.file(path), for: .changing)
                    try command.execute("BEGIN IMMEDIATE")
                    try command.execute("UPDATE notification SET not_before = \(number)")
                    try command.execute(number.isMultiple(of: 3) ? "ROLLBACK" : "COMMIT")
                    if number.isMultiple(of: 2) { try command.execute("PRAGMA wal_checkpoint(\(mode))") }
                    if number.isMultiple(of: 25) { try command.execute("VACUUM") }
                }
            }
        }
        for number in 1...300 as ClosedRange<Int64> {
            try await retrying {
                let stored = try await outbox.commit([.store(request(number))])
                #expect(stored == [.stored(sequence: number)])
            }
        }
        try await commands.value
        await outbox.close()
    }
}

/// Does it once more while somebody else has the file for longer than SQLite waits, as the node does with a commit.
private func retrying(_ body: () async throws -> Void) async throws {
    while true {
        do {
            return try await body()
        } catch let error as StoreError where (error.code ?? 0) & 0xFF == SQLITE_BUSY {
            continue
        }
    }
}
