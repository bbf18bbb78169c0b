import Clocks
import Crypto
import Encodings
import Outbound
import Reactor
import Relay

/// The life of a token for a push service: when it is to be signed anew.
///
/// Services take tokens that end at most 24 hours ahead by their clock; Apple wants the same token for an hour at least.
struct VAPIDTokenLife: Equatable, Sendable {
    static let lifetime: Duration = .seconds(12 * 3600)
    static let renewalAge: Duration = .seconds(6 * 3600)
    /// The shortest age of a token that may be over. A token that was refused sooner than this after its
    /// signing was good: keys or clock are wrong.
    static let shortestAge: Duration = .seconds(3600)
    /// The step of the wall clock after which the token's end no longer fits what the service's clock says,
    /// if this one is right now.
    static let clockStep: Duration = .seconds(5 * 60)

    private let signedAt: Instant
    private var mustRenew = false

    init(signedAt: Instant) { self.signedAt = signedAt }

    func isDue(at now: Instant) -> Bool {
        let age = now.monotonic - signedAt.monotonic
        // The monotonic clock stands still while a machine sleeps; the other one doesn't.
        let wallAge = now.unix - signedAt.unix
        return mustRenew || age >= VAPIDTokenLife.renewalAge
            || max(wallAge - age, age - wallAge) >= VAPIDTokenLife.clockStep
    }

    /// Notes that the service has refused the token.
    ///
    /// - Returns: Whether another token may help.
    mutating func refused(at now: Instant) -> Bool {
        let age = now.monotonic - signedAt.monotonic
        guard age >= VAPIDTokenLife.shortestAge || isDue(at: now) else { return false }
        mustRenew = true
        return true
    }
}

/// The tokens of the node's VAPID key, one for each push service, shared by all that goes there.
@EventLoop
final class VAPIDTokens {
    private struct Entry {
        var life: VAPIDTokenLife
        let generation: Int
        let authorization: Secret
    }

    private var key: VAPIDKey
    private let contact: String
    private var entries: [ByteText: Entry] = [:]
    private var signed = 0
    /// The most tokens. Services come and go; a token that is signed again does no harm.
    private static let mostEntries = 1024

    init(_ key: VAPIDKey, contact: String) {
        self.key = key
        self.contact = contact
    }

    /// Returns the value of a request's `authorization`, and the generation to name when it is refused.
    func current(for origin: String) throws(CryptoError) -> (authorization: Secret, generation: Int) {
        let now = Instant.now
        if let entry = entries[ByteText(origin)], !entry.life.isDue(at: now) {
            return (entry.authorization, entry.generation)
        }
        if entries.count >= VAPIDTokens.mostEntries { entries.removeAll(keepingCapacity: true) }
        signed += 1
        let end = now.unix.milliseconds / 1000 + VAPIDTokenLife.lifetime.components.seconds
        let entry = Entry(
            life: VAPIDTokenLife(signedAt: now), generation: signed,
            authorization: try key.authorization(for: origin, contact: contact, until: end))
        entries[ByteText(origin)] = entry
        return (entry.authorization, entry.generation)
    }

    /// Notes that the service has refused a token.
    ///
    /// - Returns: Whether another token may help: the refused one is not the present one any more, or it is
    ///   old.
    func refused(generation: Int, for origin: String) -> Bool {
        guard entries[ByteText(origin)]?.generation == generation else { return true }
        return entries[ByteText(origin)]?.life.refused(at: .now) ?? true
    }

    func use(_ key: VAPIDKey) {
        guard key.publicText != self.key.publicText else { return }
        self.key = key
        entries = [:]
    }
}
