import Foundation
import Testing

@testable import Node

/// Whether a start finds that the store of a node that was here is gone, or that an empty one lies in its place.
@Suite struct LostStoreTests {
    /// A file of SQLite's with one page, as `PRAGMA journal_mode = WAL` makes it: no table is in it.
    private static func page(version: UInt8) -> [UInt8] {
        var page = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 4080)
        page.replaceSubrange(16..<24, with: [0x10, 0, 2, 2, 0, 64, 32, 32])
        page[63] = version
        page[100] = 0x0D
        page[105] = 0x10
        return page
    }

    private func isLost(_ files: [String: [UInt8]]) throws -> Bool {
        let directory = FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        for (name, bytes) in files { try Data(bytes).write(to: directory.appending(path: name)) }
        return StateDirectory.hasLostOutbox(in: directory.path)
    }

    @Test func anEmptyStoreBesideWhatANodeKeepsIsALoss() throws {
        for trace in ["onion-key", "history"] {
            #expect(try isLost([trace: [1], "outbox.sqlite": []]))
            #expect(try isLost([trace: [1], "outbox.sqlite": [], "outbox.sqlite-wal": []]))
            #expect(try isLost([trace: [1], "outbox.sqlite": Self.page(version: 0)]))
        }
        #expect(try isLost(["history": [1]]))
    }

    @Test func aFirstStartAndAStoreAreNone() throws {
        #expect(try !isLost([:]) && !isLost(["onion-key": [1]]) && !isLost(["outbox.sqlite": []]))
        #expect(try !isLost(["onion-key": [1], "outbox.sqlite": Self.page(version: 9)]))
        // What is in the journal is not lost, and what the node has saved neither.
        #expect(try !isLost(["history": [1], "outbox.sqlite": [], "outbox.sqlite-wal": [1]]))
        #expect(try !isLost(["history": [1], "outbox.sqlite": [], "outbox.sqlite.saved": [1]]))
        // What is no file of SQLite's is refused by the store itself.
        #expect(try !isLost(["history": [1], "outbox.sqlite": Array("another file".utf8)]))
    }
}
