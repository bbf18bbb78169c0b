import Lab
import Reactor
import Relay
import Testing

@testable import Gateways

private func phone(_ number: Int) -> String { "phone-\(number):" + String(repeating: "x", count: 40) }

private func many(_ count: Int, from first: Int = 0) -> [Notification] {
    (first..<first + count).map { number in
        notification(
            message: "BisqMessageAndroid|\(number)", deviceToken: phone(number), host: .android,
            id: NotificationID(high: 7, low: UInt64(number)))
    }
}

/// One or more simulated relays, and a gateway that hands on to them.
@EventLoop
private struct World {
    let relays: [SimulatedRelay]
    let gateway: RelayGateway

    init(
        _ form: RelayForm = .bisq1, relays count: Int = 1, request: Duration = .seconds(10),
        change: (inout RelayGatewaySettings) -> Void = { _ in }
    ) throws {
        var relays: [SimulatedRelay] = []
        for _ in 0..<count { relays.append(try SimulatedRelay()) }
        try self.init(at: relays, form, request: request, change: change)
    }

    /// - Parameter file: where it is written which upstream may have what.
    init(
        at relays: [SimulatedRelay], _ form: RelayForm = .bisq1, file: String = "",
        request: Duration = .seconds(10), change: (inout RelayGatewaySettings) -> Void = { _ in }
    ) throws {
        var limits = RelayGateway.limits
        limits.request = request
        var settings = RelayGatewaySettings(
            form: form, platform: .android,
            upstreams: try relays.map { (try GatewayURL($0.url), .direct) }, limits: limits)
        change(&settings)
        self.relays = relays
        let bound = BoundFile(settings.upstreams.map(\.url), path: file, reading: readFile, log: quiet)
        gateway = try RelayGateway(settings, pace: SharedRelayPace(), bound: bound, log: quiet)
        gateway.start()
    }

    var relay: SimulatedRelay { relays[0] }

    func end() {
        gateway.stop()
        for relay in relays { relay.close() }
    }
}

@Suite(.serialized) @EventLoop struct RelayGatewayTests {
    @Test(arguments: [RelayForm.bisq1, .bisq2]) func allArriveOnceOverFewConnections(form: RelayForm)
        async throws
    {
        let world = try World(form)
        let outcomes = await world.gateway.deliverAll(many(60))
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 60)
        #expect(Set(world.relay.book.map(\.message)).count == 60 && world.relay.book.count == 60)
        #expect(world.relay.figures.mostConnections <= 4)
        #expect(world.relay.figures.limited == 0)
        #expect(world.relay.book.allSatisfy { $0.hops == "1" && $0.isAndroid })
        world.end()
    }

    @Test func aConnectionIsClosedSoonAndOpenedAgain() async throws {
        let world = try World { $0.limits.rest = .milliseconds(50) }
        for notification in many(3) {
            #expect(await world.gateway.deliver(notification) == .accepted)
            try await EventLoop.until { world.relay.figures.openConnections == 0 }
        }
        #expect(world.relay.figures.connections >= 3)
        let figures = world.gateway.figures
        #expect(figures.connections == 0 && figures.isResting && figures.connectionFailures == 0)
        world.end()
    }

    /// A GET gives no reason: the device of nobody is believed at once, others are asked for again.
    @Test func aRefusalWithoutAReasonIsDoubted() async throws {
        let world = try World()
        world.relay.refused = [phone(1): "UNREGISTERED"]
        let refused = many(1, from: 1)[0]
        #expect(await world.gateway.deliver(refused) == deferred("HTTP400", .device, after: .seconds(75)))
        #expect(await world.gateway.deliver(many(1)[0]) == .accepted)
        #expect(await world.gateway.deliver(refused) == deferred("HTTP400", .device, after: .seconds(150)))
        #expect(await world.gateway.deliver(refused) == deferred("HTTP400", .device, after: .seconds(300)))
        #expect(await world.gateway.deliver(refused) == .refused(reason: "RelayRefused"))
        let nobody = notification(deviceToken: DeviceToken.opaqueOfNobody.text, host: .android)
        #expect(await world.gateway.deliver(nobody) == .refused(reason: "HTTP400"))
        world.end()
    }

    @Test func aPOSTSaysWhatItIs() async throws {
        let world = try World(.bisq2)
        world.relay.refused = [phone(1): "UNREGISTERED", phone(2): "INVALID_ARGUMENT"]
        #expect(
            await world.gateway.deliver(many(1, from: 1)[0]) == .tokenDead(reason: "UNREGISTERED", since: nil)
        )
        #expect(await world.gateway.deliver(many(1, from: 2)[0]) == .refused(reason: "INVALID_ARGUMENT"))
        world.relay.isBreakerOpen = true
        #expect(
            await world.gateway.deliver(many(1, from: 3)[0])
                == deferred("ServiceUnavailable", .host, after: .seconds(60)))
        world.end()
    }

    /// Each fault between two that are accepted. It takes six seconds: those that are accepted have as long as the others.
    @Test func whateverItAnswersTheNextOneArrives() async throws {
        let world = try World(.bisq2, request: .seconds(1))
        let endless = Array("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".utf8)
        let large = endless + [UInt8](repeating: 0x20, count: 40_000)
        let half = Array("HTTP/1.1 200 OK\r\nContent-Length: 46\r\n\r\n{\"wasAccepted\":true".utf8)
        let lost = deferred("ConnectionLost", .device)
        let late = deferred("AnswerTimeout", .device)
        let table: [(RelayFault, Outcome)] = [
            (
                .answer(status: 302, fields: ["location": "http://elsewhere.example/"]),
                .blocked(reason: "HTTP302")
            ),
            (.answer(status: 404), .blocked(reason: "HTTP404")),
            (.answer(status: 415), deferred("HTTP415", .host, after: .seconds(300))),
            (.answer(status: 429), deferred("HTTP429", .app, after: .seconds(10))),
            (
                .answer(status: 503, fields: ["retry-after": "7"]),
                deferred("HTTP503", .host, after: .seconds(7))
            ),
            (.answer(status: 500), deferred("HTTP500", .host)),
            (.answer(status: 200, "<html>"), deferred("BadAnswer", .host)),
            (.close(isDelivered: false), lost), (.close(isDelivered: true), lost),
            (.bytes(Array("SSH-2.0-dropbear\r\n\r\n".utf8), thenCloses: false), lost),
            (.bytes(half, thenCloses: true), lost), (.bytes(large, thenCloses: false), lost),
            (.bytes([0, 1, 2, 255], thenCloses: true), lost),
            (.bytes(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), thenCloses: false), late),
            (.drip(Array("x: y\r\n".utf8)), late), (.drip(Array("HTTP/1.1 102 A\r\n\r\n".utf8)), late),
            (.silence(isDelivered: false), late), (.delay(.seconds(2)), late),
        ]
        for (number, row) in table.enumerated() {
            world.relay.faults = [row.0]
            let (first, second) = (many(1, from: 2 * number)[0], many(1, from: 2 * number + 1)[0])
            #expect(await world.gateway.deliver(first) == row.1, "\(row.0)")
            #expect(await world.gateway.deliver(second) == .accepted, "after \(row.0)")
        }
        world.end()
    }

    @Test func anAnswerBeforeItsRequestIsNone() async throws {
        let world = try World()
        let twice = Array("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nsuccess".utf8)
        world.relay.faults = [.bytes(twice + twice, thenCloses: false)]
        let outcomes = await world.gateway.deliverAll(many(2))
        #expect(outcomes == [.accepted, .accepted])
        // The second one was not taken for the answer to the second request.
        #expect(world.relay.book.count == 1)
        world.end()
    }

    /// Nothing waits for it, and the operator is told all the same.
    @Test func aRelayThatIsAwayIsSeenBeforeItIsNeeded() async throws {
        let world = try World { $0.look = .milliseconds(100) }
        try await EventLoop.until { world.relay.figures.connections > 0 }
        let endpoint = world.relay.endpoint
        world.relay.close()
        try await EventLoop.until { world.gateway.figures.connectionFailures > 0 }
        #expect(!world.gateway.figures.isResting && world.gateway.figures.lastError != nil)
        let again = try SimulatedRelay(on: endpoint)
        try await EventLoop.until { world.gateway.figures.isResting }
        #expect(again.figures.requests == 0)
        again.close()
        world.end()
    }

    // MARK: Several

    @Test func theNextOneIsAskedWhenTheFirstIsAway() async throws {
        let world = try World(relays: 2)
        world.relay.close()
        let outcomes = await world.gateway.deliverAll(many(10))
        #expect(outcomes.allSatisfy { $0 == .accepted } && world.relays[1].book.count == 10)
        world.end()
    }

    @Test(arguments: [429, 503]) func theNextOneIsAskedWhenTheFirstTakesNothing(status: Int) async throws {
        let world = try World(relays: 2)
        world.relay.outage = .answer(status: status)
        let outcomes = await deliverAll(many(10), by: world.gateway)
        #expect(outcomes.allSatisfy { $0 == .accepted } && world.relays[1].book.count == 10)
        #expect(world.relay.figures.requests <= 4)
        world.end()
    }

    @Test func whatMayHaveBeenTakenStaysWhereItWas() async throws {
        let world = try World(relays: 2)
        world.relay.faults = [.close(isDelivered: true)]
        let first = many(1)[0]
        #expect(await world.gateway.deliver(first) == deferred("ConnectionLost", .device))
        // Now the first one takes nothing more, and the second one serves.
        world.relay.outage = .answer(status: 503)
        #expect(await world.gateway.deliverAll(many(3, from: 1)).allSatisfy { $0 == .accepted })
        #expect(world.relays[1].book.count == 3)
        var again = await world.gateway.deliver(first)
        if case .deferred(let deferral) = again, deferral.reason == "UpstreamAway" {
            again = await world.gateway.deliver(first)
        }
        guard case .deferred = again else {
            Issue.record("\(again)")
            return
        }
        world.relay.outage = nil
        var outcome = again
        while case .deferred = outcome { outcome = await world.gateway.deliver(first) }
        #expect(outcome == .accepted)
        #expect(world.relay.book.map(\.message) == ["BisqMessageAndroid|0", "BisqMessageAndroid|0"])
        #expect(world.relays[1].book.count == 3)
        world.end()
    }

    /// It was killed while the first one had it, or after an answer that says nothing: after the start it asks that one
    /// again, and no other.
    @Test(arguments: [false, true]) func itStaysWhereItWasAfterARestart(isAnswered: Bool) async throws {
        let directory = try LabDirectory()
        let relays = [try SimulatedRelay(), try SimulatedRelay()]
        let file = directory.path + "/upstreams-a"
        let first = many(1)[0]
        relays[0].faults = [isAnswered ? .answer(status: 500) : .silence(isDelivered: true)]
        let before = try World(at: relays, file: file)
        if isAnswered {
            #expect(await before.gateway.deliver(first) == deferred("HTTP500", .host))
        } else {
            Task { _ = await before.gateway.deliver(first) }
            try await EventLoop.until { !relays[0].book.isEmpty }
        }
        // A process that is killed writes nothing more.
        let after = try World(at: relays, file: file)
        relays[0].outage = .answer(status: 503)
        #expect(await deliverAll(many(3, from: 1), by: after.gateway).allSatisfy { $0 == .accepted })
        #expect(
            await after.gateway.deliver(first) == deferred("HTTP503", .device, after: .seconds(10)))
        #expect(Set(relays[1].book.map(\.message)) == Set(many(3, from: 1).map(\.bisq.message)))
        #expect(relays[1].book.count == 3)
        relays[0].outage = nil
        var outcome = await after.gateway.deliver(first)
        while case .deferred = outcome, !Task.isCancelled { outcome = await after.gateway.deliver(first) }
        #expect(outcome == .accepted && relays[1].book.count == 3)
        before.end()
        after.end()
        await directory.remove()
    }

    @Test func onlyWhatMayHaveBeenTakenIsWrittenDown() async throws {
        let directory = try LabDirectory()
        let relays = [try SimulatedRelay(), try SimulatedRelay()]
        let file = directory.path + "/upstreams-a"
        let world = try World(at: relays, file: file)
        relays[0].faults = [.close(isDelivered: true)]
        _ = await world.gateway.deliver(many(1)[0])
        #expect(await world.gateway.deliverAll(many(20, from: 1)).allSatisfy { $0 == .accepted })
        #expect(await world.gateway.deliver(many(1, from: 21)[0]) == .accepted)
        let written = try PrivateFile.read(file, limit: 1 << 18)
        // The one that is unclear, and the last ones that were on their way.
        #expect((1...5).contains(written.count / BoundNotifications.recordLength))
        var read = BoundNotifications(try relays.map { try GatewayURL($0.url) })
        read.read(written + [1, 2, 3])
        #expect(read[many(1)[0].id] == 0)
        // Another list of upstreams, in another order.
        var other = BoundNotifications(try relays.reversed().map { try GatewayURL($0.url) })
        other.read(written)
        #expect(other[many(1)[0].id] == 1)
        var none = BoundNotifications([try GatewayURL("http://127.0.0.1:1")])
        none.read(written)
        #expect(none.count == 0)
        world.end()
        await directory.remove()
    }

    @Test func oneUpstreamNeedsNoFile() async throws {
        let directory = try LabDirectory()
        let world = try World(at: [try SimulatedRelay()], file: directory.path + "/upstreams-a")
        #expect(await world.gateway.deliver(many(1)[0]) == .accepted)
        #expect(try PrivateFile.names(in: directory.path).isEmpty)
        world.end()
        await directory.remove()
    }

    /// A disk that can't be written holds up nothing.
    @Test func withoutADiskItGoesOn() async throws {
        let world = try World(
            at: [try SimulatedRelay(), try SimulatedRelay()], file: "/dev/null/upstreams-a")
        #expect(await world.gateway.deliverAll(many(10)).allSatisfy { $0 == .accepted })
        world.end()
    }

    @Test func theFirstIsAskedAgainAfterAWhile() async throws {
        let world = try World(relays: 2) { $0.away = .seconds(1) }
        world.relay.outage = .answer(status: 503)
        #expect(await world.gateway.deliver(many(1)[0]) == deferred("HTTP503", .device, isUnharmed: true))
        #expect(await deliverAll(many(3), by: world.gateway).allSatisfy { $0 == .accepted })
        #expect(world.relays[1].book.count == 3)
        world.relay.outage = nil
        // Called again after a second, it has what comes once the connection stands.
        var number = 4
        repeat {
            await EventLoop.pass(.milliseconds(200))
            #expect(await world.gateway.deliver(many(1, from: number)[0]) == .accepted)
            number += 1
        } while world.relay.book.isEmpty && !Task.isCancelled
        #expect(world.relay.book.count == 1 && world.relays[1].book.count == number - 2)
        world.end()
    }

    /// Whoever comes before the next upstream has been called comes again.
    private func deliverAll(_ notifications: [Notification], by gateway: RelayGateway) async -> [Outcome] {
        var outcomes = await gateway.deliverAll(notifications)
        for index in outcomes.indices {
            while case .deferred(let deferral) = outcomes[index], deferral.reason == "UpstreamAway" {
                outcomes[index] = await gateway.deliver(notifications[index])
            }
        }
        return outcomes
    }

    private func deferred(
        _ reason: String, _ scope: Deferral.Scope, after: Duration? = nil, isUnharmed: Bool = false
    ) -> Outcome {
        .deferred(Deferral(reason: reason, scope: scope, retryAfter: after, isUnharmed: isUnharmed))
    }
}
