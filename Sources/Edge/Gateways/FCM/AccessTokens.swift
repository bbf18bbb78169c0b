import Clocks
import Crypto
import Encodings
import HTTP2
import Logging
import Reactor
import Relay
import TLS

/// The access token of a service account, fetched ahead of need and shared by all who send for it.
@EventLoop
final class AccessTokens {
    /// Called when there is a token after there was none, and when ``fault`` appears.
    var onChange: (@EventLoop () -> Void)?
    /// The fault that the operator must mend, as the token server says; `nil` when nothing is known to be wrong.
    private(set) var fault: String?
    /// Why the last fetch brought nothing; `nil` after one that did.
    private(set) var lastError: String?
    /// Fetches that brought nothing.
    private(set) var failures = 0

    private var life = AccessTokenLife()
    private var account: ServiceAccount
    private let url: GatewayURL
    private let egress: Egress
    private var context: TLSContext
    private let log: Logger
    private var authorization = Secret("")
    private var exchange: SingleExchange?
    private let timer = Timer()
    private var random = SystemRandomNumberGenerator()
    private var isRunning = false
    /// The calls that wait to hear whether there can be a token.
    private var looks: [@EventLoop () -> Void] = []

    init(
        for account: ServiceAccount, from url: GatewayURL, by egress: Egress, _ context: TLSContext,
        log: Logger
    ) {
        self.account = account
        self.url = url
        self.egress = egress
        self.context = context
        self.log = log
        timer.action = { [unowned self] in fetchIfDue() }
    }

    func start() { isRunning = true }

    func stop() {
        isRunning = false
        timer.stop()
        exchange = nil
        endLooks()
    }

    /// Fetches a token, if there is none; `end` is called once, when one has come or can't be had.
    func look(then end: @escaping @EventLoop () -> Void) {
        looks.append(end)
        fetchIfDue()
        if !life.isFetching { endLooks() }
    }

    private func endLooks() {
        let ended = looks
        looks = []
        for end in ended { end() }
    }

    /// The value of a request's `authorization` and the generation to name when it is refused; `nil` while there is none.
    var current: (authorization: Secret, generation: Int)? {
        guard life.hasToken(at: EventLoop.now) else { return nil }
        return (authorization, life.generation)
    }

    /// Notes that something waits. The timer stands while the machine sleeps, and the token ends meanwhile.
    func noteBacklog() {
        if current == nil { fetchIfDue() }
    }

    /// Fetches one at once, if there is none: the operator wants it.
    func retryNow() {
        guard current == nil else { return }
        life.retryNow(at: EventLoop.now)
        fetchIfDue()
    }

    func proved(generation: Int) { life.proved(generation: generation) }

    func refused(generation: Int) -> AccessTokenLife.Refusal {
        defer { fetchIfDue() }
        return life.refused(generation: generation, at: EventLoop.now)
    }

    func use(_ account: ServiceAccount, _ context: TLSContext) {
        self.account = account
        self.context = context
        exchange = nil
        fault = nil
        lastError = nil
        life.accountChanged(at: EventLoop.now)
        fetchIfDue()
    }

    private func fetchIfDue() {
        guard isRunning else { return }
        let now = EventLoop.now
        guard life.beginFetching(at: now) else {
            if !life.isFetching { timer.start(after: max(.zero, life.nextFetch - now)) }
            return
        }
        let assertion: Secret
        do throws(CryptoError) {
            assertion = try account.assertion(now: EventLoop.unixMilliseconds / 1000)
        } catch {
            return failed("\(error)", retryAfter: nil, isFault: true)
        }
        var head = HTTP2Headers(method: "POST", authority: url.authority, path: url.path)
        head.add("content-type", OAuthExchange.contentType)
        exchange = SingleExchange(
            to: url, by: egress, url.isSecure ? context : nil, head: head,
            body: OAuthExchange.body(assertion: assertion)
        ) { [unowned self] result in
            exchange = nil
            switch result {
            case .success(let answer): take(OAuthExchange.read(answer))
            case .failure(let failure):
                failed(
                    failure.isUntrusted ? OwnReason.tls.code : failure.reason, retryAfter: nil,
                    isFault: failure.isUntrusted)
            }
        }
    }

    private func take(_ answer: OAuthExchange.Answer) {
        switch answer {
        case .token(let authorization, let lifetime):
            self.authorization = authorization
            life.fetched(lifetime: lifetime, at: EventLoop.now, using: &random)
            fault = nil
            lastError = nil
            fetchIfDue()
            endLooks()
            onChange?()
        case .failed(let reason, let retryAfter): failed(reason, retryAfter: retryAfter, isFault: false)
        case .refused(let reason): failed(reason, retryAfter: nil, isFault: true)
        }
    }

    private func failed(_ reason: String, retryAfter: Duration?, isFault: Bool) {
        if lastError != reason {
            log.warning(
                "gateway.token_failed", metadata: ["host": "\(url.authority)", "reason": "\(reason)"])
        }
        lastError = reason
        failures += 1
        life.failed(at: EventLoop.now, retryAfter: retryAfter, using: &random)
        if isFault { fault = GatewayAnswer.word(reason) ?? OwnReason.tokenFailed.code }
        fetchIfDue()
        endLooks()
        onChange?()
    }
}
