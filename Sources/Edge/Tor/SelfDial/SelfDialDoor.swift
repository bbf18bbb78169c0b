import Reactor

/// The result of a call to the own address.
package enum SelfDialAnswer: Equatable, Sendable {
    /// The node's own door answered.
    case own
    /// A door answered, of another node under the same address.
    case another
    /// Tor made no connection; the text says why.
    case unreached(String)
    /// Tor made a connection, and the door did not do its part; the text says why.
    case unanswered(String)

    /// The words for what is wrong; `nil` if all is well.
    var words: String? {
        switch self {
        case .own: nil
        case .another: "another node answers under this address"
        case .unreached(let words), .unanswered(let words): words
        }
    }
}

/// A door's answer, and the connection, if it is of further use.
package struct SelfDialReply: Sendable {
    package var answer: SelfDialAnswer
    package var line: SelfDialLine?

    package init(_ answer: SelfDialAnswer, line: SelfDialLine? = nil) {
        self.answer = answer
        self.line = line
    }
}

/// A connection to a door of our own that stays open after the call.
@EventLoop
package final class SelfDialLine {
    package enum Answer: Equatable, Sendable {
        case answered
        /// The door has not answered in time.
        case silent
        /// There is no connection any more.
        case ended
    }

    private let question: @EventLoop (Duration) async -> Answer
    private let end: @EventLoop () -> Void

    package init(
        ask: @escaping @EventLoop (Duration) async -> Answer, close: @escaping @EventLoop () -> Void
    ) {
        question = ask
        end = close
    }

    /// Asks the door once more.
    package func ask(within limit: Duration) async -> Answer { await question(limit) }
    package func close() { end() }
}

/// A port of the onion address that is called, and what is said there.
package struct SelfDialDoor: Sendable {
    package var port: UInt16
    /// Talks over a new stream (reading paused; these bytes came already) until the deadline. The caller closes it unless
    /// it became a line.
    package var ask: @EventLoop @Sendable (Stream, [UInt8], Duration) async -> SelfDialReply

    package init(
        port: UInt16, ask: @escaping @EventLoop @Sendable (Stream, [UInt8], Duration) async -> SelfDialReply
    ) {
        self.port = port
        self.ask = ask
    }
}

package struct SelfDialSettings: Sendable {
    /// The time between calls; zero: no calls are made.
    package var interval = Duration.seconds(300)
    /// The pause after a call that failed.
    package var retryPause = Duration.seconds(30)
    /// The pause after the service was published: not every directory has it yet.
    package var firstPause = Duration.seconds(10)
    /// The time for tor to make one connection, and as much for the door to answer on it. The first try of a
    /// call has a quarter of it for the connection.
    package var timeout = Duration.seconds(30)
    /// The time between questions on a connection that stands. With ``lineTimeout`` and the time of one call
    /// it is how long a cut network may go unnoticed: less than a minute.
    package var lineInterval = Duration.seconds(10)
    /// The time for the answer to a question on a connection that stands.
    package var lineTimeout = Duration.seconds(10)
    /// The number of calls in a row whose failure means that nobody can reach the service. A line that fell
    /// silent counts as one.
    package var failures = 2
    package var doors: [SelfDialDoor] = []
    /// The address that clients call, where it is not our own (``OnionForm/front``): called after our own, and any node
    /// behind it may answer.
    package var front: OnionAddress?
    /// Whether a tor without a SOCKS port is a fault. The system's may have none.
    var needsSocks = false

    package init() {}
}

/// The way on which the own address is called.
struct SelfDialRoute: Equatable, Sendable {
    var socks: Endpoint
    var address: OnionAddress
}
