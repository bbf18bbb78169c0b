import Client
import HTTP1
import Reactor

/// A web server on loopback in plain HTTP/1.1, which can speak WebSocket too: what stands behind it is a stand-in's.
@EventLoop
package final class SimulatedSite {
    package enum Reply {
        case answer(HTTPResponse)
        /// The handshake is answered, then the socket is handed over; it has to be kept.
        case socket(protocol: String?, @EventLoop (WebSocket) -> Void)
    }

    private let answer: @EventLoop (HTTPRequest) -> Reply
    private var listener: Listener!
    private var connections: [ObjectIdentifier: Connection] = [:]

    package init(
        on endpoint: Endpoint = .host("127.0.0.1", port: 0),
        answer: @escaping @EventLoop (HTTPRequest) -> Reply
    ) throws(SystemError) {
        self.answer = answer
        listener = try Listener(on: endpoint) { [unowned self] stream in
            let connection = Connection(stream, of: self)
            connections[ObjectIdentifier(connection)] = connection
        }
    }

    package var endpoint: Endpoint { listener.endpoint }

    package func close() {
        listener.close()
        for connection in connections.values { connection.close() }
        connections = [:]
    }

    /// One client, as long as it speaks HTTP.
    @EventLoop
    private final class Connection: StreamHandler {
        private let stream: Stream
        private unowned let site: SimulatedSite
        private var decoder = HTTPRequestDecoder()

        init(_ stream: Stream, of site: SimulatedSite) {
            self.stream = stream
            self.site = site
            stream.handler = self
        }

        func stream(_ stream: Stream, received bytes: RawSpan) {
            decoder.append(bytes)
            do throws(HTTPFault) {
                while let request = try decoder.next() {
                    switch site.answer(request) {
                    case .answer(let response): say(response)
                    case .socket(let name, let takeOver):
                        guard let handshake = WebSocket.answer(to: request, protocol: name) else {
                            say(HTTPResponse(status: 400))
                            continue
                        }
                        stream.write(handshake)
                        site.connections[ObjectIdentifier(self)] = nil
                        return takeOver(WebSocket(stream, isClient: false))
                    }
                }
            } catch {
                say(HTTPResponse(error))
                stream.closeWhenFlushed()
            }
        }

        private func say(_ response: HTTPResponse) {
            var output: [UInt8] = []
            response.encode(into: &output)
            stream.write(output)
        }

        func stream(_ stream: Stream, ended end: StreamEnd) { close() }

        func close() {
            stream.close()
            site.connections[ObjectIdentifier(self)] = nil
        }
    }
}
