import HTTP2

/// A client and a server joined in memory. What each sends is cut into pieces as the test says.
final class HTTP2Pair {
    let client: HTTP2ClientSession
    let server: HTTP2ServerSession
    let pieces: ClosedRange<Int>
    private(set) var clientEvents: [HTTP2ClientEvent] = []
    private(set) var serverEvents: [HTTP2ServerEvent] = []
    /// Called for each request as it comes.
    var onRequest: ((HTTP2ServerSession, Int32, HTTP2Request) -> Void)?

    init(
        presumedStreams: Int = 100, maxConcurrentStreams: Int = 1000,
        pieces: ClosedRange<Int> = 65_536...65_536, firstStream: Int32 = 1
    ) {
        client = HTTP2ClientSession(presumedStreams: presumedStreams, firstStream: firstStream)
        server = HTTP2ServerSession(maxConcurrentStreams: maxConcurrentStreams)
        self.pieces = pieces
    }

    /// Carries bytes until neither end has more to say.
    func run() {
        repeat {
            carry(from: client, to: server)
            carry(from: server, to: client)
        } while client.hasOutput || server.hasOutput
    }

    private func carry(from: HTTP2Session, to: HTTP2Session) {
        var bytes: [UInt8] = []
        while from.takeOutput(into: &bytes, upTo: bytes.count + 65_536) {}
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: pieces))
            to.receive(bytes.span.bytes.extracting(start..<end))
            takeEvents()
            start = end
        }
        takeEvents()
    }

    func takeEvents() {
        clientEvents += client.takeEvents()
        for event in server.takeEvents() {
            if case .request(let stream, let request) = event { onRequest?(server, stream, request) }
            serverEvents.append(event)
        }
    }

    /// What became of each request, by its tag.
    var outcomes: [Int: String] {
        var outcomes: [Int: String] = [:]
        for event in clientEvents {
            switch event {
            case .answered(let tag, let answer):
                outcomes[tag, default: ""] += "\(answer.status)"
            case .failed(let tag, let failure):
                outcomes[tag, default: ""] += "\(failure)"
            case .connection: break
            }
        }
        return outcomes
    }

    var clientConnectionEvents: [HTTP2ConnectionEvent] {
        clientEvents.compactMap { if case .connection(let event) = $0 { event } else { nil } }
    }

    var serverConnectionEvents: [HTTP2ConnectionEvent] {
        serverEvents.compactMap { if case .connection(let event) = $0 { event } else { nil } }
    }

    var requests: Int {
        serverEvents.count { if case .request = $0 { true } else { false } }
    }
}

func pushHead(_ number: Int) -> HTTP2Headers {
    var head = HTTP2Headers(method: "POST", authority: "push.example", path: "/3/device/\(number)")
    head.add("apns-topic", "org.example.app")
    head.add("authorization", "bearer abc", .never)
    return head
}

extension HTTP2Session {
    func receive(_ bytes: [UInt8]) { receive(bytes.span.bytes) }
}
