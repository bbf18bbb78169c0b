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
}
