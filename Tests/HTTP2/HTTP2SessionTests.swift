import Testing

@testable import HTTP2

@Suite struct HTTP2SessionTests {
    /// Whatever the reads, requests and answers are the same.
    @Test(arguments: [1...1, 1...9, 1...3000, 65_536...65_536])
    func requestsAndAnswersArriveWhole(pieces: ClosedRange<Int>) throws {
        let pair = HTTP2Pair(pieces: pieces)
        pair.onRequest = { server, stream, request in
            var headers = HTTP2Headers()
            headers.add("apns-id", request.headers[":path"] ?? "")
            server.respond(
                stream, status: request.body.isEmpty ? 400 : 200, headers: headers, body: request.body)
        }
        let bodies = [0, 1, 600, 20_000, 65_536].map { [UInt8](repeating: 0x41, count: $0) }
        for round in 0..<3 {
            for (number, body) in bodies.enumerated() {
                pair.client.submit(pushHead(number), body: body, tag: round * 10 + number)
            }
            pair.run()
        }
        var answered = 0
        for case .answered(let tag, let answer) in pair.clientEvents {
            #expect(answer.status == (tag % 10 == 0 ? 400 : 200))
            #expect(answer.body == bodies[tag % 10])
            #expect(answer.headers["apns-id"] == "/3/device/\(tag % 10)")
            #expect(answer.headers["apns-topic"] == nil)
            answered += 1
        }
        #expect(answered == 15)
        #expect(pair.client.openStreams == 0)
        #expect(pair.server.openStreams == 0)
        for case .request(_, let request) in pair.serverEvents {
            #expect(request.headers[":method"] == "POST")
            #expect(request.headers[":scheme"] == "https")
            #expect(request.headers[":authority"] == "push.example")
            #expect(request.headers["authorization"] == "bearer abc")
            #expect(request.headers.count == 6)
        }
    }

    @Test func theServersLimitIsKeptUpAndDown() {
        let pair = HTTP2Pair(presumedStreams: 1, maxConcurrentStreams: 1)
        #expect(pair.client.freeStreams == 1)
        for tag in 0..<10 { pair.client.submit(pushHead(tag), body: [1], tag: tag) }
        pair.run()
        #expect(pair.requests == 1)
        #expect(pair.client.maxConcurrentStreams == 1)
        #expect(pair.client.freeStreams == -9)
        pair.server.allow(maxConcurrentStreams: 5)
        pair.run()
        #expect(pair.requests == 5)
        #expect(pair.client.maxConcurrentStreams == 5)
        pair.server.allow(maxConcurrentStreams: 2)
        pair.run()
        for stream: Int32 in [1, 3, 5] { pair.server.respond(stream, status: 200) }
        pair.run()
        #expect(pair.requests == 5)
        pair.server.respond(7, status: 200)
        pair.run()
        #expect(pair.requests == 6)
        let limits = pair.clientConnectionEvents.compactMap {
            if case .settings(let limit) = $0 { limit } else { nil }
        }
        #expect(limits == [1, 5, 2])
    }

    @Test func streamsTheServerResetsAreToldApart() {
        let pair = HTTP2Pair()
        pair.onRequest = { server, stream, request in
            switch stream {
            case 1: server.reset(stream, code: .refusedStream)
            case 3: server.reset(stream, code: .streamClosed)
            case 5: server.reset(stream, code: .cancel)
            default: server.respond(stream, status: 200)
            }
        }
        for tag in 0..<4 { pair.client.submit(pushHead(tag), body: [1, 2], tag: tag) }
        pair.run()
        #expect(pair.outcomes[0] == "refused")
        #expect(pair.outcomes[1] == "\(HTTP2RequestFailure.reset(.streamClosed))")
        #expect(pair.outcomes[2] == "\(HTTP2RequestFailure.reset(.cancel))")
        #expect(pair.outcomes[3] == "200")
    }

    /// Above the last stream nothing was handled; below, answers still come; then the connection is over.
    /// After 2^30 requests no stream number is left: what comes then is unharmed, and the connection is told to end, so
    /// that its owner opens another one.
    @Test func aConnectionWithoutStreamNumbersIsOverAndWhatItTookIsAnswered() {
        let pair = HTTP2Pair(firstStream: .max - 2)
        pair.onRequest = { server, stream, _ in server.respond(stream, status: 200) }
        for number in 1...4 { pair.client.submit(pushHead(number), body: [1], tag: number) }
        pair.run()
        pair.takeEvents()
        #expect(pair.outcomes == [1: "200", 2: "200", 3: "refused", 4: "refused"])
        let ends = pair.clientConnectionEvents.count { if case .goaway = $0 { true } else { false } }
        #expect(ends == 2)
    }

    @Test func goawayPartsTheRequestsInTwo() {
        let pair = HTTP2Pair()
        for tag in 0..<4 { pair.client.submit(pushHead(tag), body: [1], tag: tag) }
        pair.run()
        pair.server.goaway(lastStream: 3, code: .noError, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
        pair.run()
        #expect(pair.outcomes == [2: "refused", 3: "refused"])
        #expect(
            pair.clientConnectionEvents.contains(
                .goaway(lastStream: 3, code: .noError, debug: Array(#"{"reason":"Shutdown"}"#.utf8))))
        // Asked too late: refused without being sent.
        pair.client.submit(pushHead(9), body: [1], tag: 9)
        pair.run()
        #expect(pair.outcomes[9] == "refused")
        pair.server.respond(1, status: 200)
        pair.run()
        #expect(!pair.clientConnectionEvents.contains(.ended(nil)))
        pair.server.respond(3, status: 410)
        pair.run()
        #expect(pair.outcomes == [0: "200", 1: "410", 2: "refused", 3: "refused", 9: "refused"])
        #expect(pair.clientConnectionEvents.last == .ended(nil))
        #expect(pair.serverConnectionEvents.last == .ended(nil))
        #expect(pair.requests == 4)
    }

    @Test func aLostConnectionLeavesOnlySentRequestsInDoubt() {
        let pair = HTTP2Pair(presumedStreams: 2, maxConcurrentStreams: 2)
        for tag in 0..<4 { pair.client.submit(pushHead(tag), body: [1], tag: tag) }
        pair.run()
        pair.client.connectionLost()
        pair.takeEvents()
        pair.client.submit(pushHead(4), body: [1], tag: 4)
        pair.takeEvents()
        #expect(
            pair.outcomes == [
                0: "connectionLost", 1: "connectionLost", 2: "refused", 3: "refused", 4: "refused",
            ])
    }

    @Test func pingIsAcknowledgedWithItsPayload() {
        let pair = HTTP2Pair()
        pair.client.ping(payload: 0x0102_0304_0506_0708)
        pair.run()
        #expect(pair.clientConnectionEvents.contains(.pingAcknowledged(payload: 0x0102_0304_0506_0708)))
    }

    /// At the limit, and one byte over it.
    @Test func anAnswerIsBounded() {
        let pair = HTTP2Pair()
        let limit = HTTP2Session.incomingLimit
        pair.onRequest = { server, stream, _ in
            var headers = HTTP2Headers()
            switch stream {
            case 1: server.respond(stream, status: 200, body: [UInt8](repeating: 1, count: limit))
            case 3: server.respond(stream, status: 200, body: [UInt8](repeating: 1, count: limit + 1))
            case 5:
                for _ in 0..<400 { headers.add("filler", String(repeating: "x", count: 130), .never) }
                server.respond(stream, status: 200, headers: headers)
            default: server.respond(stream, status: 200)
            }
        }
        for tag in 0..<4 { pair.client.submit(pushHead(tag), body: [], tag: tag) }
        pair.run()
        #expect(pair.outcomes == [0: "200", 1: "answerTooLarge", 2: "answerTooLarge", 3: "200"])
        #expect(pair.client.openStreams == 0)
    }

    @Test func aRequestIsBounded() {
        let pair = HTTP2Pair()
        pair.client.submit(pushHead(0), body: [UInt8](repeating: 1, count: 65_537), tag: 0)
        pair.run()
        #expect(pair.requests == 0)
        #expect(pair.outcomes[0] == "\(HTTP2RequestFailure.reset(.enhanceYourCalm))")
        #expect(pair.server.openStreams == 0)
    }

    @Test func bytesThatAreNotHTTP2EndTheSession() {
        let client = HTTP2ClientSession()
        client.submit(pushHead(0), body: [], tag: 7)
        var bytes: [UInt8] = []
        while client.takeOutput(into: &bytes) {}
        client.receive(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8).span.bytes)
        bytes = []
        _ = client.takeOutput(into: &bytes)
        let events = client.takeEvents()
        guard events.count == 2, case .failed(7, .connectionLost) = events[0],
            case .connection(.ended(.some)) = events[1]
        else {
            Issue.record("\(events)")
            return
        }
        let server = HTTP2ServerSession(maxConcurrentStreams: 1)
        server.receive(Array("GET / HTTP/1.1\r\n\r\n".utf8).span.bytes)
        guard case .connection(.ended(.unusable)) = server.takeEvents().last else {
            Issue.record("a server took HTTP/1.1 for HTTP/2")
            return
        }
    }

    /// DATA on a stream nobody opened: a connection error that names itself.
    @Test func aBrokenProtocolIsNamed() {
        let client = HTTP2ClientSession()
        var bytes: [UInt8] = []
        while client.takeOutput(into: &bytes) {}
        client.receive([0, 0, 0, 4, 0, 0, 0, 0, 0])
        client.receive([0, 0, 1, 0, 1, 0, 0, 0, 9, 0x41])
        bytes = []
        while client.takeOutput(into: &bytes) {}
        #expect(bytes.contains(7))
        guard case .connection(.ended(.protocolBroken(.protocolError, let reason))) = client.takeEvents().last
        else {
            Issue.record("no end")
            return
        }
        #expect(reason.contains("stream in idle"))
    }

    @Test func randomBytesNeverHarm() {
        for seed in 0..<300 {
            let client = HTTP2ClientSession()
            client.submit(pushHead(0), body: [1], tag: 0)
            var bytes: [UInt8] = []
            while client.takeOutput(into: &bytes) {}
            // A proper SETTINGS frame first, so that the rest is read as frames.
            client.receive([0, 0, 0, 4, 0, 0, 0, 0, 0])
            for _ in 0..<5 {
                let length = UInt8.random(in: 0...40)
                let kind = UInt8.random(in: 0...10)
                var frame: [UInt8] = [
                    0, 0, length, kind, UInt8.random(in: 0...255), 0, 0, 0, UInt8(seed % 4),
                ]
                for _ in 0..<length { frame.append(UInt8.random(in: 0...255)) }
                client.receive(frame)
                bytes = []
                while client.takeOutput(into: &bytes) {}
            }
            client.connectionLost()
            let ends = client.takeEvents().count { if case .connection = $0 { false } else { true } }
            #expect(ends == 1)
        }
    }

    @Test func anInterimAnswerIsNotTheAnswer() {
        let client = HTTP2ClientSession()
        client.submit(pushHead(0), body: [1], tag: 0)
        var bytes: [UInt8] = []
        while client.takeOutput(into: &bytes) {}
        client.receive([0, 0, 0, 4, 0, 0, 0, 0, 0])
        // :status 103 and 200 as literals with an indexed name (8), without indexing.
        client.receive([0, 0, 5, 1, 4, 0, 0, 0, 1, 0x08, 3, 0x31, 0x30, 0x33])
        client.receive([0, 0, 5, 1, 5, 0, 0, 0, 1, 0x08, 3, 0x32, 0x30, 0x30])
        guard case .answered(0, let answer) = client.takeEvents().last else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 200)
    }

    /// The window lets 65,535 bytes out; the answer comes before the rest.
    @Test func anEarlyAnswerEndsTheRequest() {
        let client = HTTP2ClientSession()
        client.submit(pushHead(0), body: [UInt8](repeating: 1, count: 70_000), tag: 0)
        client.receive([0, 0, 0, 4, 0, 0, 0, 0, 0])
        var bytes: [UInt8] = []
        while client.takeOutput(into: &bytes, upTo: 200_000) {}
        #expect((65_535..<70_000).contains(bytes.count))
        // :status 413, the end of the stream.
        client.receive([0, 0, 5, 1, 5, 0, 0, 0, 1, 0x08, 3, 0x34, 0x31, 0x33])
        while client.takeOutput(into: &bytes, upTo: 200_000) {}
        guard case .answered(0, let answer) = client.takeEvents().last else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 413)
        #expect(client.openStreams == 0)
    }

    /// What is not compressed stands behind all that nghttp2 knows of, in the same frame or in frames of its own, and the
    /// tables of both ends stay alike.
    @Test(arguments: [0, 1, 126, 127, 128, 300, 16_383, 16_384, 40_000])
    func whatGoesAsItIsArrivesWhole(length: Int) {
        let pair = HTTP2Pair()
        var heads: [HTTP2Headers] = []
        pair.onRequest = { server, stream, request in
            heads.append(request.headers)
            server.respond(stream, status: 200)
        }
        let value = String(repeating: "v", count: length)
        for tag in 0..<3 {
            var head = HTTP2Headers(method: "POST", authority: "a", path: "/\(tag)")
            head.add("x-kept", "the same")
            head.add("authorization", value, .verbatim)
            head.add(name: "x-own", "own \(tag)", .verbatim)
            #expect(head["x-own"] == "own \(tag)" && head["authorization"] == value)
            pair.client.submit(head, body: [UInt8](repeating: 1, count: tag), tag: tag)
        }
        pair.run()
        #expect(pair.outcomes == [0: "200", 1: "200", 2: "200"])
        #expect(heads.map { $0[":path"] } == ["/0", "/1", "/2"])
        #expect(heads.allSatisfy { $0["x-kept"] == "the same" && $0["authorization"] == value })
        #expect(heads.map { $0["x-own"] } == ["own 0", "own 1", "own 2"])
    }

    /// Fields that are taken out of a list that is used again leave nothing behind.
    @Test func aListIsUsedAgain() {
        var head = HTTP2Headers(method: "POST", authority: "a", path: "/")
        let plain = head.count
        for length in [3, 200, 3] {
            head.keepFirst(plain)
            head.add("x-plain", "p")
            head.add("x-as-is", String(repeating: "v", count: length), .verbatim)
            #expect(head.count == plain + 2)
            #expect(head["x-as-is"]?.utf8.count == length && head[":path"] == "/")
            #expect(head.verbatim.count == 1 + 1 + 7 + (length < 127 ? 1 : 2) + length)
        }
    }

    /// What stays in the shared table is sent as one byte the second time; what must not be indexed stays whole.
    @Test func tokensAreNeverIndexed() {
        let client = HTTP2ClientSession()
        func size(_ tag: Int, _ indexing: HTTP2Headers.Indexing) -> Int {
            var head = HTTP2Headers(method: "POST", authority: "a", path: "/")
            head.add("x-device", String(repeating: "0123456789", count: 10), indexing)
            client.submit(head, body: [], tag: tag)
            var bytes: [UInt8] = []
            while client.takeOutput(into: &bytes) {}
            return bytes.count
        }
        _ = size(0, .automatic)
        #expect(size(1, .automatic) < 30)
        #expect(size(2, .never) > 60)
        #expect(size(3, .never) > 60)
    }
}
