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
    /// What the phone shows.
    package enum Show: String, CaseIterable, Sendable {
        /// A text of the node's: that there is something to see in Bisq.
        case bell
        /// Bisq's message as it came, for apps that decrypt it.
        case sealed
    }

    package var url: GatewayURL?
    package var tokenFile = ""
    package var show = Show.bell
    package var caFile = ""

    package static let gateway = "ntfy"
    package static let ringsStrangers = false

    package init() {}

    package init(_ section: any SettingsSection) {
        let text = section.text("url", default: "")
        do throws(GatewayURL.Fault) {
            let url = try GatewayURL(text, allowsPlainOnion: true)
            if url.path != "/" {
                section.fault("url", "must end after the host: ntfy's apps know no path")
            }
            self.url = url
        } catch {
            section.fault(
                "url",
                text.isEmpty
                    ? "an app of gateway ntfy needs its server: https://HOST[:PORT] or http://ADDRESS.onion[:PORT]"
                    : "\"\(text.prefix(100))\" is \(error)")
        }
        tokenFile = section.credential("token_file")
        show = section.value("show", default: .bell, expecting: "bell or sealed") { Show(rawValue: $0) }
        caFile = section.path("ca_file", default: "")
    }

    package var service: any PushService { NtfyService(show: show) }
    package var hosts: [LaneHost] { [.production] }
    package var hasCredentials: Bool { url != nil }
    package var secretFiles: [String] { [tokenFile] }
    package var files: [String] { [tokenFile, caFile] }
    /// Only tor reaches an onion address.
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

    @EventLoop
    private func load(
        by egress: Egress, reading file: FileReader
    ) throws(CredentialFault) -> NtfyGateway.Settings {
        guard let url else { throw CredentialFault(key: "url", problem: "is missing") }
        var token: String?
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
            token = String(decoding: word, as: UTF8.self)
        }
        return NtfyGateway.Settings(
            url: url, egress: url.endpoint.isLoopback ? .direct : egress, token: token,
            trust: try trust(in: caFile, by: file), show: show)
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
            "the ntfy server refuses the token or the topic: put an access token that may write to the phones' topics into token_file (ntfy token add)"
        case "HTTP404", "HTTP405": "this is no ntfy server: is url right?"
        case "HTTP301", "HTTP302", "HTTP303", "HTTP307", "HTTP308":
            "the server redirects, which is never followed: name its final address in url"
        case _: nil
        }
    }
}

/// Asks what a phone's app asks when it subscribes, `GET /<topic>/auth`: nothing is published.
enum NtfyProbe {
    @EventLoop
    static func run(_ settings: NtfyGateway.Settings) async throws(GatewaySetupError) -> GatewayProbe.Finding
    {
        let context = try NtfyGateway.context(settings.trust)
        let topic = NtfyService.topic(of: NtfyRequest.nobody.text) ?? ""
        var head = HTTP2Headers(method: "GET", authority: settings.url.authority, path: "/\(topic)/auth")
        NtfyRequest.add(settings.token, to: &head)
        switch await GatewayProbe.exchange(
            settings.url, by: settings.egress, context, .http1, head, [], limits: settings.limits)
        {
        case .failure(let failure): return .init(failure)
        case .success(let answer):
            switch answer.status {
            case 200 where (try? JSON(answer.body))?["success"]?.bool == true: return .taken("success")
            case 200..<300: return .unclear(reason: "WebPage")
            // A server without accounts does not know the question.
            case 404 where (try? JSON(answer.body))?["code"]?.integer != nil: return .taken(answer.statusWord)
            case 300..<400, 401, 403, 404, 405: return .refused(reason: answer.statusWord)
            case _: return .unclear(reason: answer.statusWord)
            }
        }
    }
}
