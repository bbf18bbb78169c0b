import Clocks
import Encodings
import Reactor
import Relay
import Testing
import Wire

@testable import Gateways

/// Handing on as frames to another node's peer endpoint.
@EventLoop
@Suite(.serialized) struct RelayPeerTests {
    private struct World {
        let node: SimulatedNode
        let gateway: RelayGateway

        @EventLoop
        init(
            request: Duration = .seconds(10), platform: Platform = .android, peer: RelayPeer = RelayPeer()
        ) throws {
            node = try SimulatedNode()
            var limits = RelayGateway.limits
            limits.request = request
            let url = try GatewayURL(peer: node.address)
            gateway = try RelayGateway(
                RelayGatewaySettings(
                    form: .p2p, platform: platform, upstreams: [(url, .direct)], peer: peer, limits: limits),
                pace: SharedRelayPace(), bound: BoundFile([url], path: "", reading: readFile, log: quiet),
                log: quiet)
            gateway.start()
        }

        @EventLoop
        func end() {
            gateway.stop()
            node.close()
        }
    }

    private func sample(_ number: UInt64, host: LaneHost = .android) -> Notification {
        notification(
            message: "BisqMessageAndroid|\(number)", deviceToken: "phone-\(number):" + "x".repeated(40),
            host: host, hasSound: true, id: NotificationID(high: 7, low: number))
    }

    @Test func manyGoOverOneConnection() async throws {
        let world = try World()
        let sent = (0..<60).map { sample($0) }
        let outcomes = await world.gateway.deliverAll(sent)
        #expect(outcomes.count == 60 && outcomes.allSatisfy { $0 == .accepted })
        #expect(Set(world.node.requests.map(\.uid)).count == 60 && world.node.connections <= 4)
        #expect(world.node.requests.allSatisfy { $0.hops == 1 && $0.awaitsOutcome })
        world.end()
    }

    @Test func aRequestSaysAllThatTheSenderSaid() async throws {
        for platform in Platform.allCases {
            let world = try World(platform: platform, peer: RelayPeer(app: "theirs"))
            let sent = sample(1, host: RelayService.host(of: platform))
            #expect(await world.gateway.deliver(sent) == .accepted)
            let request = try #require(world.node.requests.last)
            #expect(request.platform == platform && request.app == "theirs")
            #expect(request.uid == "00000000-0000-0007-0000-000000000001")
            #expect(request.deviceToken == sent.deviceToken.text && request.message == sent.bisq.message)
            #expect(request.isUrgent && request.hasSound && request.isContentAvailable)
            #expect(!request.isMutableContent)
            // The same to the last byte, however often it is made.
            #expect(await world.gateway.deliver(sent) == .accepted)
            #expect(world.node.requests.count == 2 && world.node.requests.last == request)
            world.end()
        }
    }

    /// It lives no longer than the other node allows, whose clock may be an hour late.
    @Test func itExpiresBeforeOursIfItLivesLongest() {
        for (lifetime, expected) in [(60_000, 60_000), (28 * 86_400_000, 28 * 86_400_000 - 3_600_000)]
            as [(Int64, Int64)]
        {
            let sent = notification(expiresAt: UnixTime(milliseconds: lifetime))
            let frame = RelayRequest(sent, sent.bisq, on: .ios, form: .p2p).body
            let envelope = try? Envelope(parsing: Array(frame.dropFirst(frame.count > 128 ? 2 : 1)))
            guard case .notificationRequest(let request)? = envelope?.message else {
                Issue.record("no request")
                return
            }
            #expect(request.expiresAt == expected)
        }
    }

    @Test func eachEndIsTold() async throws {
        let world = try World()
        world.node.steps = [
            .say([.stored, .tokenDead], reason: "UNREGISTERED"), .say([.refused], reason: "BadMessage"),
            .say([.busy], reason: "Busy", retryAfter: 7000), .say([.expired], reason: "Expired"),
            .say([.delivered]), .say([.refused], reason: "Loop"),
        ]
        var outcomes: [Outcome] = []
        for number in UInt64(0)..<6 { outcomes.append(await world.gateway.deliver(sample(number))) }
        #expect(
            outcomes == [
                .tokenDead(reason: "UNREGISTERED", since: nil), .refused(reason: "BadMessage"),
                .deferred(Deferral(reason: "Busy", scope: .device, retryAfter: .seconds(7))),
                .refused(reason: "Expired"), .accepted, .blocked(reason: "Loop"),
            ])
        world.end()
    }

    /// Stored there, and no end: it is asked again, under the same uid.
    @Test func thatItIsStoredIsNotTheEnd() async throws {
        let world = try World(request: .seconds(1))
        world.node.steps = [.say([.stored]), .closes, .bytes([]), .say([.stored, .delivered])]
        let first = await world.gateway.deliver(sample(1))
        #expect(first == .deferred(Deferral(reason: "AnswerTimeout", scope: .device)))
        let second = await world.gateway.deliver(sample(1))
        #expect(second == .deferred(Deferral(reason: "ConnectionLost", scope: .device)))
        _ = await world.gateway.deliver(sample(1))
        #expect(await world.gateway.deliver(sample(1)) == .accepted)
        #expect(Set(world.node.requests).count == 1 && world.node.requests.count == 4)
        world.end()
    }

    @Test func whateverItSaysTheNextOneArrives() async throws {
        let world = try World(request: .seconds(1))
        let ping = Message.ping(Ping(nonce: 7))
        let foreign = MobileNotificationResponse(requestUid: "another", status: .delivered)
        let steps: [SimulatedNode.Step] = [
            .bytes(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)),
            .bytes([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
            .bytes([200, 200, 100]), .bytes([2, 8, 10]), .says(.notificationResponse(foreign)),
            .says(.closeConnection(CloseConnectionMessage(reason: "APP_SHUT_DOWN"))),
            .says(.getPeersRequest(GetPeersRequest(nonce: 1))), .says(ping), .closes,
        ]
        for (number, step) in steps.enumerated() {
            world.node.steps = [step]
            guard case .deferred = await world.gateway.deliver(sample(UInt64(2 * number))) else {
                Issue.record("\(step)")
                continue
            }
            #expect(await world.gateway.deliver(sample(UInt64(2 * number + 1))) == .accepted, "\(step)")
        }
        #expect(world.node.others.contains(.pong(Pong(requestNonce: 7))))
        world.end()
    }

    @Test func aNodeOfAnotherNetworkIsToldToTheOperator() async throws {
        let world = try World()
        world.node.steps = [.says(.closeConnection(CloseConnectionMessage(reason: "WRONG_NETWORK_ID")))]
        #expect(await world.gateway.deliver(sample(1)) == .blocked(reason: "WRONG_NETWORK_ID"))
        #expect(RelayApp.advice(for: "WRONG_NETWORK_ID")?.contains("onion.network") == true)
        world.end()
    }

    @Test func pingsCantMakeItGrow() async throws {
        let world = try World()
        var flood: [UInt8] = []
        for nonce in 0..<1100 {
            Envelope(messageVersion: 10, message: .ping(Ping(nonce: Int32(nonce)))).appendFrame(to: &flood)
        }
        world.node.steps = [.bytes(flood)]
        #expect(
            await world.gateway.deliver(sample(1))
                == .deferred(Deferral(reason: "TooManyPings", scope: .device)))
        #expect(world.node.others.count <= PeerClientSession.mostPings)
        world.end()
    }
}

extension String {
    fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) }
}
