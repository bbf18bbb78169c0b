import HTTP1
import HTTP2
import Reactor
import TLS

/// One connection to a simulated gateway: TLS, then HTTP/2 or HTTP/1.1 as ALPN agreed.
@EventLoop
final class SimulatedConnection: StreamHandler {
    var facts: ConnectionFacts
    private let stream: Stream
    private let tls: TLSSession
    /// The simulator, which holds this connection and outlives it.
    private unowned let simulator: GatewaySimulator
    private var http2: HTTP2ServerSession?
    private var http1: HTTPRequestDecoder?
    private var buffer: [UInt8] = []
    /// Answers that are put off, each with its stream.
    private var delays: [Int32: Timer] = [:]
    /// The flush at the end of the turn: answers that come due together share a record, as do those that are
    /// given at once.
    private let flushSoon = EndOfTurn()
    private var closesWhenFlushed = false
    private var isOver = false
    /// The highest stream that was handled, and the highest that may be since a GOAWAY said so.
    private var lastHandled: Int32 = 0
    private var lastAllowed = Int32.max

    /// Above this many bytes that the client doesn't take, nothing more is read from it.
    private static let unsentLimit = 1_048_576

    init(_ stream: Stream, number: Int, _ context: TLSContext, _ simulator: GatewaySimulator) {
        self.stream = stream
        self.simulator = simulator
        facts = ConnectionFacts(number: number)
        tls = TLSSession(serving: context)
        flushSoon.action = { [unowned self] in flush() }
        stream.handler = self
    }

    // MARK: Bytes

    func stream(_ stream: Stream, received bytes: RawSpan) {
        tls.receive(bytes) { plain in
            begin()
            http2?.receive(plain)
            http1?.append(plain)
        }
        // The first SETTINGS go out although the client has said nothing yet.
        begin()
        takeEvents()
        takeHTTP1Requests()
        flush()
    }

    func streamFlushed(_ stream: Stream) { stream.resumeReading() }

    func stream(_ stream: Stream, ended end: StreamEnd) { breakOff() }

    /// Sends what has gathered.
    private func flush() {
        guard !isOver else { return }
        if let http2 {
            var hasMore = true
            while hasMore {
                buffer.removeAll(keepingCapacity: true)
                hasMore = http2.takeOutput(into: &buffer)
                if !buffer.isEmpty { tls.write(buffer) }
            }
            takeEvents()
        }
        if closesWhenFlushed { tls.close() }
        if tls.hasOutput { stream.write { tls.takeOutput(into: &$0) } }
        switch tls.state {
        case .closed, .failed:
            isOver = true
            stream.closeWhenFlushed()
            simulator.forget(self)
        case .handshaking, .open:
            if stream.unsentBytes > Self.unsentLimit { stream.pauseReading() }
        }
    }

    private func begin() {
        guard tls.state == .open, http2 == nil, http1 == nil else { return }
        facts.certificateTopic = tls.peerCertificatePEM.flatMap(simulator.topic(ofCertificate:))
        if tls.negotiatedProtocol == "h2" {
            let limit = simulator.service.streamLimit(hasCertificate: facts.certificateTopic != nil)
            http2 = HTTP2ServerSession(maxConcurrentStreams: limit)
        } else {
            http1 = HTTPRequestDecoder()
        }
    }

    // MARK: Requests

    private func takeEvents() {
        guard let http2 else { return }
        for event in http2.takeEvents() {
            switch event {
            case .request(let stream, let request):
                // A client sends again what a GOAWAY left out, or what came after the connection was broken off.
                guard !isOver, stream <= lastAllowed else { continue }
                simulator.handle(
                    GatewayRequest(headers: request.headers, body: request.body), of: self, stream: stream)
                lastHandled = max(lastHandled, stream)
            case .withdrawn(let stream, _): delays[stream] = nil
            case .connection(.ended): closesWhenFlushed = true
            case .connection: break
            }
        }
    }

    private func takeHTTP1Requests() {
        while http1 != nil, !closesWhenFlushed, !isOver {
            do throws(HTTPFault) {
                guard let request = try http1?.next() else {
                    if http1?.isContinueExpected == true {
                        http1?.isContinueExpected = false
                        tls.write(HTTPResponse.goOn)
                    }
                    return
                }
                simulator.handle(GatewayRequest(request), of: self, stream: 0)
                if !request.isKeptAlive { closesWhenFlushed = true }
            } catch {
                var output: [UInt8] = []
                HTTPResponse(error).encode(into: &output)
                tls.write(output)
                closesWhenFlushed = true
            }
        }
    }

    /// Answers on HTTP/2's stream, or as HTTP/1.1. Goes out with the next ``flush()``.
    func answer(_ answer: SimulatedAnswer, on stream: Int32) {
        guard let http2 else {
            var response = HTTPResponse(status: answer.status, body: answer.body)
            for (name, value) in answer.headers.all { response.fields.append(name, value) }
            buffer.removeAll(keepingCapacity: true)
            response.encode(into: &buffer)
            if tls.state == .open { tls.write(buffer) }
            return
        }
        http2.respond(stream, status: answer.status, headers: answer.headers, body: answer.body)
        if let limit = answer.streamLimit { http2.allow(maxConcurrentStreams: limit) }
    }

    func answer(_ answer: SimulatedAnswer, on stream: Int32, after delay: Duration) {
        let timer = Timer { [unowned self] in
            delays[stream] = nil
            self.answer(answer, on: stream)
            flushSoon.schedule()
        }
        delays[stream] = timer
        timer.start(after: delay)
    }

    // MARK: Faults

    func limitStreams(_ limit: Int) { http2?.allow(maxConcurrentStreams: limit) }

    func reset(_ stream: Int32, code: HTTP2ErrorCode) {
        // HTTP/1.1 has no streams to reset.
        guard let http2 else { return breakOff() }
        http2.reset(stream, code: code)
    }

    /// Takes no more streams above `stream` and those that were handled before; ends when all are answered.
    func goaway(after stream: Int32, reason: String?) {
        lastAllowed = max(stream, lastHandled)
        sayGoaway(lastStream: lastAllowed, reason: reason)
    }

    private func sayGoaway(lastStream: Int32, reason: String?) {
        let debug = reason.map { Array(#"{"reason":"\#($0)"}"#.utf8) } ?? []
        http2?.goaway(lastStream: lastStream, code: .noError, debug: debug)
    }

    /// Says that it ends, three times; the request on `stream` is never answered.
    func goaways(leavingOut stream: Int32, reason: String?) {
        sayGoaway(lastStream: .max, reason: reason)
        goaway(after: stream, reason: reason)
        let timer = Timer { [unowned self] in
            sayGoaway(lastStream: max(0, stream - 2), reason: reason)
            endWhenFlushed()
            flush()
        }
        delays[stream] = timer
        timer.start(after: .milliseconds(20))
    }

    /// Sends what is to be sent, then ends, whatever is unanswered.
    func endWhenFlushed() { closesWhenFlushed = true }

    /// Closes the connection at once.
    func breakOff() {
        guard !isOver else { return }
        isOver = true
        stream.close()
        simulator.forget(self)
    }
}

extension GatewayRequest {
    /// Makes the request as HTTP/2 would have brought it.
    init(_ request: HTTPRequest) {
        var headers = HTTP2Headers(
            method: request.method, authority: request.fields["host"] ?? "",
            path: request.path + (request.query.map { "?" + $0 } ?? ""))
        for field in request.fields.all { headers.add(name: field.name, field.value) }
        self.init(headers: headers, body: request.body)
    }
}
