import Crypto
import Encodings
import HTTP2
import JSONCoding
import Logging
import Reactor
import Relay
import TLS

/// Phones with ntfy's app, at a server of the operator's choice: its keys under `apps`.
///
/// The access token is the operator's account, so only phones of the phone book are rung (``ConfiguredApp/ringsStrangers``).
package struct NtfyApp: ConfiguredApp {
    /// The text that the phone shows.
    package enum Show: String, CaseIterable, Sendable {
        /// A text of the node's: that there is something to see in Bisq.
        case bell
        /// Bisq's message as it came, for apps that decrypt it.
        case sealed
    }

    package var url: GatewayURL?
    /// The host in the operator's own network that is reached by plain HTTP; empty: none.
    package var plainHost = ""
    package var tokenFile = ""
    /// The account's name, where it has a password and no token.
    package var username = ""
    package var passwordFile = ""
    package var show = Show.bell
    package var caFile = ""

    package static let gateway = "ntfy"
    package static let ringsStrangers = false

    package init() {}

    package init(_ section: any SettingsSection) {
        var text = ""
        section.text("url", &text)
        section.text("plain_http", &plainHost)
        do throws(GatewayURL.Fault) {
            let url = try GatewayURL(text, allowsPlainOnion: true, plainHost: plainHost)
            if !plainHost.isEmpty,
                url.isSecure || url.isOnion || url.endpoint.isLoopback
                    || url.host != GatewayURL.oneSpelling(of: plainHost)
            {
                section.fault(
                    "plain_http", "is for a url of http:// in your own network, and names just its host")
            }
            if url.path != "/" {
                section.fault("url", "must end after the host: ntfy's apps know no path")
            }
            self.url = url
        } catch {
            section.fault(
                "url",
                text.isEmpty
                    ? "an app of gateway ntfy needs its server: https://HOST[:PORT] or http://ADDRESS.onion[:PORT]"
                    : "\"\(text.withoutSecrets.prefix(100))\" is \(error)"
                        + (error == .plainBeyondLoopback
                            ? ", or name its host in plain_http if it is in a network of your own" : ""))
        }
        section.credential("token_file", &tokenFile)
        section.text("username", &username, expecting: "letters, digits and - _ . + @") {
            $0.consists(of: NtfyApp.isInUsername) ? $0 : nil
        }
        section.credential("password_file", &passwordFile)
        if username.isEmpty != passwordFile.isEmpty {
            section.fault(
                username.isEmpty ? "username" : "password_file",
                "is needed: username and password_file go together")
        } else if !username.isEmpty, !tokenFile.isEmpty {
            section.fault("token_file", "has no place beside username: one of them")
        }
        section.choice("show", &show)
        section.path("ca_file", &caFile)
    }

    /// Returns 1 for a byte that ntfy takes in user names (`user/types.go`), else 0.
    private static func isInUsername(_ byte: UInt8) -> UInt8 {
        ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, "-") | ASCII.equal(byte, "_")
            | ASCII.equal(byte, ".") | ASCII.equal(byte, "+") | ASCII.equal(byte, "@")
    }

    package var service: any PushService {
        NtfyService(show: show, server: server ?? "", usualPort: url?.isSecure == false ? 80 : 443)
    }
    package var server: String? { url?.authority }
    package var hosts: [LaneHost] { [.production] }
    package var hasCredentials: Bool { url != nil }
    package var secretFiles: [String] { [tokenFile, passwordFile] }
    package var files: [String] { [tokenFile, passwordFile, caFile] }
    /// The server, if it has an onion address: only tor reaches that.
    package var upstreams: [GatewayURL] { url.map { $0.isOnion ? [$0] : [] } ?? [] }

    package func open(
        by egress: Egress, reading file: FileReader, log: Logger
    ) throws(CredentialFault) -> OpenedApp {
        let settings = try load(by: egress, reading: file)
        let gateway = try setUp { () throws(GatewaySetupError) in try NtfyGateway(settings, log: log) }
        return OpenedApp([(.production, gateway)]) { _, file throws(CredentialFault) in
            let settings = try load(by: egress, reading: file)
            try setUp { () throws(GatewaySetupError) in try gateway.use(settings) }
        }
    }

    /// Makes a lookup that refuses public addresses: what is not encrypted goes to none, whatever a name
    /// server says.
    static func lookUpInOwnNetwork(asking resolver: @escaping Dial.Lookup = Dial.systemLookup) -> Dial.Lookup
    {
        { (endpoint, deadline) async throws(ConnectError) in
            let addresses = try await resolver(endpoint, deadline)
            guard addresses.allSatisfy({ $0.networkAddress.map { !PublicAddress.contains($0) } ?? false })
            else {
                throw .unknownHost(
                    "plain_http",
                    reason: "its address is a public one, where everything is seen: use https://")
            }
            return addresses
        }
    }

    package var doubt: (words: String, advice: String)? {
        guard !plainHost.isEmpty else { return nil }
        return (
            "plain_http: login, topics and texts go to \(plainHost) unencrypted",
            "whoever is in that network can read them and ring these phones; use https:// and ca_file if that is not only you"
        )
    }

    @EventLoop
    private func load(
        by egress: Egress, reading file: FileReader
    ) throws(CredentialFault) -> NtfySettings {
        guard let url else { throw CredentialFault(key: "url", problem: "is missing") }
        var login: NtfyGateway.Login?
        if !username.isEmpty {
            let bytes = try read(passwordFile, key: "password_file", by: file)
            let line = bytes.prefix { $0 != 0x0a && $0 != 0x0d }
            guard (1...256).contains(line.count), String(validating: line, as: UTF8.self) != nil else {
                throw CredentialFault(
                    key: "password_file",
                    problem: "the first line of \(passwordFile) is not a password of 1 to 256 bytes")
            }
            login = .password(user: username, Secret(Array(line)))
        }
        if !tokenFile.isEmpty {
            let bytes = try read(tokenFile, key: "token_file", by: file)
            let word = bytes.prefix { $0 > 0x20 }
            // An access token of ntfy's: tk_ and 29 letters and digits.
            guard (1...256).contains(word.count), word.allSatisfy({ $0 < 0x7f }),
                bytes[word.count...].allSatisfy({ $0 <= 0x20 })
            else {
                throw CredentialFault(
                    key: "token_file", problem: "\(tokenFile) is not one access token (tk_...)")
            }
            login = .token(Secret(Array(word)))
        }
        return NtfySettings(
            url: url, egress: url.endpoint.isLoopback || !plainHost.isEmpty ? .direct : egress, login: login,
            trust: try trust(in: caFile, by: file), show: show,
            lookUp: plainHost.isEmpty ? Dial.systemLookup : NtfyApp.lookUpInOwnNetwork())
    }

    package func probes(
        by egress: Egress, reading file: FileReader
    ) throws(CredentialFault) -> [GatewayProbe] {
        let settings = try load(by: egress, reading: file)
        return [
            GatewayProbe(of: .production, at: settings.url) { () async throws(GatewaySetupError) in
                try await NtfyProbe.run(settings)
            }
        ]
    }

    package static func advice(for reason: String) -> String? {
        switch reason {
        case "HTTP401", "HTTP403":
            "the ntfy server refuses the login or the topic: put an access token that may write to the phones' topics into token_file (ntfy token add)"
        case NtfyProbe.mayNotRead:
            "not known whether the node may write to the phones' topics: the server says only that it may not read others, which it need not; onionbell phones test NAME tells"
        case "Ntfy42908":
            "the ntfy server takes no more messages from this account today; it goes on by itself: give its user a tier with more, or use a server of your own"
        case _ where reason.hasPrefix("Ntfy429"):
            "the ntfy server's limit for this account is reached; it goes on by itself: give its user a tier with more, or raise visitor-request-limit-burst there"
        case "HTTP404", "HTTP405": "this is no ntfy server: is url right?"
        case "HTTP301", "HTTP302", "HTTP303", "HTTP307", "HTTP308":
            "the server redirects, which is never followed: name its final address in url"
        case _: nil
        }
    }
}

/// Asks what a phone's app asks when it subscribes, `GET /<topic>/auth`: nothing is published. It is a question about
/// reading, which the node never does: ntfy has none about writing.
enum NtfyProbe {
    /// The word for a login that is known, or for none, and may not read a topic.
    static let mayNotRead = "MayNotRead"

    @EventLoop
    static func run(_ settings: NtfySettings) async throws(GatewaySetupError) -> GatewayProbe.Finding {
        let context = try settings.trust.context()
        let topic = NtfyService.topic(of: NtfyRequest.nobody.text) ?? ""
        var head = HTTP2Headers(method: "GET", authority: settings.url.authority, path: "/\(topic)/auth")
        NtfyRequest.add(settings.login, to: &head)
        switch await GatewayProbe.exchange(
            settings.url, by: settings.egress, context, .http1, head, [], limits: settings.limits,
            lookUp: settings.lookUp)
        {
        case .failure(let failure): return .init(failure)
        case .success(let answer):
            let document = try? JSON(answer.body)
            let isNtfys = NtfyAnswer.errorCode(document, of: answer) != nil
            switch answer.status {
            case 200 where document?["success"]?.bool == true: return .taken("success")
            case 200..<300: return .unclear(reason: OwnReason.webPage.code)
            // A server without accounts does not know the question.
            case 404 where isNtfys: return .taken(answer.statusWord)
            case 403 where isNtfys: return .unclear(reason: mayNotRead)
            case 300..<400, 401, 403, 404, 405: return .refused(reason: answer.statusWord)
            case _: return .unclear(reason: answer.statusWord)
            }
        }
    }
}
