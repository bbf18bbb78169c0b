import HTTP2
import JSONCoding
import Reactor
import TLS
import Testing

@testable import Lab

@EventLoop
@Suite struct GatewayFaultTests {
    let lab: LabCredentials
    let simulator: GatewaySimulator
    let payload = Array(#"{"aps":{"alert":"x"}}"#.utf8)

    init() async throws {
        lab = await LabCredentials.prepared()
        simulator = try GatewaySimulator(
            .apns(lab.apnsRules(topics: [LabCredentials.topic])), try lab.serverContext())
    }

    /// A client that has sent one good push, so that all streams are open.
    private func connect() async throws -> PushClient {
        let faults = simulator.faults
        simulator.faults = FaultScript()
        let client = try await PushClient.connect(to: simulator, try lab.clientContext())
        _ = await push(client)
        simulator.forgetBook()
        simulator.faults = faults
        return client
    }

    private func push(_ client: PushClient, to token: String = LabCredentials.deviceToken) async
        -> PushOutcome
    {
        guard let fields = try? lab.pushFields() else { return .failed(.refused) }
        return await client.send(client.head(path: "/3/device/\(token)", fields), payload)
    }

    /// Good pushes, each to another device.
    private func heads(_ client: PushClient, count: Int, length: Int = 32) throws -> [HTTP2Headers] {
        let fields = try lab.pushFields()
        return (100..<100 + count).map { number in
            let token = String(repeating: "\(number)a", count: length / 2)
            return client.head(path: "/3/device/\(token)", fields)
        }
    }

    @Test func anErrorIsAnsweredInTheServicesForm() async throws {
        simulator.faults = FaultScript([
            FaultRule(.answer(status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000), times: 1),
            FaultRule(.answer(status: 429, reason: "TooManyRequests", retryAfter: "7"), times: 1),
            FaultRule(.page(status: 502), times: 1),
        ])
        let client = try await connect()
        #expect(
            await push(client)
                == .answered(410, #"{"reason":"Unregistered","timestamp":1700000000000}"#))
        #expect(await push(client) == .answered(429, #"{"reason":"TooManyRequests"}"#))
        #expect(client.lastAnswer?.headers["retry-after"] == "7")
        guard case .answered(502, let page) = await push(client) else {
            Issue.record("no page")
            return
        }
        #expect(page.hasPrefix("<!DOCTYPE html>"))
        #expect(await push(client) == .answered(200, ""))
        #expect(simulator.book.count == 1)
        simulator.close()
    }

    @Test func aFaultMayConcernOneDevice() async throws {
        let other = String(repeating: "b1", count: 32)
        simulator.faults = FaultScript([
            FaultRule(.answer(status: 400, reason: "BadDeviceToken"), when: .deviceToken(other))
        ])
        let client = try await connect()
        #expect(await push(client, to: other) == .answered(400, #"{"reason":"BadDeviceToken"}"#))
        #expect(await push(client) == .answered(200, ""))
        #expect(await push(client, to: other) == .answered(400, #"{"reason":"BadDeviceToken"}"#))
        simulator.close()
    }

    @Test func streamsAreReset() async throws {
        simulator.faults = FaultScript([
            FaultRule(.resetStream(.refusedStream), times: 1),
            FaultRule(.resetStream(.streamClosed), times: 1),
        ])
        let client = try await connect()
        #expect(await push(client) == .failed(.refused))
        #expect(await push(client) == .failed(.reset(.streamClosed)))
        #expect(await push(client) == .answered(200, ""))
        #expect(simulator.book.count == 1)
        simulator.close()
    }

    /// Before delivery and before the answer look the same to the sender; the book knows.
    @Test(
        arguments: [
            (.beforeDelivery, .failed(.connectionLost), 0), (.beforeAnswer, .failed(.connectionLost), 1),
            (.afterAnswer, .answered(200, ""), 1),
        ] as [(GatewayFault.ClosePoint, PushOutcome, Int)])
    func connectionsBreakWhereTheyAreTold(
        point: GatewayFault.ClosePoint, expected: PushOutcome, booked: Int
    ) async throws {
        let client = try await connect()
        simulator.faults = FaultScript([FaultRule(.closeConnection(point))])
        #expect(await push(client) == expected)
        await client.ended()
        #expect(simulator.book.count == booked)
        #expect(simulator.figures.openConnections == 0)
        simulator.close()
    }

    @Test func silenceConcernsOneRequestOnly() async throws {
        let client = try await connect()
        simulator.faults = FaultScript([
            FaultRule(.silence(isDelivered: false), times: 1),
            FaultRule(.silence(isDelivered: true), times: 1),
        ])
        // The third is answered; then the client gives up on the others.
        client.onAnswer = { [unowned client] in client.close() }
        let outcomes = await client.sendAll(try heads(client, count: 3), payload)
        #expect(outcomes.map(\.request) == [2, 0, 1])
        #expect(outcomes[0].outcome == .answered(200, ""))
        #expect(outcomes[1].outcome == .failed(.connectionLost))
        #expect(outcomes[2].outcome == .failed(.connectionLost))
        #expect(simulator.book.count == 2)
        simulator.close()
    }

    @Test func aLateAnswerHoldsUpNoOther() async throws {
        let client = try await connect()
        simulator.faults = FaultScript([FaultRule(.delay(.milliseconds(50)), times: 1)])
        let outcomes = await client.sendAll(try heads(client, count: 2), payload)
        #expect(outcomes.map(\.request) == [1, 0])
        #expect(simulator.book.count == 2)
        simulator.close()
    }

    @Test func aGracefulGoawayLetsItsStreamsEnd() async throws {
        let client = try await connect()
        simulator.faults = FaultScript([
            FaultRule(.goaway(reason: "Shutdown", isGraceful: true), when: .every(3))
        ])
        let outcomes = await client.sendAll(try heads(client, count: 5), payload).map(\.outcome)
        #expect(outcomes.count { $0 == .answered(200, "") } == 3)
        #expect(outcomes.count { $0 == .failed(.refused) } == 2)
        await client.ended()
        #expect(simulator.book.count == 3)
        let debug = Array(#"{"reason":"Shutdown"}"#.utf8)
        #expect(
            client.connectionEvents.contains {
                if case .goaway(_, .noError, debug) = $0 { true } else { false }
            })
        simulator.close()
    }

    @Test func anAbruptGoawayEndsTheConnection() async throws {
        let client = try await connect()
        simulator.faults = FaultScript([
            FaultRule(.goaway(reason: "BadCertificateEnvironment", isGraceful: false), times: 1)
        ])
        #expect(await push(client) == .failed(.refused))
        await client.ended()
        #expect(simulator.book.isEmpty)
        simulator.close()
    }

    @Test func settingsShrink() async throws {
        let client = try await connect()
        simulator.faults = FaultScript([FaultRule(.limitStreams(2), times: 1)])
        #expect(await push(client) == .answered(200, ""))
        #expect(await push(client) == .answered(200, ""))
        #expect(client.http2.maxConcurrentStreams == 2)
        simulator.close()
    }

    /// The same seed strikes the same requests; about as many as it is told.
    @Test func oneSeedReplaysARun() {
        func strikes(seed: UInt64) -> [Bool] {
            var script = FaultScript([FaultRule(.page(status: 502), when: .probability(0.25))], seed: seed)
            return (0..<1000).map { _ in script.fault(for: .push, deviceToken: nil) != nil }
        }
        #expect(strikes(seed: 7) == strikes(seed: 7))
        #expect(strikes(seed: 7) != strikes(seed: 8))
        #expect((200...300).contains(strikes(seed: 7).count { $0 }))
    }

    /// What was answered 200 and the book are the same, whatever goes wrong in between.
    @Test func theBookHoldsExactlyWhatWasAccepted() async throws {
        simulator.faults = FaultScript(
            [
                FaultRule(.resetStream(.refusedStream), when: .probability(0.1)),
                FaultRule(.answer(status: 503, reason: "ServiceUnavailable"), when: .probability(0.1)),
                FaultRule(.goaway(reason: nil, isGraceful: true), when: .every(40)),
            ], seed: 42)
        var accepted = 0
        for round in 0..<4 {
            let client = try await PushClient.connect(to: simulator, try lab.clientContext())
            let outcomes = await client.sendAll(
                try heads(client, count: 100, length: 32 + 2 * round), payload
            ).map(\.outcome)
            #expect(outcomes.count == 100)
            accepted += outcomes.count { $0 == .answered(200, "") }
            client.close()
        }
        #expect(simulator.book.count == accepted)
        #expect(Set(simulator.book.map(\.deviceToken)).count == accepted)
        #expect(accepted > 50)
        simulator.close()
    }
}
