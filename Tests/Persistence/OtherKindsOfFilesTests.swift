import Foundation
import TestedStores
import Testing

@testable import Persistence

/// What stands in the store's place and is no file is named, and nobody waits for it.
@Suite struct OtherKindsOfFilesTests {
    @Test(arguments: ["", "-wal"], ["pipe", "directory", "link"])
    func whatIsNoFileIsRefusedByItsName(suffix: String, kind: String) throws {
        let directory = try Directory()
        let path = directory.path + "/outbox.sqlite"
        if !suffix.isEmpty { try Data().write(to: URL(filePath: path)) }
        switch kind {
        case "pipe": #expect(mkfifo(path + suffix, 0o600) == 0)
        case "directory": #expect(mkdir(path + suffix, 0o700) == 0)
        default: #expect(symlink("/nowhere/at-all", path + suffix) == 0)
        }
        for access in [StoreAccess.owning, .reading] {
            let error = #expect(throws: StoreError.self) {
                try SQLiteConnection(path: path, for: access)
            }
            #expect(
                error.map { "\($0)".contains("outbox.sqlite\(suffix) is") } == true,
                "\(String(describing: error))")
        }
    }
}
