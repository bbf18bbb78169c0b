import Crypto
import Reactor

/// Calls the node's own onion address through tor now and then: nothing else tells that it can be reached, for tor has
/// no word for being cut off.
///
/// Each call takes another SOCKS user name, so a circuit of its own, and one more if the first try fails: a circuit may
/// hang for two minutes where the next one does not.
@EventLoop
final class SelfDial {
    private(set) var figures = SelfDialFigures()
    /// Clients that come meanwhile may be the node itself.
    private(set) var isCalling = false
    /// Whether calls say anything: `false` when there is no way to make them.
    var isAble: Bool { settings.interval > .zero && hasSocks }
    /// Whether the address is to be called unreachable.
    var isFailing: Bool { figures.failuresInARow >= settings.failures }
    /// The call came through, after so many in a row that did not.
    var onSuccess: @EventLoop (_ failuresBefore: Int) -> Void = { _ in }
    /// A call failed; why.
    var onFailure: @EventLoop (_ words: String) -> Void = { _ in }
    /// Calls fail for long enough that something must be done. Not called when tor did its part and the door did not.
    var onUnreachable: @EventLoop (_ failures: Int, _ words: String) -> Void = { _, _ in }
    /// Another node answers under our address. Called once until one of our own answers again.
    var onStranger: @EventLoop () -> Void = {}

    private let settings: SelfDialSettings
    private let route: @EventLoop () async -> SelfDialRoute?
    private var timer: Timer!
    private var isActive = false
    private var hasSocks = true
    /// A call says nothing of a service that was published after its begin.
    private var round = 0

    /// - Parameter route: asked before each call; `nil`: none can be made.
    init(_ settings: SelfDialSettings, route: @escaping @EventLoop () async -> SelfDialRoute?) {
        self.settings = settings
        self.route = route
        timer = Timer { [unowned self] in Task { await call() } }
    }

    /// The service is published.
    func begin() {
        guard settings.interval > .zero, !isActive else { return }
        isActive = true
        timer.start(after: min(settings.firstPause, settings.interval))
    }

    /// The service is not there, and nothing is to be learned from calling it.
    func pause() {
        isActive = false
        round += 1
        timer.stop()
    }

    /// Something hints that the service is cut off.
    func callSoon() {
        if isActive, !isCalling { timer.start(after: .zero) }
    }

    private func call() async {
        guard isActive, !isCalling else { return }
        isCalling = true
        let begun = ContinuousClock.now
        let round = round
        let route = await route()
        hasSocks = route != nil
        var answer = SelfDialAnswer.unreached("tor takes no SOCKS connections")
        if let route { answer = await answers(by: route) }
        isCalling = false
        if round == self.round, hasSocks || settings.needsSocks { take(answer, after: .now - begun) }
        guard isActive else { return }
        let isWell = figures.failuresInARow == 0
        let wait = isWell ? settings.interval : min(settings.retryPause, settings.interval)
        // Not by the clock: nobody shall learn from the rhythm which calls are ours.
        timer.start(after: wait * Double.random(in: 0.8...1.2))
    }

    /// The worst answer of all doors.
    private func answers(by route: SelfDialRoute) async -> SelfDialAnswer {
        for door in settings.doors {
            var answer = SelfDialAnswer.unreached("")
            for _ in 0..<2 {
                answer = await self.answer(of: door, by: route)
                if case .unreached = answer { continue }
                break
            }
            guard answer == .own else { return answer }
        }
        return .own
    }

    private func answer(of door: SelfDialDoor, by route: SelfDialRoute) async -> SelfDialAnswer {
        let socks = SOCKS5Route(
            proxy: route.socks, host: route.address.description, port: door.port,
            credentials: SOCKS5Credentials(user: Hex.encode(randomBytes(8)), password: "x"))
        do {
            let (stream, unread) = try await Stream.connect(through: socks, deadline: settings.timeout)
            defer { stream.close() }
            return await door.ask(stream, unread, settings.timeout)
        } catch {
            return .unreached("port \(door.port): \(error)")
        }
    }

    private func take(_ answer: SelfDialAnswer, after duration: Duration) {
        figures.dials += 1
        figures.lastFailure = answer.words
        let wasStranger = figures.isAnsweredByAnother
        figures.isAnsweredByAnother = answer == .another
        switch answer {
        case .own:
            let before = figures.failuresInARow
            figures.failuresInARow = 0
            figures.failingSince = nil
            figures.lastSuccess = EventLoop.unixMilliseconds
            figures.lastDuration = duration
            onSuccess(before)
        case .another:
            if !wasStranger { onStranger() }
        case .unreached(let words):
            countFailure(words, after: duration)
            if isFailing { onUnreachable(figures.failuresInARow, words) }
        case .unanswered(let words):
            countFailure(words, after: duration)
        }
    }

    private func countFailure(_ words: String, after duration: Duration) {
        if figures.failingSince == nil {
            figures.failingSince = EventLoop.unixMilliseconds - duration.nanoseconds / 1_000_000
        }
        figures.failures += 1
        figures.failuresInARow += 1
        onFailure(words)
    }
}

/// What became of a call to the own address.
package enum SelfDialAnswer: Equatable, Sendable {
    /// The node's own door answered.
    case own
    /// A door answered, of another node under the same address.
    case another
    /// Tor made no connection; why.
    case unreached(String)
    /// Tor made one, and the door did not do its part; why.
    case unanswered(String)

    /// `nil` if all is well.
    var words: String? {
        switch self {
        case .own: nil
        case .another: "another node answers under this address"
        case .unreached(let words), .unanswered(let words): words
        }
    }
}

/// A port of the onion address that is called, and what is said there.
package struct SelfDialDoor: Sendable {
    package var port: UInt16
    /// Talks over a new stream (reading paused; these bytes came already) until the deadline. The caller closes it.
    package var ask: @EventLoop @Sendable (Stream, [UInt8], Duration) async -> SelfDialAnswer

    package init(
        port: UInt16, ask: @escaping @EventLoop @Sendable (Stream, [UInt8], Duration) async -> SelfDialAnswer
    ) {
        self.port = port
        self.ask = ask
    }
}

package struct SelfDialSettings: Sendable {
    /// Between calls; zero: none are made.
    package var interval = Duration.seconds(300)
    /// After a call that failed.
    package var retryPause = Duration.seconds(30)
    /// After the service was published: not every directory has it yet.
    package var firstPause = Duration.seconds(10)
    /// For tor to make one connection, and for the door to answer on it.
    package var timeout = Duration.seconds(30)
    /// So many in a row that fail mean that nobody can reach the service.
    package var failures = 2
    package var doors: [SelfDialDoor] = []
    /// Whether a tor without a SOCKS port is a fault. The system's may have none.
    var needsSocks = false

    package init() {}
}

/// How the own address is called.
struct SelfDialRoute: Equatable, Sendable {
    var socks: Endpoint
    var address: OnionAddress
}
