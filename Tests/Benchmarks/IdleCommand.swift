import ArgumentParser
import CSupport
import Foundation
import Reactor
import Wire

/// `onionbell-bench idle`: peers that connect, send one Ping, and are then silent until this is killed.
struct IdleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "idle", abstract: "Hold idle connections.",
        discussion: "Prints how many there are once all have had their Pong.")

    @Option(help: "The node's peer_listen.") var to: Endpoint
    @Option(help: "Connections.") var peers = 10_000

    func run() async throws {
        onionbell_raise_file_limit()
        let crowd = Crowd()
        try await crowd.gather(peers, to: to)
        tell("\(await crowd.answered)")
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    @EventLoop
    private final class Crowd: StreamHandler {
        private(set) var answered = 0
        private var streams: [Reactor.Stream] = []
        private var whenAnswered: CheckedContinuation<Void, Never>?

        nonisolated init() {}

        func gather(_ count: Int, to endpoint: Endpoint) async throws {
            let ping = Envelope(
                messageVersion: BisqNetwork.mainnet.messageVersion, message: .ping(Ping(nonce: 1)))
            let frame = ping.frame
            for _ in 0..<count {
                let stream = try await Reactor.Stream.connect(to: endpoint, deadline: .seconds(10))
                stream.handler = self
                streams.append(stream)
                await withCheckedContinuation {
                    whenAnswered = $0
                    stream.write(frame)
                }
            }
        }

        func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
            answered += 1
            whenAnswered?.resume()
            whenAnswered = nil
        }

        func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {
            whenAnswered?.resume()
            whenAnswered = nil
        }
    }
}
