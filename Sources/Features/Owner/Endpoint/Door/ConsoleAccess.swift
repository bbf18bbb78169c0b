import Clocks
import Crypto
import Doors
import Encodings

/// The access to the console: it lets in whoever has a link that is good once, the passphrase, or the
/// session that either of them gave.
///
/// Two states: nobody has entered yet, and somebody has (``hasOwner``). It leaves the first with the first link that is
/// spent, and never comes back to it. Of secrets only digests are held. ``ConsoleLogin`` asks it; strangers learn nothing
/// of it.
package struct ConsoleAccess {
    /// A browser that has entered.
    package struct Session: Equatable, Sendable {
        /// SHA-256 of the session's token.
        package let digest: [UInt8]
        /// The end of the session, in seconds since 1970.
        package let ends: Int64
        /// The name of its browser (``BrowserName``); empty: nothing is known of it.
        package private(set) var browser: String
        /// The time at which it was used last, in seconds since 1970; of one that was read it may be an hour earlier.
        package private(set) var used: Int64
        /// The last use that was written down.
        private var written: Int64

        package init(digest: [UInt8], ends: Int64, browser: String = "", used: Int64 = 0) {
            self.digest = digest
            self.ends = ends
            self.browser = BrowserName.isName(browser) ? browser : ""
            self.used = used
            written = used
        }

        /// A word for the session that opens nothing.
        var id: String { Hex.encode(Array(digest.prefix(8))) }

        /// Notes that it is used; returns whether that is worth writing down.
        fileprivate mutating func note(_ browser: String, at now: Int64) -> Bool {
            let isNews = browser != self.browser || now >= written + Self.pause || now < written
            (self.browser, used) = (browser, now)
            if isNews { written = now }
            return isNews
        }

        /// Seconds between two uses that are written down.
        private static let pause: Int64 = 3600
    }

    /// The part that a restart must not forget.
    package struct Saved: Equatable, Sendable {
        package var passphrase: PassphraseDigest?
        /// The oldest first.
        package var sessions: [Session] = []
        /// SHA-256 of the marks of browsers that have entered, the oldest first. A mark opens nothing: with one a browser
        /// has a share of the guesses for itself, which no stranger uses up.
        package var marks: [[UInt8]] = []

        package init() {}
    }

    private struct Link {
        /// SHA-256 of the link's secret.
        let digest: [UInt8]
        let ends: MonotonicTime
    }

    /// The work done to judge strangers. It is the same for each text, right or wrong; where there is no passphrase
    /// nothing is hashed, and the answer takes as long (``ConsoleLogin``).
    struct Work: Equatable, Sendable {
        /// The number of times that scrypt was run over a passphrase.
        var hashes = 0
        /// The number of digests of a link that were made.
        var digests = 0
        var comparisons = 0
    }

    /// The data that are written down; `nil`: the node has no owner.
    package private(set) var saved: Saved?
    private var link: Link?
    private(set) var work = Work()

    /// Bytes of a link's secret, and of a session's token.
    package static let secretLength = 20
    private static let tokenLength = 32
    package static let linkLifetime: Duration = .seconds(15 * 60)
    package static let sessionLifetime: Duration = .seconds(30 * 86_400)
    /// The most sessions. One more ends the oldest.
    package static let mostSessions = 16
    /// The most marks. One more, and the oldest is none any more.
    package static let mostMarks = 16
    /// How long a browser keeps its mark.
    static let markLifetime: Duration = .seconds(400 * 86_400)
    /// The bytes that a passphrase may have.
    package static let passphraseLengths = 10...1024

    package init(_ saved: Saved?) { self.saved = saved }

    package var hasOwner: Bool { saved != nil }
    package var passphrase: PassphraseDigest? { saved?.passphrase }

    // MARK: The link

    /// Makes a link's secret good; the link before it is good no more.
    ///
    /// - Returns: The text that stands in the link.
    package mutating func makeLink(of secret: [UInt8], at now: MonotonicTime) -> String {
        precondition(secret.count == Self.secretLength, "\(secret.count) bytes for a link's secret")
        let text = Base64.encodeForURL(secret)
        link = Link(digest: Self.digest(text), ends: now + Self.linkLifetime)
        return text
    }

    /// Enters by a link, which is spent by it. A wrong text spends nothing.
    package mutating func spendLink(_ text: String, at now: MonotonicTime) -> Bool {
        work.digests += 1
        let isRight = compare(Self.digest(text), link?.digest ?? Self.nobodys)
        guard isRight, let link, now < link.ends else { return false }
        self.link = nil
        return true
    }

    /// Returns the salt with which a text is hashed that may be the passphrase; `nil`: there is no passphrase.
    mutating func saltToTry() -> [UInt8]? {
        guard let salt = passphrase?.salt else { return nil }
        work.hashes += 1
        return salt
    }

    /// Checks a text that may be the passphrase, and counts the work.
    ///
    /// - Parameter digest: The text's, made with ``saltToTry()``. Another passphrase may have been set since.
    /// - Returns: Whether the text is the passphrase.
    mutating func checkPassphrase(_ digest: PassphraseDigest) -> Bool {
        guard let passphrase else { return false }
        let hasSalt = compare(digest.salt, passphrase.salt)
        let hasKey = compare(digest.key.bytes, passphrase.key.bytes)
        return hasSalt && hasKey
    }

    /// Compares secret bytes in constant time, and counts the comparison.
    ///
    /// - Returns: Whether they are equal.
    private mutating func compare(_ given: [UInt8], _ known: [UInt8]) -> Bool {
        work.comparisons += 1
        return equalInConstantTime(given, known)
    }

    /// The bytes that stand where there is no link.
    private static let nobodys = [UInt8](repeating: 0, count: 32)

    // MARK: Sessions

    /// Lets a browser in; a node without an owner has one from then on.
    ///
    /// - Parameters:
    ///   - random: Bytes of chance.
    ///   - now: Seconds since 1970.
    /// - Returns: The token of the browser's session.
    package mutating func enter(with random: [UInt8], at now: Int64) -> String {
        precondition(random.count == Self.tokenLength, "\(random.count) bytes for a session's token")
        let token = Base64.encodeForURL(random)
        var saved = saved ?? Saved()
        saved.sessions.removeAll { $0.ends <= now }
        if saved.sessions.count >= Self.mostSessions {
            saved.sessions.removeFirst(saved.sessions.count - Self.mostSessions + 1)
        }
        saved.sessions.append(
            Session(digest: Self.digest(token), ends: now + Self.sessionLifetime.components.seconds))
        self.saved = saved
        return token
    }

    /// Lets no session live longer than one that begins now: those that do were made by a clock that was ahead.
    mutating func boundSessions(at now: Int64) {
        guard var saved else { return }
        let latest = now + Self.sessionLifetime.components.seconds
        for (index, session) in saved.sessions.enumerated() where session.ends > latest {
            saved.sessions[index] = Session(
                digest: session.digest, ends: latest, browser: session.browser, used: min(session.used, now))
        }
        self.saved = saved
    }

    package static func newToken() -> [UInt8] { randomBytes(tokenLength) }

    /// Makes a mark for a browser that has just entered, so that the node knows the browser again.
    ///
    /// - Parameter old: The mark that the browser had; `nil`: none.
    /// - Returns: The text of the mark, for the browser to keep.
    mutating func addMark(of random: [UInt8], inPlaceOf old: String? = nil) -> String {
        precondition(random.count == Self.tokenLength, "\(random.count) bytes for a mark")
        let text = Base64.encodeForURL(random)
        var marks = saved?.marks ?? []
        if let old = old.flatMap({ mark($0) }) { marks.removeAll { $0 == old } }
        if marks.count >= Self.mostMarks { marks.removeFirst(marks.count - Self.mostMarks + 1) }
        marks.append(Self.digest(text))
        saved?.marks = marks
        return text
    }

    /// Returns the digest of a mark; `nil`: no browser was given this text.
    func mark(_ text: String) -> [UInt8]? {
        let digest = Self.digest(text)
        return saved?.marks.first { equalInConstantTime($0, digest) }
    }

    package func isSession(_ token: String, at now: Int64) -> Bool {
        let digest = Self.digest(token)
        return saved?.sessions.contains { $0.ends > now && equalInConstantTime($0.digest, digest) } ?? false
    }

    /// Notes that the browser of a session asks for something.
    ///
    /// - Returns: Whether that is worth writing down: it is another browser than before, or an hour has passed.
    mutating func noteUse(of token: String, by browser: String, at now: Int64) -> Bool {
        let digest = Self.digest(token)
        guard let index = saved?.sessions.firstIndex(where: { $0.digest == digest }) else { return false }
        return saved?.sessions[index].note(browser, at: now) ?? false
    }

    /// Returns the sessions that are good, and whether each is that of a token.
    func sessions(of token: String, at now: Int64) -> [(session: Session, isOwn: Bool)] {
        let digest = Self.digest(token)
        return (saved?.sessions ?? []).filter { $0.ends > now }.map { ($0, $0.digest == digest) }
    }

    /// Ends a session by its word, and returns whether there was one.
    mutating func end(_ id: String) -> Bool {
        guard let index = saved?.sessions.firstIndex(where: { $0.id.hasSameBytes(as: id) }) else {
            return false
        }
        saved?.sessions.remove(at: index)
        return true
    }

    package mutating func leave(_ token: String) {
        let digest = Self.digest(token)
        saved?.sessions.removeAll { $0.digest == digest }
    }

    /// Sets the passphrase. Another passphrase ends all that whoever knew the old one may have made for himself: all sessions
    /// but the one that has set it, all marks, and the link.
    package mutating func setPassphrase(_ passphrase: PassphraseDigest?, by token: String) {
        let digest = Self.digest(token)
        saved?.passphrase = passphrase
        saved?.sessions.removeAll { $0.digest != digest }
        saved?.marks = []
        link = nil
    }

    private static func digest(_ text: String) -> [UInt8] { Hash.sha256(Array(text.utf8)) }
}
