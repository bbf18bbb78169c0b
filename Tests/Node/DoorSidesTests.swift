import Client
import Foundation
import HTTP1
import Logging
import Reactor
import Testing

@testable import Doors
@testable import Node

/// An endpoint on the onion address and the same one for the world: what one side uses up, the other doesn't notice.
@EventLoop
@Suite struct DoorSidesTests {
    private final class Answering: HTTPDoor {
        let status: Int

        init(_ status: Int = 200) { self.status = status }

        func handler(for path: String) -> HTTPServer.Handler? {
            { [status] _, respond in respond(HTTPResponse(status: status)) }
        }
    }

    @Test func eachSideHasAnAccountOfItsOwn() throws {
        var settings = Settings.Door()
        settings.limits.rate = 1
        let placed = DoorListeners.PlacedDoor(Answering(), named: "door", settings)
        func statuses(_ door: any HTTPDoor) -> [Int] {
            (0..<3).map { _ in
                var status = 0
                door.answer(HTTPRequest(method: "GET", path: "/")) { status = $0.status }
                return status
            }
        }
        #expect(statuses(placed.door) == [200, 503, 503])
        #expect(statuses(placed.worldDoor) == [200, 503, 503])
        #expect(placed.limited?.doors.map(\.turnedAway) == [2, 2])
    }

    /// Whoever comes by the onion address finds the one side, whoever doesn't the other.
    @Test func eachPlaceLeadsToItsSide() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-\(UUID().uuidString)"
        let world = Endpoint.unix(path: path)
        var settings = Settings()
        settings.onion.httpListen = .host("127.0.0.1", port: 0)
        let door = DoorListeners.PlacedDoor(
            door: Answering(200), worldDoor: Answering(201), places: [.onion(port: 80), .plain(world)],
            body: 100)
        let listeners = try DoorListeners(
            settings, circuits: Circuits(settings: .unlimited), room: BufferRoom(),
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let ports = try listeners.open([door])
        let onion = try #require(ports.first).target
        var statuses: [Int] = []
        for place in [onion, world] {
            let answer = try await HTTPExchange.answer(
                to: HTTPRequest(method: "GET", path: "/"), host: "a", by: .direct(place))
            statuses.append(answer.status)
        }
        #expect(statuses == [200, 201])
        await listeners.close()
    }
}
