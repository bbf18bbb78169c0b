import Clocks
import Crypto
import Encodings
import Reactor

/// Calls the node's own onion address through tor now and then: nothing else tells that it can be reached, for tor has
/// no word for being cut off.
///
/// Each call takes another SOCKS user name, so a circuit of its own, and one more if the first try fails or takes long: a
/// circuit may hang for two minutes where the next one does not. The connection of a call that came through is kept and
/// asked every few seconds, which costs next to nothing: when it falls silent, the next call is made at once.
@EventLoop
final class SelfDial {
    private(set) var figures = SelfDialFigures()
    /// Whether clients that tor reports now may be the node itself: tor reports circuits up to a second late.
    func isCalling(at now: ContinuousClock.Instant) -> Bool {
        isCallingOwn || isCallingFront || tests > 0 || lastReached.map { now - $0 < .seconds(2) } ?? false
    }
    /// The time at which a call came through last; `nil`: none has.
    private var lastReached: ContinuousClock.Instant?
    private var isCallingOwn = false
    private var isCallingFront = false
    /// Calls that are made for somebody who asks.
    private var tests = 0
    /// Whether calls say anything: `false` when there is no way to make them.
    var isAble: Bool { settings.interval > .zero && hasSocks }
    /// Whether the address is to be called unreachable.
    var isFailing: Bool { figures.failuresInARow >= settings.failures }
    /// Called when a call came through, with the number of calls in a row before it that did not.
    var onSuccess: @EventLoop (_ failuresBefore: Int) -> Void = { _ in }
    /// Called when a call failed, with the reason.
    var onFailure: @EventLoop (_ words: String) -> Void = { _ in }
    /// Called when calls fail for long enough that something must be done. Not called when tor did its part
    /// and the door did not.
    var onUnreachable: @EventLoop (_ failures: Int, _ words: String) -> Void = { _, _ in }
    /// Called when another node answers under our address, and did not answer the call before.
    var onStranger: @EventLoop () -> Void = {}
    /// Called when calls to the address before ours have failed for long enough, with the reason.
    var onFrontFailure: @EventLoop (_ words: String) -> Void = { _ in }
    /// Called when the address before ours answers again, with the number of calls that failed.
    var onFrontSuccess: @EventLoop (_ failuresBefore: Int) -> Void = { _ in }

    /// The least time between two calls before which tor forgets the descriptor. Sooner than ten seconds after the last
    /// time, tor agrees to SIGNAL NEWNYM and obeys later: amid the call, whose client key it forgets then (tor's
    /// `MAX_SIGNEWNYM_RATE`).
    nonisolated static let leastForgetting: Duration = .seconds(12)

    /// Returns the way on which the address is called; `nil`: there is none. Throws where the connection to tor has ended.
    typealias Route = @EventLoop () async throws(ControlError) -> SelfDialRoute?

    private let settings: SelfDialSettings
    /// The line of the last call that came through.
    private var line: SelfDialLine?
    private let lineTimer = Timer()
    private let route: Route
    private let timer = Timer()
    private var isActive = false
    private var hasSocks = true
    /// A call says nothing of a service that was published after its begin.
    private var round = 0
    /// The beginnings of the last failed calls in a row, as many as make an alarm. A client that came during the first of many
    /// failures is no witness against the later ones.
    private var failedSince: [MonotonicTime] = []
    /// The time at which the last call began; `nil`: there was none.
    private var lastCall: ContinuousClock.Instant?
    private var random = SystemRandomNumberGenerator()

    /// Makes the caller, which calls nothing before ``begin()``.
    ///
    /// - Parameter route: asked before each call.
    init(_ settings: SelfDialSettings, route: @escaping Route) {
        self.settings = settings
        self.route = route
        timer.action = { [unowned self] in Task { [weak self] in await self?.call(at: .now) } }
        lineTimer.action = { [unowned self] in Task { [weak self] in await self?.askLine() } }
    }

    /// Begins to call: the service is published.
    func begin() {
        guard settings.interval > .zero, !isActive else { return }
        isActive = true
        timer.start(after: min(settings.firstPause, settings.interval))
    }

    /// Stops calling: the service is not there, and nothing is to be learned from calling it.
    func pause() {
        isActive = false
        round += 1
        timer.stop()
        keep(nil)
    }

    /// Calls once for somebody who asks; counts nothing.
    ///
    /// - Returns: `nil`: there is no way to call.
    func test() async -> (answer: SelfDialAnswer, duration: Duration)? {
        // Whoever comes by it is nobody else's client.
        tests += 1
        defer { tests -= 1 }
        guard isActive, let route = try? await route() else { return nil }
        let begun = ContinuousClock.now
        let reply = await answers(by: route)
        if reply.answer == .own { lastReached = .now }
        reply.line?.close()
        return (reply.answer, .now - begun)
    }

    /// Makes the next call at once: something hints that the service is cut off.
    func callSoon() {
        callSoon(after: .zero)
    }

    private func callSoon(after pause: Duration) {
        if isActive, !isCallingOwn { timer.start(after: pause) }
    }

    // MARK: Calls

    private func call(at begun: ContinuousClock.Instant) async {
        guard isActive, !isCallingOwn else { return }
        isCallingOwn = true
        lastCall = begun
        let round = round
        let route: SelfDialRoute?
        do { route = try await self.route() } catch {
            isCallingOwn = false
            // Of the end of the connection its owner hears, and calls nobody before there is another one.
            let pause = round == self.round ? settings.retryPause : settings.firstPause
            if isActive { timer.start(after: min(pause, settings.interval)) }
            return
        }
        hasSocks = route != nil
        figures.hasNoWay = !hasSocks
        var reply = SelfDialReply(.unreached("tor accepts no SOCKS connections"))
        if let route { reply = await answers(by: route) }
        isCallingOwn = false
        take(reply.answer, of: round, begunAt: begun, at: .now)
        guard isActive, round == self.round else {
            reply.line?.close()
            if isActive { timer.start(after: min(settings.firstPause, settings.interval)) }
            return
        }
        if reply.answer == .own {
            keep(reply.line)
            if let route { Task { await callFront(of: route) } }
        }
        let isWell = figures.failuresInARow == 0
        timer.start(after: unsteady(isWell ? settings.interval : min(settings.retryPause, settings.interval)))
    }

    private func unsteady(_ time: Duration) -> Duration { SelfDial.unsteady(time, using: &random) }

    /// Returns a time somewhat shorter or longer, by chance: nobody shall learn from the rhythm which calls
    /// are ours.
    nonisolated static func unsteady(
        _ time: Duration, using random: inout some RandomNumberGenerator
    ) -> Duration {
        time * Double.random(in: 0.8...1.2, using: &random)
    }

    /// Returns the first answer of a door that is not the node's own; else its own, and the line to one of
    /// the doors.
    private func answers(by route: SelfDialRoute) async -> SelfDialReply {
        var line: SelfDialLine?
        for door in settings.doors {
            let reply = await reply(of: door, by: route)
            guard reply.answer == .own else {
                line?.close()
                return reply
            }
            if line == nil { line = reply.line } else { reply.line?.close() }
        }
        return SelfDialReply(.own, line: line)
    }

    /// Returns the reply of the first try that came through, or of the last.
    private func reply(of door: SelfDialDoor, by route: SelfDialRoute) async -> SelfDialReply {
        let reply = await reply(of: door, by: route, within: settings.timeout / 4)
        guard case .unreached = reply.answer else { return reply }
        return await self.reply(of: door, by: route, within: settings.timeout)
    }

    /// Calls a door once.
    ///
    /// - Parameter patience: for tor to make the connection.
    private func reply(
        of door: SelfDialDoor, by route: SelfDialRoute, within patience: Duration
    ) async -> SelfDialReply {
        let socks = SOCKS5Route(
            proxy: route.socks, host: route.address.description, port: door.port,
            credentials: SOCKS5Credentials(user: Hex.encode(randomBytes(8)), password: "x"))
        do {
            let (stream, unread) = try await Stream.connect(through: socks, deadline: patience)
            let reply = await door.ask(stream, unread, settings.timeout)
            if reply.line == nil { stream.close() }
            return reply
        } catch {
            return SelfDialReply(.unreached("port \(door.port): \(error)"))
        }
    }

    // MARK: The address before ours

    /// Calls the address before ours. Any node behind it may answer, and when none does, nothing can be done
    /// about it here. Only the first door is called: what the other doors say could be taken for the answer
    /// to a call of our own address.
    private func callFront(of route: SelfDialRoute) async {
        guard let front = settings.front, front != route.address, let door = settings.doors.first,
            !isCallingFront
        else { return }
        isCallingFront = true
        let round = round
        let reply = await reply(of: door, by: SelfDialRoute(socks: route.socks, address: front))
        isCallingFront = false
        reply.line?.close()
        guard round == self.round else { return }
        var seen = figures.front ?? FrontFigures()
        switch reply.answer {
        case .own, .another:
            if seen.failuresInARow >= settings.failures { onFrontSuccess(seen.failuresInARow) }
            seen.failuresInARow = 0
            seen.lastSuccess = EventLoop.unixTime
            seen.lastSuccessInstant = EventLoop.awake
            seen.lastFailure = nil
        case .unreached(let words), .unanswered(let words):
            seen.failuresInARow += 1
            seen.lastFailure = words
            if seen.failuresInARow == settings.failures { onFrontFailure(words) }
        }
        seen.isFailing = seen.failuresInARow >= settings.failures
        figures.front = seen
    }

    // MARK: The line that stands

    private func keep(_ line: SelfDialLine?) {
        self.line?.close()
        self.line = line
        if line == nil { lineTimer.stop() } else { lineTimer.start(after: unsteady(settings.lineInterval)) }
    }

    private func askLine() async {
        guard let line else { return }
        let answer = await line.ask(within: settings.lineTimeout)
        guard line === self.line else { return }
        switch answer {
        case .answered:
            lineTimer.start(after: unsteady(settings.lineInterval))
        case .silent:
            keep(nil)
            take(.unreached("no answer on the open connection"), after: settings.lineTimeout)
            callSoon()
        case .ended:
            // As circuits do now and then; if each did, this would go on and on.
            keep(nil)
            callSoon(after: pauseAfterLine(at: .now))
        }
    }

    /// Returns the pause before the call that follows the end of a line.
    private func pauseAfterLine(at now: ContinuousClock.Instant) -> Duration {
        lastCall.map { max(.zero, $0 + settings.retryPause - now) } ?? .zero
    }

    // MARK: Counting

    /// Takes the answer to a call, which counts unless the service was published anew meanwhile.
    private func take(
        _ answer: SelfDialAnswer, of round: Int, begunAt begun: ContinuousClock.Instant,
        at now: ContinuousClock.Instant
    ) {
        if answer == .own { lastReached = now }
        if round == self.round, hasSocks || settings.needsSocks { take(answer, after: now - begun) }
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
            failedSince = []
            figures.failingSince = nil
            figures.lastSuccess = EventLoop.unixTime
            figures.lastSuccessInstant = EventLoop.awake
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
        failedSince = (failedSince + [EventLoop.now - duration]).suffix(max(1, settings.failures))
        figures.failingSince = failedSince.first
        figures.failures += 1
        figures.failuresInARow += 1
        onFailure(words)
    }
}
