import HTTP1
import Reactor
import TLS

/// One client's connection: reads a request, waits for its answer, then reads the next.
///
/// Requests that a client sends ahead wait: those of the last read in the decoder, the others in the client's own
/// socket. A client that doesn't take its answers gets no further ones. Over TLS the handshake has the time of one
/// request.
@EventLoop
final class HTTPConnection: StreamHandler, DoorConnection {
    private let stream: Stream
    /// `nil`: plain HTTP.
    private let tls: TLSSession?
    /// For plain text on its way into TLS.
    private var buffer: [UInt8] = []
    private unowned let server: HTTPServer
    private var arrival: Arrival
    private var decoder: HTTPRequestDecoder
    /// Runs while a request is incomplete.
    private var deadline: Timer?
    private var isAnswering = false
    /// Whether requests are being taken from the decoder further down the stack.
    private var isTaking = false
    /// Whether requests wait until the client has taken the answers before them.
    private var isHeldBack = false
    private var isShuttingDown = false
    private var hasEnded = false

    /// Bytes of answers that a client may leave unread before its next request is looked at.
    private static let unsentLimit = 65_536

    init(_ stream: Stream, _ tls: TLSSession?, server: HTTPServer) {
        self.stream = stream
        self.tls = tls
        self.server = server
        arrival = Arrival(at: server.circuits)
        decoder = HTTPRequestDecoder(limits: server.settings.limits)
        stream.idleTimeout = server.settings.idleTimeout
        stream.sendTimeout = server.settings.idleTimeout
        stream.handler = self
        if tls != nil { startDeadline() }
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        var start = 0
        switch arrival.receive(bytes, from: &start, at: server.circuits) {
        case .waiting: return startDeadline()
        case .refused: return end()
        case .known(let circuit):
            circuit.spend(frames: 0, bytes: bytes.byteCount - start)
            take(bytes.extracting(start..<bytes.byteCount))
        }
    }

    private func take(_ bytes: RawSpan) {
        if let tls {
            tls.receive(bytes) { decoder.append($0) }
            if tls.hasOutput { stream.write { tls.takeOutput(into: &$0) } }
            switch tls.state {
            case .handshaking: return
            case .open: takeRequests()
            case .closed, .failed: end()
            }
        } else {
            decoder.append(bytes)
            takeRequests()
        }
    }

    private func takeRequests() {
        guard !isTaking else { return }
        isTaking = true
        defer { isTaking = false }
        while !isAnswering, !hasEnded {
            guard stream.unsentBytes < HTTPConnection.unsentLimit else {
                isHeldBack = true
                return holdBack()
            }
            do throws(HTTPFault) {
                guard let request = try decoder.next() else { return waitForMore() }
                deadline?.stop()
                answer(request)
            } catch {
                arrival.strike()
                send(HTTPResponse(error), withBody: true)
            }
        }
    }

    func streamFlushed(_ stream: Stream) {
        guard isHeldBack else { return }
        isHeldBack = false
        takeRequests()
    }

    private func waitForMore() {
        if decoder.isContinueExpected {
            decoder.isContinueExpected = false
            write { $0 += HTTPResponse.goOn }
        }
        if isShuttingDown, !decoder.isWithinRequest { return end() }
        guard arrival.mayRead(self) else { return holdBack() }
        stream.resumeReading()
        if decoder.isWithinRequest { startDeadline() } else { deadline?.stop() }
    }

    private func holdBack() {
        stream.pauseReading()
        // The rest of a request is late through us.
        deadline?.stop()
    }

    /// It is that of the request, not of its last part: one that runs is left alone.
    private func startDeadline() {
        let timer = deadline ?? Timer { [unowned self] in timeOut() }
        deadline = timer
        if !timer.isRunning { timer.start(after: server.settings.requestDeadline) }
    }

    private func timeOut() {
        if arrival.isWaiting || tls?.state == .handshaking { return end() }
        arrival.strike()
        send(
            HTTPResponse(status: 408, text: "request not complete in time", isKeptAlive: false),
            withBody: true)
    }

    private func answer(_ request: HTTPRequest) {
        server.counters.requests += 1
        arrival.circuit?.spend(frames: 1, bytes: 0)
        isAnswering = true
        stream.pauseReading()
        let isKeptAlive = request.isKeptAlive
        let withBody = request.method != "HEAD"
        var isAnswered = false
        server.handler(request) { [weak self] response in
            precondition(!isAnswered, "a request was answered twice")
            isAnswered = true
            guard let self, !hasEnded else { return }
            isAnswering = false
            var response = response
            response.isKeptAlive = response.isKeptAlive && isKeptAlive && !isShuttingDown
            send(response, withBody: withBody)
            takeRequests()
        }
    }

    private func send(_ response: HTTPResponse, withBody: Bool) {
        server.counters.answers[response.status, default: 0] += 1
        write { response.encode(into: &$0, withBody: withBody) }
        if !response.isKeptAlive { end() }
    }

    private func write(_ body: (inout [UInt8]) -> Void) {
        guard let tls else { return stream.write(with: body) }
        buffer.removeAll(keepingCapacity: true)
        body(&buffer)
        tls.write(buffer)
        stream.write { tls.takeOutput(into: &$0) }
    }

    /// Lets the request in progress be answered. One that is incomplete was never taken: nothing is promised.
    func shutDown() {
        isShuttingDown = true
        if !isAnswering { end() }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { self.end() }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        deadline?.stop()
        if let tls {
            tls.close()
            stream.write { tls.takeOutput(into: &$0) }
        }
        stream.closeWhenFlushed()
        arrival.leave(self, hasMisbehaved: false)
        server.ended(self)
    }
}

extension HTTPConnection: CircuitMember {
    func circuitMayBeRead() {
        if !hasEnded, !isAnswering { takeRequests() }
    }
}
