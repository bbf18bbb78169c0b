import Foundation
import Glibc
import Reactor
import Testing

/// Files that are for their owner, or for him and the node.
@Suite struct PrivateFileTests {
    @Test func aFileIsGivenToAGroupOrItIsTold() throws {
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-file-\(UUID().uuidString)"
        #expect(throws: SystemError.self) { try PrivateFile.giveToRead(path, group: 1) }
        try PrivateFile.write("text", to: path, replacing: false)
        defer { unlink(path) }
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        guard geteuid() == 0 else {
            #expect(throws: SystemError.self) { try PrivateFile.giveToRead(path, group: 1) }
            return
        }
        try PrivateFile.giveToRead(path, group: 1)
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
        #expect(status.st_uid == 0 && status.st_gid == 1)
    }

    /// Whoever opens a pipe waits for another one, and whoever reads a device may wait for ever.
    @Test func onlyARegularFileIsRead() throws {
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-pipe-\(UUID().uuidString)"
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        for place in [path, "/dev/zero", "/dev/null", "/dev/ptmx"] {
            let error = #expect(throws: SystemError.self) { try PrivateFile.read(place, limit: 10) }
            #expect(error?.code == EINVAL, "\(place)")
            #expect(error?.operation.contains("regular file") == true, "\(place)")
        }
        let error = #expect(throws: SystemError.self) { try PrivateFile.read("/tmp", limit: 10) }
        #expect(error?.code == EISDIR)
        #expect(try PrivateFile.read("/proc/self/status", limit: 1 << 20).isEmpty == false)
    }
}
