import Encodings
import Logging
import Reactor
import Relay
import TLS
import Wire

/// Phones that another relay rings: its keys under `apps`.
package struct RelayApp: ConfiguredApp {
    package var form = RelayForm.bisq1
    /// The upstreams' addresses, in the order in which they are asked.
    package var urls: [GatewayURL] = []
    package var caFile = ""
    var peer = RelayPeer()
    /// The file in which it is written which upstream may have a notification.
    var boundFile = ""

    package static let gateway = "relay"
    /// The words of Bisq's relay for the form of Bisq 1, whatever the reason of a refusal.
    package static let wordsWithoutReason = ["HTTP400", "Error"]
    package static let mostUpstreams = 8

    package init() {}

    package init(_ section: any SettingsSection) {
        let forms = RelayForm.allCases.map(\.rawValue).joined(separator: " or ")
        var word = ""
        section.text("form", &word)
        if let form = RelayForm(rawValue: word) {
            self.form = form
        } else {
            section.fault("form", "an app of gateway relay needs a form: \(forms)")
        }
        urls = RelayApp.urls(section, of: form)
        section.path("ca_file", &caFile)
        readPeer(section)
        var name = ""
        section.identifier("name", &name)
        boundFile = section.stateFile("upstreams-" + name)
    }

    /// Reads the keys of form p2p.
    private mutating func readPeer(_ section: any SettingsSection) {
        section.identifier("remote_app", &peer.app)
        if peer.app.utf8.count > Validator.longestName {
            section.fault("remote_app", "must have no more than \(Validator.longestName) characters")
        }
        section.choice("network", &peer.network)
        guard form != .p2p, peer != RelayPeer() else { return }
        section.fault("form", "remote_app and network are for form p2p")
    }

    private static func urls(_ section: any SettingsSection, of form: RelayForm) -> [GatewayURL] {
        guard let texts = section.oneOrMore("url") else {
            section.fault("url", "must be a URL or a list of URLs")
            return []
        }
        var urls: [GatewayURL] = []
        if texts.isEmpty, form.bisqsOwn == nil {
            section.fault("url", "form \(form.rawValue) needs the other node's address: ADDRESS.onion[:PORT]")
        }
        for text in texts.isEmpty ? [form.bisqsOwn].compactMap({ $0 }) : texts {
            do throws(GatewayURL.Fault) {
                let url =
                    form == .p2p ? try GatewayURL(peer: text) : try GatewayURL(text, allowsPlainOnion: true)
                if urls.contains(url) { section.fault("url", "\(url) is there twice") }
                urls.append(url)
            } catch {
                section.fault("url", "\"\(text.withoutSecrets.prefix(100))\" is \(error)")
            }
        }
        if urls.count > mostUpstreams { section.fault("url", "must be no more than \(mostUpstreams) URLs") }
        return urls
    }

    package var service: any PushService { RelayService(form: form) }
    private var platforms: [Platform] { form == .bisq2 ? [.android, .ios] : [.android, .ios, .iosDev] }
    package var hosts: [LaneHost] { platforms.map(RelayService.host(of:)) }
    /// Whether the app has credentials: always, since a relay needs none.
    package var hasCredentials: Bool { true }
    package var secretFiles: [String] { [] }
    package var files: [String] { caFile.isEmpty ? [] : [caFile] }
    package var upstreams: [GatewayURL] { urls }
    package var onlyForm: RelayForm? { form.generation }

    package func open(
        by egress: Egress, reading file: FileReader, log: Logger
    ) throws(CredentialFault) -> OpenedApp {
        let pace = SharedRelayPace()
        let bound = BoundFile(urls, path: boundFile, reading: file, log: log)
        let trust = try trust(in: caFile, by: file)
        var gateways: [(LaneHost, RelayGateway)] = []
        for platform in platforms {
            let gateway = try setUp { () throws(GatewaySetupError) in
                var settings = settings(for: platform, by: egress, trust)
                // All lanes have the same way: one that looks is enough.
                if platform != platforms[0] { settings.look = nil }
                return try RelayGateway(settings, pace: pace, bound: bound, log: log)
            }
            gateways.append((RelayService.host(of: platform), gateway))
        }
        let opened = gateways
        return OpenedApp(opened.map { ($0.0, $0.1) }) { _, file throws(CredentialFault) in
            let trust = try Gateways.trust(in: caFile, by: file)
            try setUp { () throws(GatewaySetupError) in
                for (_, gateway) in opened { try gateway.use(trust) }
            }
        }
    }

    private func settings(
        for platform: Platform, by egress: Egress, _ trust: TLSTrust
    ) -> RelayGatewaySettings {
        RelayGatewaySettings(
            form: form, platform: platform,
            upstreams: urls.map { ($0, $0.endpoint.isLoopback ? .direct : egress) }, peer: peer, trust: trust)
    }

    package func probes(
        by egress: Egress, reading file: FileReader
    ) throws(CredentialFault) -> [GatewayProbe] {
        let settings = settings(for: .android, by: egress, try trust(in: caFile, by: file))
        return settings.upstreams.map { url, egress in
            GatewayProbe(of: .android, at: url) { () async throws(GatewaySetupError) in
                try await RelayProbe.run(form, url, peer, by: egress, settings.trust)
            }
        }
    }

    package static func advice(for reason: String) -> String? {
        switch reason {
        case Reason.loop.code:
            "url leads to a node that hands on itself, this one perhaps: name a relay that has credentials; with tor.mode system, see whether that tor has a MapAddress for the relay's address"
        case "HTTP301", "HTTP302", "HTTP303", "HTTP307", "HTTP308":
            "the other side redirects, which is never followed: name its final address in url"
        case "HTTP401", "HTTP403", "HTTP407":
            "the other side wants to know who asks: it is no relay for everybody"
        case "HTTP415":
            "the relay takes requests in another form than this version of the node sends: look for a newer version, or name another relay"
        case "HTTP404", "HTTP405":
            "the other side does not know this form of request: is url right, and is form the one it serves?"
        case RelayGateway.wrongNetwork:
            "the other node is of another network of Bisq's: set network at the app to its onion.network"
        case RelayAnswer.refusedWithoutReason:
            "the relay refused it each time and gave no reason: most likely the phone's app was removed"
        case RelayAnswer.upstreamAway, RelayAnswer.badAnswer:
            "if it does not pass within minutes, see whether url is a relay that works"
        case _ where RelayForm.words.contains(reason):
            "the other relay's credentials do not work: tell its operator"
        case "ServiceUnavailable", "TooManyRequests": patience
        case _ where RelayAnswer.theirTroubles.contains(reason): patience
        case _: nil
        }
    }
}

extension RelayForm {
    fileprivate static let words = RelayAnswer.theirFaults
}
