import Reactor

extension Settings {
    /// How the node's own connections go out.
    package enum Proxy: Equatable, Sendable {
        case none
        /// The tor that publishes the onion address.
        case tor
        case socks5(Endpoint)
    }

    /// Whether the node calls anybody through its own tor.
    var needsSOCKS: Bool {
        onion.selfDial.interval > .zero || proxy == .tor
            || apps.contains { $0.hasCredentials && $0.settings.needsTor }
    }

    mutating func read(gateways section: SettingsReader.Section) {
        section.mark(.inConsole).value(
            "proxy", &proxy, .text, usual: "none", expecting: "none, tor or socks5://HOST:PORT",
            parse: Proxy.init)
    }
}

extension Settings.Proxy {
    init?(_ text: String) {
        switch text {
        case "none": self = .none
        case "tor": self = .tor
        default:
            let scheme = "socks5://"
            guard text.hasPrefix(scheme),
                case .host(let host, let port)? = Endpoint(String(text.dropFirst(scheme.count))),
                port > 0, !host.contains("@"), !host.contains("/")
            else { return nil }
            self = .socks5(.host(host, port: port))
        }
    }
}
