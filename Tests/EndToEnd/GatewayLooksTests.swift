import Client
import Foundation
import Lab
import Reactor
import Testing
import Vectors

/// Connections of the built program to its push services before anything is sent.
@EventLoop
@Suite struct GatewayLooksTests {
    private static let apps = 8

    /// Many apps, each at both of Apple's hosts, which see one after the other, and then none until there is a notification.
    @Test func gatewaysLookOneAfterTheOtherAndConnectForWhatThereIsToSend() async throws {
        let stage = try LoopbackStage { text in
            let app = text[text.range(of: "  - name: bisq-connect-ios")!.lowerBound...]
                .prefix { $0 != "#" }.components(separatedBy: "  - name: bisq-remote-android")[0]
            let more = (0..<GatewayLooksTests.apps).map {
                app.replacing("bisq-connect-ios", with: "other-\($0)")
            }
            return text.replacing(app, with: app + more.joined())
        }
        var most = 0
        try await stage.start()
        let apple = stage.world.apple
        try await EventLoop.until {
            most = max(most, apple.figures.openConnections)
            return apple.figures.connections == 2 * (GatewayLooksTests.apps + 2)
                && apple.figures.openConnections == 0
        }
        // The end of one is heard while the next one begins.
        #expect(most <= 2)
        #expect(apple.figures.requests == 0)
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1)).status == .stored)
        try await EventLoop.until { apple.figures.accepted == 1 }
        #expect(apple.figures.openConnections == 1)
        peer.close()
        await stage.close()
    }

    /// The operator learns at the start that a service can't be reached, with nothing to send.
    @Test func aServiceThatIsAwayIsToldAtTheStart() async throws {
        let stage = try LoopbackStage()
        stage.world.apple.close()
        try await stage.start()
        try await until {
            let check = try stage.health()["checks"]?["bisq-remote-ios"]
            return check?["level"]?.string == "warning"
                && check?["state"]?.string?.hasPrefix("no connection") == true
        }
        await stage.close()
    }
}
