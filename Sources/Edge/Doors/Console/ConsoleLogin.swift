import Crypto
import Reactor

/// The login to the console: it holds who may enter, makes links, and has what must not be forgotten written down.
///
/// Passphrases are hashed on another thread, one at a time (``PassphraseDigest``: 32 MiB): each stranger has one place in
/// the queue, which has ``mostWaiting``. Links and sessions cost nothing and wait for nothing, so whoever guesses
/// passphrases keeps nobody out who has one of these.
@EventLoop
package final class ConsoleLogin {
    /// How somebody got in.
    package enum Way: String, Sendable { case link, passphrase }

    /// The result of an attempt to enter.
    enum Answer {
        /// The browser has entered; the text is the token of its session.
        case entered(String)
        /// Wrong, spent, too old, or not set at all: nobody learns which.
        case refused
        /// Too many attempts: the next may come after this time.
        case later(Duration)
    }

    private var access: ConsoleAccess
    private var linkAttempts = ConsoleAttempts(perSecond: 1, burst: 30)
    private var passphraseAttempts = ConsoleAttempts(perSecond: 1 / 12, burst: 5)
    /// Senders whose passphrase is hashed or waits for it.
    private var hashing: Set<Int> = []
    private let hashes = JobQueue(named: "passphrase")
    private let save: @EventLoop (ConsoleAccess.Saved) async -> Void
    /// Called when somebody has entered; `isFirst`: the node has an owner from now on.
    package var onEntered: (@EventLoop (_ way: Way, _ isFirst: Bool) -> Void)?

    private static let mostWaiting = 8

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

    func enter(byLink text: String, from sender: Int) async -> Answer {
        let now = EventLoop.now
        // The right one always lets in: nobody guesses it, and a flood of wrong ones must keep no owner out.
        guard !access.spendLink(text, at: now) else { return await enter(by: .link) }
        let delay = linkAttempts.take(by: sender, at: now)
        return delay == .zero ? .refused : .later(delay)
    }

    func enter(byPassphrase text: String, from sender: Int) async -> Answer {
        let delay = passphraseAttempts.take(by: sender, at: EventLoop.now)
        guard delay == .zero else { return .later(delay) }
        guard hashing.count < Self.mostWaiting, hashing.insert(sender).inserted else {
            return .later(.seconds(1))
        }
        defer { hashing.remove(sender) }
        // It may have been changed meanwhile.
        guard let digest = await hash(text, salt: access.saltToTry()), access.checkPassphrase(digest)
        else { return .refused }
        return await enter(by: .passphrase)
    }

    private func enter(by way: Way) async -> Answer {
        let isFirst = !access.hasOwner
        let token = access.enter(with: ConsoleAccess.newToken(), at: now)
        onEntered?(way, isFirst)
        await keep()
        return .entered(token)
    }

    func isSession(_ token: String) -> Bool { access.isSession(token, at: now) }

    func leave(_ token: String) async {
        access.leave(token)
        await keep()
    }

    /// Sets the passphrase, and ends all other sessions.
    ///
    /// - Parameter text: The new passphrase; `nil`: there is none any more.
    /// - Returns: `false`: nothing was changed, as too many texts are being hashed, hashing failed, or the
    ///   session has ended.
    func setPassphrase(_ text: String?, by token: String) async -> Bool {
        var digest: PassphraseDigest?
        if let text {
            guard hashing.count < Self.mostWaiting else { return false }
            digest = await hash(text, salt: nil)
            guard digest != nil else { return false }
        }
        // The session may have ended meanwhile.
        guard isSession(token) else { return false }
        access.setPassphrase(digest, by: token)
        await keep()
        return true
    }

    /// Seconds since 1970.
    private var now: Int64 { EventLoop.unixMilliseconds / 1000 }

    private func keep() async {
        if let saved = access.saved { await save(saved) }
    }

    /// Hashes texts one at a time, each on a thread of its own.
    ///
    /// - Parameter salt: The salt to hash with; `nil`: a new one.
    private func hash(_ text: String, salt: [UInt8]?) async -> PassphraseDigest? {
        let passphrase = Secret(Array(text.utf8))
        return await hashes.run { try? PassphraseDigest(of: passphrase, salt: salt) }
    }
}
