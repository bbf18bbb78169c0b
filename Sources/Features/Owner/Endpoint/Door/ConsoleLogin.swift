import Clocks
import Crypto
import Doors
import Reactor
import Relay

/// The login to the console: it holds who may enter, makes links, and has what must not be forgotten written down.
///
/// Guesses at the passphrase are judged one in a turn (``PassphraseTurns``), and hashed on another thread
/// (``PassphraseDigest``: 32 MiB). A turn is long enough that all strangers together use a third of a processor, and
/// the answer to a wrong guess goes out when the next has begun, or later. Links and sessions cost nothing and wait for nothing, so whoever guesses
/// passphrases keeps nobody out who has one of these.
@EventLoop
package final class ConsoleLogin {
    /// How somebody got in.
    package enum Way: String, Sendable { case link, passphrase }

    /// The result of an attempt to enter.
    enum Answer {
        /// The browser has entered; the texts are the token of its session, and the mark by which it is known again.
        case entered(String, mark: String)
        /// Wrong, spent, too old, or not set at all: nobody learns which.
        case refused
        /// Too many attempts: the next may come after this time.
        case later(Duration)
    }

    private var access: ConsoleAccess
    private var linkAttempts = Rates<Int>(Rate(perSecond: 1, burst: 30), most: 1000)
    private var guessesOfEach = Rates<PassphraseTurns.Guesser>(
        Rate(perSecond: 1 / 12, burst: 5), most: 1000)
    private var turns = PassphraseTurns()
    /// The guesses that have no answer yet, by their numbers.
    private var guesses: [Int: Guess] = [:]
    private var isTakingTurns = false
    private let endOfTurn = Timer()
    private let hashes = JobQueue(named: "passphrase")
    private var time: @EventLoop () -> Int64 = { EventLoop.unixMilliseconds }
    private var isTimeSure: @EventLoop () -> Bool = { false }
    private var hasBound = false
    private let save: @EventLoop (ConsoleAccess.Saved) async -> Void
    /// Called when somebody has entered; `isFirst`: the node has an owner from now on.
    package var onEntered: (@EventLoop (_ way: Way, _ isFirst: Bool) -> Void)?

    private struct Guess {
        let text: String
        let tell: CheckedContinuation<Judgement, Never>
        var isWrong = false
    }

    private enum Judgement { case right, wrong, comeAgain }

    /// A turn takes this long at least, and so many times the processor time of its hash: a third of a processor is used.
    private static let shortestTurn: Duration = .milliseconds(600)
    private static let hashesPerTurn = 3

    /// Makes the login.
    ///
    /// - Parameters:
    ///   - saved: The data as they were written down; `nil`: the node has no owner.
    ///   - save: Writes the data down; returns when that is done or can't be.
    package init(
        _ saved: ConsoleAccess.Saved?, save: @escaping @EventLoop (ConsoleAccess.Saved) async -> Void
    ) {
        access = ConsoleAccess(saved)
        self.save = save
    }

    package var hasOwner: Bool { access.hasOwner }
    var work: ConsoleAccess.Work { access.work }

    /// Makes a link's text, which is good once and for a quarter of an hour. The link before it is good no
    /// more.
    package func makeLink() -> String {
        access.makeLink(
            of: randomBytes(ConsoleAccess.secretLength), at: EventLoop.now)
    }

    func enter(byLink text: String, showing mark: String? = nil, from sender: Int) async -> Answer {
        let now = EventLoop.now
        // The right one always lets in: nobody guesses it, and a flood of wrong ones must keep no owner out.
        guard !access.spendLink(text, at: now) else { return await enter(by: .link, showing: mark) }
        let delay = linkAttempts.take(by: sender, at: now)
        return delay == .zero ? .refused : .later(delay)
    }

    /// Enters by the passphrase, when it is this guess's turn.
    ///
    /// - Parameters:
    ///   - mark: The mark that the browser shows; `nil`: none.
    ///   - sender: The sender's number; 0: one of many whom nothing tells apart.
    ///   - client: Who waits for the answer: the guess of one who hangs up is not judged. `nil`: nobody looks.
    func enter(
        byPassphrase text: String, showing mark: String?, from sender: Int, watching client: LiveAnswer? = nil
    ) async -> Answer {
        let guesser: PassphraseTurns.Guesser =
            if let mark = mark.flatMap({ access.mark($0) }) { .known(mark) } else {
                sender == 0 ? .oneOfMany : .sender(sender)
            }
        if guesser != .oneOfMany {
            let delay = guessesOfEach.take(by: guesser, at: EventLoop.now)
            guard delay == .zero else { return .later(delay) }
        }
        guard let id = turns.add(from: guesser) else { return .later(.seconds(1)) }
        let judgement = await withCheckedContinuation { tell in
            guesses[id] = Guess(text: text, tell: tell)
            client?.watch { [self] in
                turns.remove(id)
                self.tell(id, .comeAgain)
            }
            guard !isTakingTurns else { return }
            isTakingTurns = true
            Task { await takeTurns() }
        }
        switch judgement {
        case .right: return await enter(by: .passphrase, showing: mark)
        case .wrong: return .refused
        case .comeAgain: return .later(.seconds(1))
        }
    }

    private func takeTurns() async {
        while !turns.isEmpty {
            let (id, over) = turns.next()
            for id in over { tell(id, guesses[id]?.isWrong == true ? .wrong : .comeAgain) }
            guard let id, let text = guesses[id]?.text else {
                if !turns.isEmpty { await pause(Self.shortestTurn) }
                continue
            }
            let began = EventLoop.now
            let (isRight, cost) = await judge(text)
            if isRight { tell(id, .right) } else { guesses[id]?.isWrong = true }
            // What a busy machine adds is no work of strangers, and lengthens no turn.
            let rest = max(Self.shortestTurn, cost * Self.hashesPerTurn) - (EventLoop.now - began)
            if rest > .zero { await pause(rest) }
        }
        isTakingTurns = false
    }

    private func tell(_ id: Int, _ judgement: Judgement) {
        guesses.removeValue(forKey: id)?.tell.resume(returning: judgement)
    }

    private func pause(_ time: Duration) async {
        await withCheckedContinuation { over in
            endOfTurn.action = { over.resume() }
            endOfTurn.start(after: time)
        }
    }

    /// Judges a guess; the cost is processor time.
    private func judge(_ text: String) async -> (isRight: Bool, cost: Duration) {
        guard let salt = access.saltToTry() else { return (false, .zero) }
        let (digest, cost) = await hash(text, salt: salt)
        // It may have been changed meanwhile.
        return (digest.map { access.checkPassphrase($0) } ?? false, cost)
    }

    private func enter(by way: Way, showing old: String?) async -> Answer {
        let isFirst = !access.hasOwner
        let token = access.enter(with: ConsoleAccess.newToken(), at: now)
        let mark = access.addMark(of: ConsoleAccess.newToken(), inPlaceOf: old)
        onEntered?(way, isFirst)
        await keep()
        return .entered(token, mark: mark)
    }

    func isSession(_ token: String) -> Bool {
        boundSessions()
        return access.isSession(token, at: now)
    }

    /// A session, and whether it is that of who asks.
    struct Entered {
        let session: ConsoleAccess.Session
        let isOwn: Bool
    }

    func sessions(of token: String) -> [Entered] {
        access.sessions(of: token, at: now).map { Entered(session: $0.session, isOwn: $0.isOwn) }
    }

    /// Ends a session by its word, and returns whether there was one.
    func end(_ id: String) async -> Bool {
        guard access.end(id) else { return false }
        await keep()
        return true
    }

    /// Notes that a browser that has entered asks for something.
    func noteUse(of token: String, by browser: String) {
        if access.noteUse(of: token, by: browser, at: now) { Task { await keep() } }
    }

    /// Whether a browser that has entered before was given this mark.
    func isMark(_ text: String) -> Bool { access.mark(text) != nil }

    func leave(_ token: String) async {
        access.leave(token)
        await keep()
    }

    /// Sets the passphrase, and ends all that was made under the old one: other sessions, marks and the link.
    ///
    /// - Parameter text: The new passphrase; `nil`: there is none any more.
    /// - Returns: `false`: nothing was changed, as hashing failed, or the session has ended.
    func setPassphrase(_ text: String?, by token: String) async -> Bool {
        var digest: PassphraseDigest?
        if let text {
            digest = await hash(text, salt: nil).digest
            guard digest != nil else { return false }
        }
        // The session may have ended meanwhile.
        guard isSession(token) else { return false }
        access.setPassphrase(digest, by: token)
        await keep()
        return true
    }

    /// Seconds since 1970.
    private var now: Int64 { time() / 1000 }

    /// Takes the time from a clock that nobody sets, once there is one (``Dispatcher/keptTime``).
    ///
    /// - Parameter isSure: Whether somebody who knows the time has confirmed that clock.
    package func use(_ time: @escaping @EventLoop () -> Int64, isSure: @escaping @EventLoop () -> Bool) {
        (self.time, isTimeSure) = (time, isSure)
    }

    /// Bounds the sessions that were read, as soon as the time is known for sure.
    private func boundSessions() {
        guard !hasBound, isTimeSure() else { return }
        hasBound = true
        access.boundSessions(at: now)
    }

    private func keep() async {
        if let saved = access.saved { await save(saved) }
    }

    /// Hashes texts one at a time, each on a thread of its own.
    ///
    /// - Parameter salt: The salt to hash with; `nil`: a new one.
    private func hash(_ text: String, salt: [UInt8]?) async -> (digest: PassphraseDigest?, cost: Duration) {
        let passphrase = Secret(Array(text.utf8))
        return await hashes.run {
            let before = ThreadTime.used
            return (try? PassphraseDigest(of: passphrase, salt: salt), ThreadTime.used - before)
        }
    }
}
