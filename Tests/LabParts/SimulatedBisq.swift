import Reactor
import Wire

/// A Bisq as far as a watchman sees it: answers each Ping, or takes it and says nothing.
@EventLoop
package final class SimulatedBisq: StreamHandler {
    private var listener: Listener?
    private var streams: [Stream] = []
    private var decoders: [ObjectIdentifier: FrameDecoder] = [:]
    package private(set) var connections = 0
    package private(set) var pings = 0
    /// Frames that are none.
    package private(set) var others = 0
    package var isAsleep = false

    package init() {}

    package func open(on endpoint: Endpoint) throws -> Endpoint {
        let listener = try Listener(on: endpoint) { [unowned self] stream in
            stream.handler = self
            connections += 1
            streams.append(stream)
            decoders[ObjectIdentifier(stream)] = FrameDecoder(maximumLength: 65_536)
            stream.resumeReading()
        }
        self.listener = listener
        return listener.endpoint
    }

    package func close() {
        listener?.close()
        for stream in streams { stream.close() }
        streams = []
    }

    package func stream(_ stream: Stream, received bytes: RawSpan) {
        let bytes = bytes.withUnsafeBytes { [UInt8]($0) }
        var position = 0
        while let frame = try? decoders[ObjectIdentifier(stream)]?.nextFrame(
            in: bytes.span, from: &position)
        {
            let envelope =
                switch frame {
                case .within(let range): try? Envelope(parsing: bytes.span, in: range)
                case .assembled(let body): try? Envelope(parsing: body)
                }
            guard case .ping(let ping) = envelope?.message else {
                others += 1
                continue
            }
            pings += 1
            guard !isAsleep else { continue }
            let pong = Message.pong(Pong(requestNonce: ping.nonce))
            stream.write(
                Envelope(messageVersion: BisqNetwork.mainnet.messageVersion, message: pong).frame)
        }
    }

    package func stream(_ stream: Stream, ended end: StreamEnd) {}
}
