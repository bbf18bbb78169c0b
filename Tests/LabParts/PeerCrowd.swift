import Reactor
import Wire

/// Many peers that ping when they are told to, and are silent otherwise. Each costs this process a socket and no more.
@EventLoop
package final class PeerCrowd: StreamHandler {
    /// Connections that the node has ended.
    package private(set) var ended = 0
    /// Pongs so far.
    package private(set) var pongs = 0

    private var streams: [Stream] = []
    private var wanted = 0
    private var whenAnswered: CheckedContinuation<Void, Never>?
    private let ping: [UInt8]

    package init(network: BisqNetwork = .mainnet) {
        ping = Envelope(messageVersion: network.messageVersion, message: .ping(Ping(nonce: 1))).frame
    }

    /// So many more, one after the other, each of which has had its Pong when this returns.
    package func gather(_ count: Int, to endpoint: Endpoint) async throws {
        for _ in 0..<count {
            let stream = try await Stream.connect(to: endpoint, deadline: .seconds(10))
            stream.handler = self
            streams.append(stream)
            await ask([stream])
        }
    }

    /// All of them at once. Returns when each has had its Pong, or one its end.
    package func ping() async { await ask(streams) }

    package func close() {
        for stream in streams { stream.close() }
        streams = []
    }

    private func ask(_ streams: [Stream]) async {
        wanted = pongs + streams.count
        for stream in streams { stream.write(ping) }
        await withCheckedContinuation { whenAnswered = $0 }
    }

    /// A Pong is so short that it comes in one piece.
    package func stream(_ stream: Stream, received bytes: RawSpan) {
        pongs += 1
        if pongs >= wanted { answered() }
    }

    package func stream(_ stream: Stream, ended end: StreamEnd) {
        ended += 1
        answered()
    }

    private func answered() {
        whenAnswered?.resume()
        whenAnswered = nil
    }
}
