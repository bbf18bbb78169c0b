import HTTP1
import Reactor

/// Sends requests over many kept connections, one at a time on each.
@EventLoop
final class HTTPLoad {
    private let request: HTTPTemplate
    private let count: Int
    /// A second; 0: each client sends when it has its answer.
    private let rate: Int
    private let timed: UInt32?
    private var report = LoadReport()
    private var latencies = LatencyCounter()
    private var unfinished = 0
    private let firstNumber = UInt64.random(in: 0...UInt64.max)
    private var startedAt: Int64 = 0
    private var whenDone: CheckedContinuation<Void, Never>?
    /// With a rate: those without a request.
    private var idle: [LoadingClient] = []
    private let pace = Timer()

    init(_ request: HTTPTemplate, count: Int, rate: Int, timed: UInt32?) {
        self.request = request
        self.count = count
        self.rate = rate
        self.timed = timed
        pace.action = { [unowned self] in keepPace() }
    }

    func run(_ clients: Int, to endpoint: Endpoint) async throws -> LoadReport {
        var connections: [LoadingClient] = []
        for _ in 0..<clients {
            connections.append(
                LoadingClient(try await Stream.connect(to: endpoint, deadline: .seconds(10)), self))
        }
        startedAt = EventLoop.now.nanoseconds
        await withCheckedContinuation {
            whenDone = $0
            idle = connections
            if rate > 0 {
                keepPace()
            } else {
                for connection in connections { send(by: connection, dueAt: startedAt) }
            }
        }
        report.seconds = Double(EventLoop.now.nanoseconds - startedAt) / 1e9
        if request.awaitsOutcome {
            report.outcome = latencies.latency
        } else {
            report.receipt = latencies.latency
        }
        for connection in connections { connection.stream.close() }
        return report
    }

    /// Sends what is due by now, as far as there is a connection for it. Its time runs from when it was due: a server that
    /// is late for one is late for those behind it.
    private func keepPace() {
        let now = EventLoop.now.nanoseconds
        while report.sent < count, !idle.isEmpty {
            let dueAt = startedAt + Int64(report.sent) * 1_000_000_000 / Int64(rate)
            guard dueAt <= now else { break }
            send(by: idle.removeLast(), dueAt: dueAt)
        }
        if report.sent < count, !pace.isRunning { pace.start(after: .milliseconds(1)) }
    }

    private func send(by client: LoadingClient, dueAt time: Int64) {
        guard report.sent < count else { return }
        let number = firstNumber &+ UInt64(report.sent)
        let token = timed.map { TimedToken.token(number, load: $0, at: time) } ?? deviceToken(number)
        report.sent += 1
        unfinished += 1
        client.sentAt = time
        client.stream.write {
            $0.append(contentsOf: request.head)
            $0.append(contentsOf: token.utf8)
            $0.append(contentsOf: request.rest)
        }
    }

    func take(_ response: HTTPResponse, by client: LoadingClient) {
        let now = EventLoop.now.nanoseconds
        latencies.record(nanoseconds: now - client.sentAt)
        client.sentAt = 0
        unfinished -= 1
        if (200..<300).contains(response.status) { report.stored += 1 } else { report.failed += 1 }
        if rate > 0 {
            idle.append(client)
            keepPace()
        } else {
            send(by: client, dueAt: now)
        }
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
