import EndpointWorlds
import HTTP1
import Reactor
import Testing

/// What a client may do wrong or with evil intent: a status or a close, bounded memory, others undisturbed.
@EventLoop
@Suite(.serialized) struct HTTPHostileTests {
    @Test(arguments: HostileRequest.all)
    func aBadRequestHasItsStatusOrACloseAndHarmsNobody(bad: HostileRequest) async throws {
        let world = try await RelayWorld()
        let bystander = try await world.client()
        #expect(await bystander.get("/relay")?.status == 400)
        let client = try await world.client()
        let answer = await client.ask(bad.bytes)
        #expect(answer?.status == bad.status)
        #expect((answer?.body.count ?? 0) > 0)
        if bad.closes {
            await client.waitForEnd()
        } else {
            // The next request on this connection is read from its first byte on.
            #expect(await client.get("/relay")?.status == 400)
        }
        #expect(client.fault == nil)
        #expect(await bystander.get("/relay")?.status == 400)
        #expect(world.dispatcher.waiting == 0)
        await world.end()
    }

    @Test func theSlowestRequestHasADeadlineThatItsBytesDoNotMove() async throws {
        let world = try await RelayWorld { $0.http.requestDeadline = .milliseconds(200) }
        for text in [
            HostileRequest.get("/relay"),
            "POST /v1/fcm HTTP/1.1\r\n\(HostileRequest.host)Content-Length: 900\r\n\r\n{}",
        ] {
            let slow = try await world.client()
            let other = try await world.client()
            for byte in text.utf8 where !slow.hasEnded {
                slow.stream.write([byte])
                await EventLoop.pass(.milliseconds(10))
            }
            #expect(await slow.wait(for: 1).map(\.status) == [408])
            await slow.waitForEnd()
            #expect(await other.get("/relay")?.status == 400)
        }
        await world.end()
    }

    @Test func silenceBetweenRequestsClosesWithoutAWord() async throws {
        let world = try await RelayWorld { $0.http.idleTimeout = .seconds(1) }
        let client = try await world.client()
        #expect(await client.get("/relay")?.status == 400)
        await client.waitForEnd()
        #expect(client.answers.count == 1)
        await world.end()
    }

    @Test func aThousandRequestsAtOnceAreAnsweredInTheirOrder() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        let message = String(repeating: "QUJD", count: 12).utf8.map { String($0, radix: 16) }.joined()
        var expected: [Int] = []
        var text = ""
        for number in 0..<1000 {
            switch number % 3 {
            case 0: text += HostileRequest.get("/\(number)")
            case 1:
                text += HostileRequest.get(
                    "/relay?isAndroid=true&token=\(number)\(HostileRequest.token)&msg=\(message)")
            default: text += HostileRequest.get("/relay?isAndroid=perhaps")
            }
            expected.append([404, 200, 400][number % 3])
        }
        client.send(text)
        #expect(await client.wait(for: 1000).map(\.status) == expected)
        #expect(await world.pushes(333).count == 333)
        await world.end()
    }

    /// Its answers fill the kernel's buffers and 64 KiB of ours; then its requests wait in its own socket.
    @Test func aClientThatReadsNothingIsHeldBackAndThenClosed() async throws {
        let world = try await RelayWorld { $0.http.sendTimeout = .seconds(2) }
        let greedy = try await world.client()
        greedy.stream.pauseReading()
        let many = Array(String(repeating: HostileRequest.get("/nothing"), count: 1000).utf8)
        for _ in 0..<1000 { greedy.stream.write(many) }
        let other = try await world.client()
        for _ in 0..<50 { #expect(await other.get("/relay")?.status == 400) }
        // Of 40 MB a few went into buffers.
        #expect(greedy.stream.unsentBytes > 10_000_000)
        await greedy.waitForEnd()
        #expect(world.server.counters.requests < 200_000)
        await world.end()
    }

    @Test func forOneClientTooManyTheLongestSilentGoes() async throws {
        let world = try await RelayWorld { $0.http.connections = 2 }
        let first = try await world.client()
        let second = try await world.client()
        #expect(await first.get("/relay")?.status == 400)
        #expect(await second.get("/relay")?.status == 400)
        #expect(await first.get("/relay")?.status == 400)
        let third = try await world.client()
        #expect(await third.get("/relay")?.status == 400)
        await second.waitForEnd()
        #expect(await first.get("/relay")?.status == 400)
        #expect(world.server.evictedConnections == 1)
        await world.end()
    }

    @Test func aClientThatWantsToBeAskedFirstSendsItsBodyThen() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        client.send(
            "POST /v1/fcm HTTP/1.1\r\n\(HostileRequest.host)Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        )
        // It is told to go on, which is no answer.
        try await EventLoop.until { client.received > 0 }
        #expect(client.answers.isEmpty)
        client.send("{}")
        #expect(await client.wait(for: 1).map(\.status) == [400])
        await world.end()
    }
}
