import Encodings
import Lab
import Reactor
import Relay
import Testing

@testable import Gateways

/// Who waits for room at one of several upstreams is told by that room, with the gateway's own limits.
@Suite(.serialized) @EventLoop struct RelayRoomTests {
    private func phone(_ number: Int) -> Notification {
        notification(
            message: "BisqMessageAndroid|\(number)",
            deviceToken: "phone-\(number):" + String(repeating: "x", count: 40), host: .android,
            id: NotificationID(high: 7, low: UInt64(number)))
    }

    private func gateway(
        _ relays: [SimulatedRelay], _ bound: BoundFile? = nil, _ pace: SharedRelayPace = SharedRelayPace(),
        platform: Platform = .android, look: Duration? = .seconds(600)
    ) throws -> RelayGateway {
        let urls = try relays.map { try GatewayURL($0.url) }
        var settings = RelayGatewaySettings(
            form: .bisq1, platform: platform, upstreams: urls.map { ($0, .direct) })
        settings.look = look
        let gateway = try RelayGateway(
            settings, pace: pace,
            bound: bound ?? BoundFile(urls, path: "", reading: readFile, log: quiet), log: quiet)
        gateway.start()
        return gateway
    }

    private func binding(_ notification: Notification, to upstream: Int, of relays: [SimulatedRelay]) throws
        -> BoundFile
    {
        let urls = try relays.map { try GatewayURL($0.url) }
        let bound = BoundFile(urls, path: "", reading: readFile, log: quiet)
        bound.bind(notification.id, to: upstream) { _ in }
        bound.unclear(notification.id)
        return bound
    }

    /// Whatever is asked meanwhile: the first one serves, and nothing else calls the second one.
    @Test func whatIsBoundToAnotherUpstreamGoesWhenThatHasRoom() async throws {
        let relays = [try SimulatedRelay(), try SimulatedRelay()]
        let gateway = try gateway(relays, try binding(phone(0), to: 1, of: relays))
        #expect(await gateway.deliver(phone(1)) == .accepted)
        let outcome = await gateway.deliver(phone(0))
        #expect(
            outcome
                == .deferred(
                    Deferral(reason: "UpstreamAway", scope: .device, retryAfter: .seconds(30), way: 1)))
        var again: Outcome?
        await withCheckedContinuation { continuation in
            gateway.onWay = { [phone] way, room in
                guard way == 1, room > 0, again == nil else { return false }
                again = .deferred(Deferral(reason: "sent", scope: .device))
                gateway.send(phone(0)) {
                    again = $0
                    continuation.resume()
                }
                return false
            }
        }
        #expect(again == .accepted)
        #expect(relays[1].book.map(\.message) == ["BisqMessageAndroid|0"] && relays[0].book.count == 1)
        gateway.stop()
        for relay in relays { relay.close() }
    }

    /// More wait than it has room for: the link is asked for more as long as they do.
    @Test func whatWaitsForAnUpstreamGoesOneAfterTheOther() async throws {
        let relays = [try SimulatedRelay(), try SimulatedRelay()]
        let urls = try relays.map { try GatewayURL($0.url) }
        let bound = BoundFile(urls, path: "", reading: readFile, log: quiet)
        for number in 0..<20 {
            bound.bind(phone(number).id, to: 1) { _ in }
            bound.unclear(phone(number).id)
        }
        let gateway = try gateway(relays, bound)
        #expect(await gateway.deliver(phone(99)) == .accepted)
        var waiting = Array(0..<20)
        var accepted = 0
        gateway.onWay = { [phone] _, room in
            for number in waiting.prefix(room) {
                gateway.send(phone(number)) { if $0 == .accepted { accepted += 1 } }
            }
            waiting.removeFirst(min(room, waiting.count))
            return !waiting.isEmpty
        }
        gateway.send(phone(0)) { _ in }
        try await EventLoop.until { accepted == 20 }
        #expect(relays[1].book.count == 20)
        gateway.stop()
        for relay in relays { relay.close() }
    }

    /// A detour is one, however long its circuit takes: the first one has no word for this device.
    @Test func whatTakesADetourGoesWhenThatUpstreamHasRoom() async throws {
        let relays = [try SimulatedRelay(), try SimulatedRelay()]
        let gateway = try gateway(relays)
        relays[0].faults = [.answer(status: 503)]
        var outcomes: [Outcome] = [await gateway.deliver(phone(0))]
        gateway.onWay = { [phone] way, room in
            if way == 1, room > 0, outcomes.count == 2 { gateway.send(phone(0)) { outcomes.append($0) } }
            return false
        }
        gateway.send(phone(0)) { outcomes.append($0) }
        try await EventLoop.until { outcomes.count == 3 }
        #expect(
            outcomes[1]
                == .deferred(
                    Deferral(reason: "UpstreamAway", scope: .device, retryAfter: .seconds(2), way: 1)))
        #expect(outcomes[2] == .accepted && relays[1].book.count == 1)
        gateway.stop()
        for relay in relays { relay.close() }
    }

    // MARK: Shared by lanes

    /// The other platform's notifications are being written down, one is on its way and the next one waits.
    @Test func whatAnotherLaneWritesDownTakesNoRoom() async throws {
        let directory = try LabDirectory()
        let relays = [try SimulatedRelay(), try SimulatedRelay()]
        let urls = try relays.map { try GatewayURL($0.url) }
        let bound = BoundFile(urls, path: directory.path + "/upstreams-a", reading: readFile, log: quiet)
        let pace = SharedRelayPace()
        let android = try gateway(relays, bound, pace)
        let ios = try gateway(relays, bound, pace, platform: .ios, look: nil)
        ios.noteBacklog()
        try await EventLoop.until { android.capacity == 1 && ios.capacity == 1 }
        var written = 0
        for number in 0..<2 { bound.bind(phone(number).id, to: 0) { _ in written += 1 } }
        #expect(written == 0 && ios.capacity == 1)
        var outcome: Outcome?
        android.send(phone(2)) { outcome = $0 }
        // What is being written down has its place already.
        #expect(android.capacity == 0 && ios.capacity == 1)
        try await EventLoop.until { outcome == .accepted }
        #expect(written == 2 && relays[0].book.count == 1)
        android.stop()
        ios.stop()
        for relay in relays { relay.close() }
        await directory.remove()
    }

    @Test func whatIsBeingWrittenDownHasItsPlace() async throws {
        let directory = try LabDirectory()
        let relays = [try SimulatedRelay(), try SimulatedRelay()]
        let urls = try relays.map { try GatewayURL($0.url) }
        let bound = BoundFile(urls, path: directory.path + "/upstreams-a", reading: readFile, log: quiet)
        let gateway = try gateway(relays, bound)
        try await EventLoop.until { gateway.capacity == 1 }
        var outcomes: [Outcome] = []
        gateway.send(phone(0)) { outcomes.append($0) }
        #expect(gateway.capacity == 0)
        gateway.send(phone(1)) { outcomes.append($0) }
        try await EventLoop.until { outcomes.count == 2 }
        #expect(
            outcomes == [
                .deferred(Deferral(reason: "NoConnection", scope: .device, isUnharmed: true)), .accepted,
            ])
        gateway.stop()
        for relay in relays { relay.close() }
        await directory.remove()
    }

    /// One lane has more than the pace lets through: the other one is not behind all of it.
    @Test func thePaceIsForEachLaneInTurn() async throws {
        let pace = SharedRelayPace()
        while pace.pace.delay(at: EventLoop.now) == .zero {
            _ = pace.pace.take(for: DeviceToken("\(pace.pace.deviceCount)"), at: EventLoop.now)
        }
        let (busy, other) = (DoubtfulLane(), DoubtfulLane())
        func take(_ lane: DoubtfulLane) {
            lane.taken += 1
            _ = pace.pace.take(for: DeviceToken("\(pace.pace.deviceCount)"), at: EventLoop.now)
        }
        func goOn() {
            take(busy)
            pace.wait(busy) { goOn() }
        }
        pace.wait(busy) { goOn() }
        pace.wait(busy) { Issue.record("twice in the line") }
        try await EventLoop.until { busy.taken == 3 }
        let before = busy.taken
        pace.wait(other) { take(other) }
        try await EventLoop.until { other.taken == 1 }
        #expect(busy.taken <= before + 2)
    }

    private final class DoubtfulLane { var taken = 0 }

    // MARK: A proxy's word

    /// nginx says 502 too when the relay has broken off having it: whoever was told so is told to the same relay again, and
    /// those that come after go to the next one.
    @Test func whatAProxyHasLostStaysAndTheOthersGoOn() async throws {
        let relays = [try SimulatedRelay(), try SimulatedRelay()]
        let gateway = try gateway(relays)
        relays[0].outage = .answer(status: 502)
        var lost: [Int] = []
        for number in 0..<10 {
            var outcome = await gateway.deliver(phone(number))
            while case .deferred(let deferral) = outcome, deferral.reason == "UpstreamAway" {
                outcome = await gateway.deliver(phone(number))
            }
            guard outcome != .accepted else { continue }
            lost.append(number)
            guard case .deferred(let deferral) = outcome else { return #expect(outcome == .accepted) }
            #expect(deferral.reason == "HTTP502" && deferral.retryAfter == .seconds(10))
            #expect(!deferral.isUnharmed)
        }
        // As many as are believed.
        #expect(lost == [0, 1, 2] && relays[1].book.count == 7 && relays[0].book.isEmpty)
        guard case .deferred(let deferral) = await gateway.deliver(phone(0)) else {
            return #expect(Bool(false))
        }
        #expect(deferral.way == 0 || deferral.reason == "HTTP502")
        #expect(relays[1].book.count == 7)
        gateway.stop()
        for relay in relays { relay.close() }
    }
}
