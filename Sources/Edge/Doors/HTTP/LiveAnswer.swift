import HTTP1
import Reactor

/// A door of which some answers have no end.
@EventLoop
package protocol LiveDoor: HTTPDoor {
    /// Returns the call that takes over such a request; `nil`: the request is answered as any other.
    func opening(of request: HTTPRequest) -> HTTPServer.Opening?
}

/// The giver of an answer that goes on.
@EventLoop
package protocol LiveClient: AnyObject {
    /// Called when the client has taken enough of what was sent.
    func gotRoom()
    /// Called with the bytes that the client sends while the answer goes on.
    func received(_ bytes: RawSpan)
    /// Bytes that the client sent, and that are not whole.
    var heldBytes: Int { get }
    /// Called once when the connection has ended, by either end.
    func connectionEnded()
}

/// The answer to one request, which may go on for as long as the client stays.
@EventLoop
package final class LiveAnswer {
    private weak var connection: HTTPConnection?
    private var respond: (@EventLoop (HTTPResponse) -> Void)?
    private var whenGone: (@EventLoop () -> Void)?

    /// The giver of the answer, as long as the connection is there.
    package var client: (any LiveClient)?

    init(on connection: HTTPConnection, _ respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        self.connection = connection
        self.respond = respond
    }

    // MARK: One answer

    /// Answers with a response that has an end.
    package func answer(_ response: HTTPResponse) {
        whenGone = nil
        respond?(response)
        respond = nil
    }

    /// Calls back once if the client hangs up before it is answered. Whatever it has sent behind its request is not read.
    package func watch(_ whenGone: @escaping @EventLoop () -> Void) {
        guard let connection, !connection.hasEnded else { return whenGone() }
        self.whenGone = whenGone
        connection.watch(self)
    }

    /// Counts a rule that the client has broken.
    package func strike() { connection?.strike() }

    // MARK: Without an end

    /// Begins an answer without an end.
    ///
    /// - Parameters:
    ///   - status: The status that `head` says.
    ///   - places: The places at which the connection stays from now on.
    ///   - silence: The longest time for which nothing may come from the client; `nil`: for ever.
    ///   - head: The bytes before the first piece.
    /// - Returns: `false`: the client is gone.
    package func begin(_ status: Int, at places: Places, silence: Duration?, head: [UInt8]) -> Bool {
        respond = nil
        guard let connection, !connection.hasEnded else {
            connectionEnded()
            return false
        }
        connection.begin(self, status, at: places, silence: silence, head: head)
        return !connection.hasEnded
    }

    package func send(_ bytes: [UInt8]) {
        connection?.write { $0 += bytes }
        connection?.countHeld()
    }

    /// Whether the client first has to take what it was sent before.
    package var isHeldBack: Bool { connection?.isHeldBack ?? true }

    package func end() { connection?.end(.finished) }

    func connectionEnded() {
        let (client, whenGone) = (client, whenGone)
        self.client = nil
        self.whenGone = nil
        client?.connectionEnded()
        whenGone?()
    }
}
