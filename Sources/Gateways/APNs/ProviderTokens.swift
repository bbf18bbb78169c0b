import Crypto
import Delivery
import Reactor
import Relay

/// The provider token of an app, signed when it is due and shared by both hosts and all their connections.
@EventLoop
final class ProviderTokens {
    private(set) var life = ProviderTokenLife()
    private var key: ProviderKey
    private var authorization = ""

    init(_ key: ProviderKey) {
        self.key = key
    }

    /// The value of a request's `authorization`, and the generation to name when it is refused.
    func current() throws(CryptoError) -> (authorization: String, generation: Int) {
        let now = Instant.now
        if life.isDue(at: now) {
            authorization = "bearer \(try key.token(now: now.unixMilliseconds / 1000))"
            life.signed(at: now)
        }
        return (authorization, life.generation)
    }

    func expired(generation: Int) -> ProviderTokenLife.Expiry {
        life.expired(generation: generation, at: .now)
    }

    func changedTooOften() { life.changedTooOften(at: .now) }

    func use(_ key: ProviderKey) {
        self.key = key
        life.keyChanged()
    }
}
