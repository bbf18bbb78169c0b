import Crypto
import Encodings
import Glibc
import Logging
import Outbound
import Reactor
import Relay
import TLS

/// Web Push: its keys under `apps`, and what becomes of them.
package struct WebPushApp: ConfiguredApp {
    /// The operator's contact, which goes to every push service with each request.
    package var contact = WebPushApp.nobodysContact
    package var allowedHosts: [String] = []
    package var caFile = ""
    package var keyFile = ""

    package static let gateway = "web_push"
    /// An address that is reserved for examples: it says nothing of the operator.
    package static let nobodysContact = "mailto:onionbell@example.org"
    package static let keyName = "vapid-key"

    package init() {}

    package init(_ section: any SettingsSection) {
        section.text(
            "contact", &contact,
            expecting:
                "mailto:NAME@HOST or https://HOST[/PATH]; push services refuse localhost and onion names"
        ) { WebPushApp.isContact($0) ? $0 : nil }
        section.path("ca_file", &caFile)
        keyFile = section.stateFile(WebPushApp.keyName)
        guard let words = section.words("allowed_hosts") else {
            section.fault(
                "allowed_hosts", "must be a list: [ntfy.sh, push.example.org:8443, \"*.example.net\"]")
            return
        }
        for word in words where PushHosts.Pattern(word) == nil {
            section.fault(
                "allowed_hosts", "\"\(word.prefix(64))\" is not allowed; HOST, HOST:PORT, *.DOMAIN or *")
        }
        allowedHosts = words.filter { PushHosts.Pattern($0) != nil }
        if pushHosts.namesOnions, !section.goesThroughTor {
            section.fault("allowed_hosts", "onion addresses need gateways.proxy: tor")
        }
    }

    /// Whether Apple takes a text as `sub` of a token: something that it could reach.
    package static func isContact(_ text: String) -> Bool {
        guard text.utf8.count <= 200, text.consists(of: ASCII.printable) else { return false }
        let host: Substring
        if text.hasPrefix("mailto:") {
            let parts = text.dropFirst(7).split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !text.contains(" ") else { return false }
            host = parts[1]
        } else if text.hasPrefix("https://") {
            host = text.dropFirst(8).prefix { $0 != "/" }
        } else {
            return false
        }
        return PushEndpoint("https://\(host.lowercased())/")?.isUnusual == false
    }

    var pushHosts: PushHosts { PushHosts(allowedHosts.compactMap(PushHosts.Pattern.init)) }

    package var service: any PushService { WebPushService(pushHosts) }
    package var hosts: [LaneHost] { pushHosts.hosts.map { LaneHost($0) } }
    package var hasCredentials: Bool { true }
    package var secretFiles: [String] { [keyFile] }
    package var files: [String] { [keyFile, caFile] }
    package var ownFiles: [OwnFile] {
        [OwnFile(path: keyFile) { () throws(CryptoError) in try VAPIDKey.generate().pem() }]
    }

    package var doubt: (words: String, advice: String)? {
        guard allowedHosts.contains("*") else { return nil }
        return (
            "allowed_hosts has *: any stranger can make this node call a server of his choice",
            "name the hosts that your phones need, or set gateways.proxy: tor, so that he does not learn the node's address"
        )
    }

    package func open(
        by egress: Egress, reading file: FileReader, log: Logger
    ) throws(CredentialFault) -> OpenedApp {
        let (key, context) = try load(reading: file)
        let shared = WebPushShared(pushHosts, key, contact: contact, by: egress, context, log: log)
        let limits = WebPushApp.limits
        let gateways = pushHosts.hosts.compactMap { host in
            PushEndpoint.Server(host).map {
                (LaneHost(host), WebPushGateway($0, isNamed: true, shared, limits: limits))
            }
        }
        return OpenedApp(
            gateways.map { ($0.0, $0.1) },
            opening: { host in
                guard let endpoint = PushEndpoint(host.name + "/"), shared.hosts.allow(endpoint) else {
                    return nil
                }
                // It goes within minutes of its last notification: other authorities come with the next one.
                return PushEndpoint.Server(endpoint.authority).map {
                    WebPushGateway($0, isNamed: false, shared, limits: limits)
                }
            },
            reload: { _, file throws(CredentialFault) in
                let (key, context) = try load(reading: file)
                shared.use(key, context)
                for (_, gateway) in gateways { gateway.use(context) }
            })
    }

    /// The limits of a connection: a stranger's server may be slow on purpose.
    private static var limits: ConnectionLife.Limits {
        var limits = ConnectionLife.Limits()
        limits.request = .seconds(15)
        limits.rest = .seconds(60)
        limits.inFlight = 100
        return limits
    }

    package func probes(
        by egress: Egress, reading file: FileReader
    ) throws(CredentialFault) -> [GatewayProbe] {
        let (key, context) = try load(reading: file)
        let shared = WebPushShared(
            pushHosts, key, contact: contact, by: egress, context,
            log: Logger(label: "onionbell") { _ in SwiftLogNoOpLogHandler() })
        return pushHosts.hosts.compactMap { host in
            PushEndpoint.Server(host).map { server in
                var probe = shared.probe(of: LaneHost(host), at: GatewayURL(server))
                probe.isForUsedHost = PushEndpoint("https://\(host)/").map { !pushHosts.name($0) } ?? true
                return probe
            }
        }
    }

    /// Loads the key and the TLS context. Before the node's first start, the key is a new one and nobody's
    /// yet: the node makes the file.
    @EventLoop
    private func load(
        reading file: FileReader
    ) throws(CredentialFault) -> (key: VAPIDKey, context: TLSContext) {
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try file(keyFile)
        } catch {
            guard error.code == ENOENT else {
                throw CredentialFault(key: "", problem: error.wordsOfCredential)
            }
            bytes = nil
        }
        let key: VAPIDKey
        do throws(CryptoError) {
            key = if let bytes { try VAPIDKey(pem: bytes) } else { try VAPIDKey.generate() }
        } catch {
            throw CredentialFault(key: "", problem: "\(keyFile): \(error)")
        }
        let trust = try trust(in: caFile, by: file)
        return (key, try setUp { () throws(GatewaySetupError) in try trust.context() })
    }

    package static func advice(for reason: String) -> String? {
        switch reason {
        case "BadJwtToken", "BadAuthorizationHeader", "BadVapidPublicKey", "Errno109", "HTTP401", "HTTP403":
            "the push service refuses the node's token: set the clock (timedatectl set-ntp true), and set contact to an address that exists"
        case WebPushAnswer.otherKey:
            "the subscription was made for another node's key: the phone has to pair again; if many say so, restore vapid-key"
        case WebPushAnswer.topicForbidden: WebPushAnswer.topicAdvice
        case OwnReason.signingFailed.code: "vapid-key cannot sign: restore it from a backup"
        case "TooManyRequests", "ServiceUnavailable", "InternalServerError": patience
        case _: nil
        }
    }
}
