import Reactor
import Wire

/// A node that says that it closes, and why, as soon as it hears something: as one of another network does.
@EventLoop
final class ClosingPeer: StreamHandler {
    private(set) var accepted = 0
    private var listener: Listener!
    private var streams: [ObjectIdentifier: Stream] = [:]
    private let farewell: [UInt8]

    init(saying reason: PeerClose) throws {
        farewell =
            Envelope(
                messageVersion: BisqNetwork.mainnet.messageVersion,
                message: .closeConnection(CloseConnectionMessage(reason: reason.word ?? ""))
            ).frame
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            accepted += 1
            streams[ObjectIdentifier(stream)] = stream
            stream.handler = self
        }
    }

    /// `127.0.0.1:PORT`.
    var address: String { "\(listener.endpoint)" }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        // Not closed here: what comes later and nobody reads would take the farewell along.
        stream.write(farewell)
    }

    func stream(_ stream: Stream, ended end: StreamEnd) {
        stream.close()
        streams[ObjectIdentifier(stream)] = nil
    }

    func close() { listener.close() }
}
