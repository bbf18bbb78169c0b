import Client
import Doors
import HTTP1
import Lab
import Reactor
import Testing
import Tor

@testable import Node

/// How the node tells its own doors from those of another node under the same address.
@EventLoop
@Suite struct OwnDoorsTests {
    private let own = OwnDoors()
    private let anywhere = Endpoint.host("127.0.0.1", port: 0)

    private func call(_ index: Int, at endpoint: Endpoint) async throws -> SelfDialReply {
        var onion = Settings.Onion()
        onion.httpPorts = [80]
        let stream = try await Stream.connect(to: endpoint, deadline: .seconds(5))
        stream.pauseReading()
        return await own.doors(of: onion)[index].ask(stream, [], .seconds(5))
    }

    /// A Ping is answered there, and comes in here or doesn't.
    @Test(arguments: [true, false]) func aPingThatIsAnsweredMustHaveComeInHere(isOurs: Bool) async throws {
        var frames = 0
        own.peerFrames = {
            if isOurs { frames += 1 }
            return frames
        }
        var peers: [BisqPeer] = []
        let listener = try Listener(on: anywhere) { stream in
            peers.append(BisqPeer(stream, unread: [], network: .mainnet))
        }
        let reply = try await call(0, at: listener.endpoint)
        #expect(reply.answer == (isOurs ? .own : .another))
        #expect((reply.line != nil) == isOurs)
        if let line = reply.line {
            #expect(await line.ask(within: .seconds(5)) == .answered)
            for peer in peers { peer.close() }
            #expect(await line.ask(within: .seconds(5)) == .ended)
            line.close()
        }
        listener.close()
    }

    /// Nobody else knows the path of the call.
    @Test(arguments: [true, false]) func aRequestThatIsAnsweredMustHaveComeInHere(isOurs: Bool) async throws {
        let server = HTTPServer(doors: isOurs ? [own] : [])
        let reply = try await call(1, at: try server.open(on: anywhere))
        #expect(reply.answer == (isOurs ? .own : .another))
        await server.close()
    }

    /// The clock's call, and one for somebody who asks: neither takes the other's question for a sign of another node.
    @Test func callsThatCrossAreBothAnsweredByUs() async throws {
        let (asked, asking) = AsyncStream<@EventLoop () -> Void>.makeStream()
        let server = HTTPServer(doors: [Gate(own, asking)])
        let endpoint = try server.open(on: anywhere)
        var questions = asked.makeAsyncIterator()
        let first = Task { try await call(1, at: endpoint).answer }
        let answerFirst = try #require(await questions.next())
        let second = Task { try await call(1, at: endpoint).answer }
        let answerSecond = try #require(await questions.next())
        answerFirst()
        #expect(try await first.value == .own)
        answerSecond()
        #expect(try await second.value == .own)
        await server.close()
    }

    /// Gives questions on to the own door when the test says so.
    private final class Gate: HTTPDoor {
        private let own: OwnDoors
        private let asking: AsyncStream<@EventLoop () -> Void>.Continuation

        init(_ own: OwnDoors, _ asking: AsyncStream<@EventLoop () -> Void>.Continuation) {
            self.own = own
            self.asking = asking
        }

        func handler(for path: String) -> HTTPServer.Handler? {
            { [own, asking] request, respond in
                asking.yield {
                    guard let answer = own.handler(for: path) else {
                        return respond(HTTPResponse(status: 404))
                    }
                    answer(request, respond)
                }
            }
        }
    }
}
