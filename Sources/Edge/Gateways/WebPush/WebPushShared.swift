import Clocks
import Crypto
import Encodings
import HTTP2
import Logging
import Outbound
import Reactor
import Relay
import TLS

/// Why no request is made of a notification, and what becomes of it.
struct Unsendable: Error {
    let outcome: Outcome
}

/// The state that the gateways to all push servers share.
@EventLoop
final class WebPushShared {
    nonisolated let hosts: PushHosts
    let tokens: VAPIDTokens
    let budget = SealingBudget()
    let egress: Egress
    let log: Logger
    /// The time at which a server's name was found last, : then the name servers
    /// answer.
    var lastFound = MonotonicTime.longAgo
    private(set) var context: TLSContext
    /// The absences of servers by host and port: a lane that loses its gateway for a while gets the same.
    private var absences: [ByteText: ServerAbsence] = [:]
    private static let mostAbsences = 1024

    init(
        _ hosts: PushHosts, _ key: VAPIDKey, contact: String, by egress: Egress, _ context: TLSContext,
        log: Logger
    ) {
        self.hosts = hosts
        tokens = VAPIDTokens(key, contact: contact)
        self.egress = egress
        self.context = context
        self.log = log
    }

    func absence(of authority: String) -> ServerAbsence {
        if let absence = absences[ByteText(authority)] { return absence }
        if absences.count >= WebPushShared.mostAbsences { absences = absences.filter(\.value.isKnown) }
        if absences.count >= WebPushShared.mostAbsences { absences = [:] }
        let absence = ServerAbsence()
        absences[ByteText(authority)] = absence
        return absence
    }

    func use(_ key: VAPIDKey, _ context: TLSContext) {
        tokens.use(key)
        self.context = context
    }

    func request(
        _ notification: Notification, to origin: String
    ) throws(Unsendable) -> (head: HTTP2Headers, body: [UInt8], generation: Int) {
        // What waited since before the operator took a host from the list goes nowhere.
        guard let subscription = WebPushSubscription(notification.deviceToken.text),
            hosts.allow(subscription.endpoint), case .bisq(let content) = notification.content
        else { throw Unsendable(outcome: .refused(reason: "HostNotAllowed")) }
        let authorization: Secret
        let generation: Int
        do {
            (authorization, generation) = try tokens.current(for: origin)
        } catch {
            log.error("gateway.signing_failed", metadata: ["reason": "\(error)"])
            throw Unsendable(outcome: .blocked(reason: OwnReason.signingFailed.code))
        }
        do {
            let body = try WebPushRequest.body(content.message, for: subscription)
            let head = WebPushRequest.head(
                of: notification, to: subscription.endpoint, authorization: authorization,
                now: EventLoop.unixTime)
            return (head, body, generation)
        } catch {
            // The message was measured and the point looked at before it was stored.
            log.error("gateway.sealing_failed", metadata: ["reason": "\(error)"])
            throw Unsendable(outcome: .refused(reason: "SealingFailed"))
        }
    }

    /// Looks a host up, and refuses it if one of its addresses is not public, unless the operator has named the host. The
    /// connection goes to the addresses that were looked at, even if the name gets other ones then.
    ///
    /// - Parameters:
    ///   - absence: Notes what was found.
    ///   - resolver: Knows the name's addresses.
    func lookUp(
        for url: GatewayURL, noting absence: ServerAbsence = ServerAbsence(),
        asking resolver: @escaping Dial.Lookup = Dial.systemLookup
    ) -> Dial.Lookup {
        let endpoint = PushEndpoint(url)
        guard let endpoint, !hosts.name(endpoint) else { return resolver }
        return { (endpoint, deadline) async throws(ConnectError) in
            let addresses: [SocketAddress]
            do throws(ConnectError) {
                addresses = try await resolver(endpoint, deadline)
            } catch {
                if case .noSuchHost = error { absence.missed(at: EventLoop.now) }
                throw error
            }
            self.lastFound = EventLoop.now
            absence.found()
            guard addresses.allSatisfy({ $0.networkAddress.map(PublicAddress.contains) ?? false }) else {
                throw .unknownHost("a push server", reason: "its address is not a public one")
            }
            return addresses
        }
    }
}

/// The absence of a server: since when there has been none of a name that a stranger gave.
///
/// A made-up name would keep its lane for as long as its notifications live, and there are only so many lanes for such
/// names: whoever makes up hosts below a domain that all may use would shut out the phones of that domain.
@EventLoop
final class ServerAbsence {
    private var since: MonotonicTime?
    /// The time at which the name was last looked up in vain.
    private var lastMissed = MonotonicTime.longAgo
    /// Whether the server has taken notifications.
    var hasDelivered = false
    static let patience: Duration = .seconds(3600)
    /// The patience with a server that has never taken any.
    static let patienceWithStrangers: Duration = .seconds(600)

    nonisolated init() {}

    /// Notes that there is no such server. Of one that nobody has asked for in a long time it is not known that it was away
    /// meanwhile.
    func missed(at now: MonotonicTime) {
        if now - lastMissed > ServerAbsence.patience { since = nil }
        since = since ?? now
        lastMissed = now
    }

    func found() { since = nil }
    var isKnown: Bool { since != nil || hasDelivered }

    /// Whether the server has been absent for as long as the node is patient, and other names were found
    /// meanwhile.
    func isForGood(at now: MonotonicTime, lastFound: MonotonicTime) -> Bool {
        guard let since else { return false }
        let patience = hasDelivered ? ServerAbsence.patience : ServerAbsence.patienceWithStrangers
        return now - since >= patience && lastFound > since
    }
}

extension PushEndpoint {
    init?(_ url: GatewayURL, path: String = "/") {
        guard let endpoint = "\(url.authority)\(path)".withBytes({ PushEndpoint(withoutScheme: $0) }) else {
            return nil
        }
        self = endpoint
    }
}

extension GatewayURL {
    init(_ server: PushEndpoint.Server) {
        // Onion services are their own encryption; the settings see to it that tor leads there.
        self.init(isSecure: !server.host.hasSuffix(".onion"), host: server.host, port: server.port, path: "/")
    }
}
