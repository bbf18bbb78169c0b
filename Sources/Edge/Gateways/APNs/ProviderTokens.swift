import Crypto
import Outbound
import Reactor
import Relay

/// The provider token of an app, signed when it is due and shared by both hosts and all their connections.
@EventLoop
final class ProviderTokens {
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) private(set) var life = ProviderTokenLife()
    private var key: ProviderKey
    private var authorization = Secret("")

    init(_ key: ProviderKey) {
        self.key = key
    }

    /// Returns the value of a request's `authorization`, and the generation to name when it is refused.
    func current() throws(CryptoError) -> (authorization: Secret, generation: Int) {
        let now = Instant.now
        if life.isDue(at: now) {
            authorization = try key.authorization(now: now.unix.milliseconds / 1000)
            life.signed(at: now)
        }
        return (authorization, life.generation)
    }

    func expired(generation: Int) -> ProviderTokenLife.Expiry {
        life.expired(generation: generation, at: .now)
    }

    /// Whether requests are still sent under the token of that generation.
    func isPresent(_ generation: Int) -> Bool { life.isPresent(generation) }

    func changedTooOften() { life.changedTooOften(at: .now) }

    /// Takes over a key. The same key goes on with its token: Apple minds a new one within 20 minutes.
    func use(_ key: ProviderKey) {
        guard key != self.key else { return }
        self.key = key
        life.keyChanged()
    }
}
