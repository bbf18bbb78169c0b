import HTTP1
import Reactor

/// One client of a simulated relay.
@EventLoop
final class SimulatedRelayConnection: StreamHandler {
    let number: Int
    private let stream: Stream
    private let relay: SimulatedRelay
    private var decoder = HTTPRequestDecoder()
    /// The timer for what comes late.
    private var timer: Timer?
    private var isOver = false

    init(_ stream: Stream, number: Int, _ relay: SimulatedRelay) {
        self.stream = stream
        self.number = number
        self.relay = relay
        stream.handler = self
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        decoder.append(bytes)
        do throws(HTTPFault) {
            while !isOver, let request = try decoder.next() { relay.handle(request, of: self) }
        } catch {
            answer(HTTPResponse(error))
            stream.closeWhenFlushed()
        }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { breakOff() }

    func answer(_ response: HTTPResponse) {
        guard !isOver else { return }
        var output: [UInt8] = []
        response.encode(into: &output)
        stream.write { $0 += output }
    }

    func answer(_ response: HTTPResponse, after delay: Duration) {
        later(delay) { [unowned self] in answer(response) }
    }

    func say(_ bytes: [UInt8], thenCloses: Bool) {
        stream.write { $0 += bytes }
        guard thenCloses else { return }
        isOver = true
        stream.closeWhenFlushed()
        relay.forget(self)
    }

    func drip(_ bytes: [UInt8]) {
        guard !isOver else { return }
        stream.write { $0 += bytes }
        later(.milliseconds(200)) { [unowned self] in drip(bytes) }
    }

    private func later(_ delay: Duration, _ action: @escaping @EventLoop () -> Void) {
        let timer = Timer { action() }
        timer.start(after: delay)
        self.timer = timer
    }

    /// Closes the connection at once.
    func breakOff() {
        guard !isOver else { return }
        isOver = true
        timer?.stop()
        stream.close()
        relay.forget(self)
    }
}
