import Foundation
import Reactor
import Testing

@testable import Dispatching
@testable import Relay

extension DispatcherTests {
    /// What a gateway waits for by itself, the core does not know of.
    @Test func aRetryOfTheOperatorsReachesTheGatewaysOfItsLanes() async throws {
        let (gateway, other) = (HandGateway(capacity: 0), HandGateway(capacity: 0))
        let dispatcher = try await dispatcher(gateway)
        dispatcher.add(other, for: LaneID(app: "other", host: .production))
        #expect(dispatcher.retryNow(app: "android", host: nil) == 0)
        #expect(gateway.retries == 1 && other.retries == 0)
        #expect(dispatcher.retryNow(app: nil, host: nil) == 0)
        #expect(gateway.retries == 2 && other.retries == 1)
        await dispatcher.stop()
    }

    /// During a mass expiry what waits for a closed app can't be given to another: that is no "nothing waits".
    @Test func whatCanNotBeMovedNowIsNotSaidToBeNothing() async throws {
        let gateway = HandGateway(capacity: 0)
        let dispatcher = try await dispatcher(gateway)
        dispatcher.add(HandGateway(capacity: 0), for: LaneID(app: "other", host: .production))
        let receipts = Receipts()
        dispatcher.submit(submission(1), awaitsOutcome: false) { receipts.add($0) }
        #expect(await receipts.wait(for: 1) == [.stored])
        #expect(dispatcher.move(app: "android", to: "other") == .refused)
        dispatcher.pipeline.remove(Self.lane)
        #expect(dispatcher.move(app: "android", to: "nobody") == .refused)
        dispatcher.pipeline.isSweeping = true
        #expect(dispatcher.move(app: "android", to: "other") == .notNow)
        dispatcher.pipeline.isSweeping = false
        #expect(dispatcher.move(app: "android", to: "other") == .moved(1))
        await dispatcher.stop()
    }
}
