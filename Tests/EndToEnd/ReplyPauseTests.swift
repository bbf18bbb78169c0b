import Client
import HTTP1
import Lab
import Reactor
import Testing

/// Both ends of the way back at a node that answers at once where it should wait: they come again, and not at once.
@EventLoop
@Suite(.serialized) struct ReplyPauseTests {
    /// Answers each GET with the same, and takes each POST.
    @EventLoop
    private final class StandIn {
        private final class Client: StreamHandler {
            private let stream: Reactor.Stream
            private let answer: (HTTPRequest) -> String
            private var decoder = HTTPRequestDecoder()

            init(_ stream: Reactor.Stream, answer: @escaping (HTTPRequest) -> String) {
                (self.stream, self.answer) = (stream, answer)
                stream.handler = self
                stream.resumeReading()
            }

            func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
                decoder.append(bytes)
                guard let request = try? decoder.next() else { return }
                stream.write(Array(answer(request).utf8))
                stream.closeWhenFlushed()
            }
            func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {}
        }

        private var listener: Listener!
        private var clients: [Client] = []
        private(set) var asked = 0

        init(_ status: String, _ body: String) throws {
            listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
                clients.append(
                    Client(stream) { [unowned self] request in
                        asked += 1
                        let (status, body) = request.method == "GET" ? (status, body) : ("200 OK", "{}")
                        return "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n"
                            + "Connection: close\r\n\r\n\(body)"
                    })
            }
        }

        var url: String { "http://\(listener.endpoint)/mbtopic" }
        func close() { listener.close() }
    }

    /// The pauses are half a second at least, then one, two and four: however fast the machine is, no more come in
    /// this time.
    @Test(arguments: [("200 OK", #"{"replies":[]}"#), ("503 Service Unavailable", "{}")])
    func whoIsAnsweredAtOnceAsksAgainAfterAWhile(status: String, body: String) async throws {
        let directory = try LabDirectory()
        let (phone, agent) = (try StandIn(status, body), try StandIn(status, body))
        let known = ["--pairing-token", try Phone.new(.android, descriptor: "phone").pairingToken.text]
        let agents = try LabProgram(
            [program, "bisq-agent", "--url", agent.url, "--file", directory.path + "/agent"] + known)
        let reply = [
            program, "receive", "--url", phone.url, "--file", directory.path + "/phone", "--token", "x",
            "--reply", "stop", "--timeout", "6s",
        ]
        let result = try await Task.detached { try run(reply + known) }.value
        #expect(result.status == 3, "\(result.errors)")
        #expect((2...5).contains(phone.asked), "the reply, and what asks for its answer: \(phone.asked)")
        try await until { agent.asked >= 2 }
        #expect((2...7).contains(agent.asked), "\(agent.asked)")
        await agents.kill()
        phone.close()
        agent.close()
        await directory.remove()
    }
}
