import Clocks
import HTTP1
import Reactor
import Relay

/// One protocol over HTTP. Several can share a server: each knows its own paths.
@EventLoop
package protocol HTTPDoor: AnyObject {
    /// Returns the handler of requests for a path (as sent, percent-encoded); `nil` where it is none of this door's. No two
    /// doors have one in common. A path is read here, once for each request.
    func handler(for path: String) -> HTTPServer.Handler?

    /// Returns the answer that this door's clients understand as "retry then".
    func busyAnswer(_ busy: Busy) -> HTTPResponse

    /// Returns the answer that this door's clients understand as "too much".
    func tooLargeAnswer(limit: Int) -> HTTPResponse

    /// Gives an answer of the server itself, in plain text, the form that this door's clients read: the refusal of a
    /// request that is none, or of a path that no door knows.
    func refusal(_ response: HTTPResponse) -> HTTPResponse

    /// Answers soon with what is known then, to whoever waits for an outcome: the node hands on to its successor.
    func hurry()
}

extension HTTPDoor {
    /// Answers a request by calling `respond` once, now or later: 404 where its path is none of this door's.
    package func answer(_ request: HTTPRequest, respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        guard let handler = handler(for: request.path) else {
            return respond(refusal(HTTPResponse(status: 404, text: "no such endpoint")))
        }
        handler(request, respond)
    }

    package func busyAnswer(_ busy: Busy) -> HTTPResponse { HTTPResponse(busy) }

    package func tooLargeAnswer(limit: Int) -> HTTPResponse {
        HTTPResponse(status: 413, text: "body over \(limit) bytes")
    }

    package func refusal(_ response: HTTPResponse) -> HTTPResponse { response }

    package func hurry() {}
}

/// A door with limits of its own, on whatever servers it is served: however many come to it, the other doors have
/// their share of the node.
@EventLoop
package final class LimitedDoor: HTTPDoor {
    package struct Limits: Equatable, Sendable {
        /// Requests that are not answered yet, at a time.
        package var requests = 1000
        /// Requests a second, on average; as many may come at once.
        package var rate = 500
        /// Bytes of a body.
        package var body = 32_768

        package init() {}
    }

    private let door: any HTTPDoor
    private let limits: Limits
    private let rate: Rate
    private var unanswered = 0
    private var used = Rate.Use()
    /// Requests that were turned away here.
    package private(set) var turnedAway = 0

    private static let retryWhenFull: Duration = .seconds(5)

    package init(_ door: any HTTPDoor, limits: Limits) {
        self.door = door
        self.limits = limits
        rate = Rate(perSecond: Double(limits.rate), burst: limits.rate)
    }

    package func handler(for path: String) -> HTTPServer.Handler? {
        guard let handler = door.handler(for: path) else { return nil }
        return { [self] in answer($0, by: handler, $1) }
    }

    private func answer(
        _ request: HTTPRequest, by handler: HTTPServer.Handler,
        _ respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        guard request.body.count <= limits.body else {
            turnedAway += 1
            return respond(door.tooLargeAnswer(limit: limits.body))
        }
        if let busy = admit(at: EventLoop.now) {
            turnedAway += 1
            return respond(door.busyAnswer(busy))
        }
        unanswered += 1
        handler(request) { [self] response in
            unanswered -= 1
            respond(response)
        }
    }

    private func admit(at time: MonotonicTime) -> Busy? {
        guard unanswered < limits.requests else { return .node(retryAfter: LimitedDoor.retryWhenFull) }
        let delay = rate.take(from: &used, at: time)
        return delay > .zero ? .node(retryAfter: delay) : nil
    }

    package func busyAnswer(_ busy: Busy) -> HTTPResponse { door.busyAnswer(busy) }
    package func tooLargeAnswer(limit: Int) -> HTTPResponse { door.tooLargeAnswer(limit: limit) }
    package func refusal(_ response: HTTPResponse) -> HTTPResponse { door.refusal(response) }
    package func hurry() { door.hurry() }
}
