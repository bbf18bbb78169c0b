import Foundation
import Logging
import Reactor
import Testing
import Tor

@testable import Node

/// What the commands beside the node change reaches the onion service.
@Suite struct InvitationWatchTests {
    private func watch(
        _ invitations: Invitations, onChange: @escaping @EventLoop (Set<ClientKey>?) -> Void
    ) async throws -> InvitationWatch {
        let clients = try invitations.load().map { Set($0.values) }
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return await InvitationWatch(invitations, clients: clients, log: log, onChange: onChange)
    }

    /// Each revocation costs all who stay their connections.
    @Test @EventLoop func commandsThatFollowEachOtherAreOneChange() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/invitations-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let invitations = Invitations(path: directory)
        for name in ["alice", "bob", "carol", "dan"] { _ = try invitations.invite(name) }
        var changes: [Set<ClientKey>?] = []
        let watch = try await watch(invitations) { changes.append($0) }
        for (number, name) in ["alice", "bob", "carol"].enumerated() {
            try invitations.revoke(name)
            // The file system's clock may not have moved on.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: Double(number + 1))], ofItemAtPath: directory)
            await watch.look()
            #expect(changes.isEmpty)
        }
        await watch.look()
        let left = try #require(try invitations.load())
        #expect(changes == [Set(left.values)])
        #expect(left.keys.sorted() == ["dan"])
    }

    /// One look fails, as where no more files can be opened, and nothing changes the directory afterwards.
    @Test @EventLoop func aRevocationThatCouldNotBeReadIsLookedForAgain() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/invitations-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let invitations = Invitations(path: directory)
        for name in ["alice", "bob"] { _ = try invitations.invite(name) }
        var changes: [Set<ClientKey>?] = []
        let watch = try await watch(invitations) { changes.append($0) }
        for _ in 0..<3 { await watch.look() }
        try invitations.revoke("bob")
        // Written in its place: the directory stays as it is.
        let file = directory + "/alice.auth"
        let alice = try Data(contentsOf: URL(filePath: file))
        func write(_ data: Data) throws {
            let handle = try FileHandle(forWritingTo: URL(filePath: file))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: data)
            try handle.close()
        }
        try write(Data("nothing\n".utf8))
        for _ in 0..<3 { await watch.look() }
        #expect(changes.isEmpty && watch.count == 2)
        // Health says that somebody may still be let in.
        #expect(watch.fault?.contains("alice") == true, "\(watch.fault ?? "nothing")")
        try write(alice)
        await watch.look()
        #expect(changes.map { $0?.count } == [1] && watch.fault == nil)
        #expect(changes.first == Set(try #require(try invitations.load()).values))
    }
}
