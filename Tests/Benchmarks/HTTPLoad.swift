import HTTP1
import Reactor

/// Sends requests over many kept connections, one at a time on each.
@EventLoop
final class HTTPLoad {
    private let form: HTTPCommand.Form
    private let count: Int
    private var report = LoadReport()
    private var latencies = LatencyCounter()
    private var unfinished = 0
    private let firstNumber = UInt64.random(in: 0...UInt64.max)
    private var whenDone: CheckedContinuation<Void, Never>?
    private let head: [UInt8]
    private let rest: [UInt8]

    init(_ form: HTTPCommand.Form, count: Int) {
        self.form = form
        self.count = count
        switch form {
        case .get:
            let message = RequestTemplate.message.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            head = Array(
                "GET /relay?isAndroid=false&isProduction=true&isContentAvailable=true&snd=true&token=".utf8)
            rest = Array("&msg=\(message.joined()) HTTP/1.1\r\nHost: node\r\n\r\n".utf8)
        case .post:
            let body =
                #"{"encrypted":"\#(RequestTemplate.message)","isUrgent":true,"isMutableContent":true}"#
            head = Array("POST /v1/apns/device/".utf8)
            rest = Array(
                """
                 HTTP/1.1\r\nHost: node\r\nContent-Type: application/json\r\n\
                Content-Length: \(body.utf8.count)\r\n\r\n\(body)
                """.utf8)
        }
    }

    func run(_ clients: Int, to endpoint: Endpoint) async throws -> LoadReport {
        var connections: [LoadingClient] = []
        for _ in 0..<clients {
            connections.append(
                LoadingClient(try await Stream.connect(to: endpoint, deadline: .seconds(10)), self))
        }
        let start = EventLoop.monotonicNanoseconds
        await withCheckedContinuation {
            whenDone = $0
            for connection in connections { send(by: connection) }
        }
        report.seconds = Double(EventLoop.monotonicNanoseconds - start) / 1e9
        if form == .post { report.outcome = latencies.latency } else { report.receipt = latencies.latency }
        for connection in connections { connection.stream.close() }
        return report
    }

    private func send(by client: LoadingClient) {
        guard report.sent < count else { return }
        let token = deviceToken(firstNumber &+ UInt64(report.sent))
        report.sent += 1
        unfinished += 1
        client.sentAt = EventLoop.monotonicNanoseconds
        client.stream.write {
            $0.append(contentsOf: head)
            $0.append(contentsOf: token.utf8)
            $0.append(contentsOf: rest)
        }
    }

    func take(_ response: HTTPResponse, by client: LoadingClient) {
        latencies.record(nanoseconds: EventLoop.monotonicNanoseconds - client.sentAt)
        client.sentAt = 0
        unfinished -= 1
        if response.status == 200 { report.stored += 1 } else { report.failed += 1 }
        send(by: client)
        finishIfDone()
    }

    func lost(_ client: LoadingClient) {
        if client.sentAt > 0 { unfinished -= 1 }
        report.failed += 1 + count - report.sent
        report.sent = count
        finishIfDone()
    }

    private func finishIfDone() {
        guard unfinished == 0, report.sent == count else { return }
        whenDone?.resume()
        whenDone = nil
    }
}

/// One client's connection.
@EventLoop
final class LoadingClient: StreamHandler {
    let stream: Stream
    /// 0 when nothing is on its way.
    var sentAt: Int64 = 0
    private unowned let load: HTTPLoad
    private var decoder = HTTPResponseDecoder()

    init(_ stream: Stream, _ load: HTTPLoad) {
        self.stream = stream
        self.load = load
        stream.handler = self
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        decoder.append(bytes)
        while let response = try? decoder.next() { load.take(response, by: self) }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { load.lost(self) }
}
