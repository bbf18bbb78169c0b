import HTTP1
import Reactor
import Testing

@testable import Doors
@testable import Node

/// An endpoint on the onion address and the same one for the world: what one side uses up, the other doesn't notice.
@EventLoop
@Suite struct DoorSidesTests {
    private final class Answering: HTTPDoor {
        func handler(for path: String) -> HTTPServer.Handler? {
            { _, respond in respond(HTTPResponse(status: 200)) }
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
}
