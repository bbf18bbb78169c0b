import Client
import Crypto
import Doors
import Encodings
import HTTP1
import Reactor
import Tor
import Wire

/// The node's questions at its own doors when it calls its own address: a Ping to the peer door, and to the HTTP door one
/// that only this process can answer. Another node with the same onion key gives itself away with it, and with a Ping that
/// it answers while no frame comes in here.
@EventLoop
final class OwnDoors: HTTPDoor {
    /// A question to the HTTP door.
    private final class Question {
        /// The path, which is known to nobody but this process.
        let path = "/" + Hex.encode(randomBytes(16))
        var hasComeIn = false
    }

    /// The questions that are under way: calls by the clock and for somebody who asks may cross.
    @exclusivity(unchecked) private var questions: [Question] = []
    /// Frames that have come to the peer door of this process.
    var peerFrames: @EventLoop () -> Int = { 0 }

    /// Returns the doors that are asked when the node calls its own address.
    ///
    /// - Parameter onion: the ports and the network.
    func doors(of onion: Settings.Onion) -> [SelfDialDoor] {
        let peers = SelfDialDoor(port: onion.peerPort) { [unowned self] stream, unread, deadline in
            await ping(onion, over: BisqPeer(stream, unread: unread, network: onion.network), deadline)
        }
        guard let port = onion.httpPorts.first else { return [peers] }
        let http = SelfDialDoor(port: port) { [unowned self] stream, unread, deadline in
            SelfDialReply(await ask(port: port, over: stream, unread, deadline))
        }
        return [peers, http]
    }

    private func ping(
        _ onion: Settings.Onion, over peer: BisqPeer, _ deadline: Duration
    ) async -> SelfDialReply {
        let before = peerFrames()
        do {
            _ = try await peer.ping(deadline: deadline)
            guard peerFrames() > before else { return SelfDialReply(.another) }
            return SelfDialReply(.own, line: SelfDialLine(peer))
        } catch {
            return SelfDialReply(.unanswered("port \(onion.peerPort): \(error)"))
        }
    }

    private func ask(
        port: UInt16, over stream: Stream, _ unread: [UInt8], _ deadline: Duration
    ) async -> SelfDialAnswer {
        let question = Question()
        questions.append(question)
        defer { questions.removeAll { $0 === question } }
        do {
            _ = try await HTTPExchange.answer(
                to: HTTPRequest(method: "GET", path: question.path, isKeptAlive: false), host: "localhost",
                over: stream, unread: unread, deadline: deadline)
            return question.hasComeIn ? .own : .another
        } catch {
            return .unanswered("port \(port): \(error)")
        }
    }

    func handler(for path: String) -> HTTPServer.Handler? {
        guard let question = questions.first(where: { path.hasSameBytes(as: $0.path) }) else { return nil }
        return { _, respond in
            question.hasComeIn = true
            respond(HTTPResponse(status: 204))
        }
    }
}

extension SelfDialLine {
    /// Makes a line over the connection of a peer, which is pinged.
    fileprivate convenience init(_ peer: BisqPeer) {
        self.init(
            ask: { deadline in
                do throws(PeerError) {
                    _ = try await peer.ping(deadline: deadline)
                    return .answered
                } catch .noAnswer {
                    return .silent
                } catch {
                    return .ended
                }
            }, close: { peer.close() })
    }
}
