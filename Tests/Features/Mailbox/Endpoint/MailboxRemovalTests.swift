import Doors
import HTTP1
import Reactor
import Testing

@testable import MailboxEndpoint

/// Mailboxes that the operator removes while somebody reads them, or is about to.
@EventLoop
@Suite(.serialized) struct MailboxRemovalTests {
    @Test func whoseMailboxIsRemovedReadsNoMore() async throws {
        let world = try await MailboxDoorTests.World()
        let reader = try await MailboxDoorTests.Reader(world, "/mbmine/json")
        await reader.wait { $0.text.contains("open") }
        world.door.use([])
        await reader.wait { $0.hasEnded }
        #expect(reader.hasEnded && world.door.openReadings == 0)
        await world.close()
    }

    /// The operator removes it while the store is asked where the reading begins.
    @Test func aReadingDoesNotBeginAtAMailboxThatWasRemovedMeanwhile() async throws {
        let world = try await MailboxDoorTests.World()
        let server = HTTPServer(doors: [RemovedOnceAsked(world.door)])
        let endpoint = try server.open(on: .unix(path: world.path + "/removed"))
        let reader = try await MailboxDoorTests.Reader(world, "/mbmine/json", at: endpoint)
        await reader.wait { $0.text.contains("\r\n\r\n") }
        #expect(reader.text.contains("HTTP/1.1 403"))
        #expect(world.door.openReadings == 0)
        await server.close()
        await world.close()
    }
}

/// A door whose mailboxes are removed in the turn in which somebody begins to read.
private final class RemovedOnceAsked: LiveDoor {
    private let door: MailboxDoor

    init(_ door: MailboxDoor) { self.door = door }

    func handler(for path: String) -> HTTPServer.Handler? { door.handler(for: path) }

    func opening(of request: HTTPRequest) -> HTTPServer.Opening? {
        guard let opening = door.opening(of: request) else { return nil }
        return { [door] live in
            opening(live)
            door.use([])
        }
    }
}
