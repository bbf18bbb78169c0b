import Encodings
import Node
import Reactor

extension Settings {
    /// The owner's pages in a browser.
    package struct Console: Sendable {
        /// The places with a login; empty: there are none.
        package var listen: [ConsolePlace] = []
        /// The addresses at which browsers find it too, through a proxy or a forwarded port: `https://HOST[:PORT]`, in
        /// lower case.
        package var origins: [String] = []
        package var proxied: Proxied?
        package var widgets: Widgets?

        /// The listener of a platform's proxy.
        package struct Proxied: Sendable {
            package var listen: Endpoint
            /// Whether the proxy asks for the login, so that all its clients have entered.
            package var isTrusted = false
            /// The addresses that may connect; empty: everybody may who can.
            package var from: [NetworkAddress.Range] = []
        }

        /// The listener of a platform's dashboard, which reads four figures without a token.
        package struct Widgets: Sendable {
            package var listen: Endpoint
            /// The addresses that may connect.
            package var from: [NetworkAddress.Range] = []
        }

        /// Whether there are pages at all.
        package var isOn: Bool { !listen.isEmpty || proxied != nil }

        /// All places with pages, in words.
        var places: [String] { listen.map(\.description) + (proxied.map { ["\($0.listen)"] } ?? []) }
    }

    /// Reads `console`.
    func console(_ section: SettingsReader.Section) -> Console {
        var console = Console()
        console.listen = section.list(
            "listen",
            "must be a list of ADDRESS:PORT on this machine, unix:/PATH, https://ADDRESS:PORT and onion, each once: [127.0.0.1:9480]",
            isAllowed: { Set($0).count == $0.count }
        ) { ConsolePlace($0) }
        if console.listen.contains(.local(managementListen)) {
            section.fault("listen", "\(managementListen) is management.listen already")
        }
        for case .https(let endpoint) in console.listen
        where doors.certificateFile.isEmpty || doors.keyFile.isEmpty {
            section.fault("listen", "https://\(endpoint) needs doors.https.certificate_file and key_file")
        }
        console.origins = section.list(
            "origins",
            "must be a list of http:// or https://, a host and perhaps a port, and nothing behind it; 32 at most",
            isAllowed: { $0.count <= 32 }
        ) { Settings.origin($0) }
        // Without names in the environment: each of their settings alone is a mistake.
        console.proxied = proxied(section.section("proxied", hasVariables: false))
        console.widgets = widgets(section.section("widgets", hasVariables: false), of: console)
        if let place = console.listen.first(where: \.needsOrigin)?.description
            ?? console.proxied.map({ "\($0.listen)" }), console.origins.isEmpty
        {
            section.fault("origins", "must name where browsers find \(place)")
        }
        return console
    }

    private func proxied(_ section: SettingsReader.Section) -> Console.Proxied? {
        var (listen, login) = ("", "own")
        section.text("listen", &listen)
        section.text("login", &login)
        let from = section.networks("from")
        if !["own", "proxy"].contains(login) { section.fault("login", "must be own or proxy") }
        guard !listen.isEmpty else {
            if login == "proxy" { section.fault("login", "needs proxied.listen") }
            return nil
        }
        guard let endpoint = Endpoint(listen) else {
            section.fault("listen", "must be unix:/PATH or ADDRESS:PORT")
            return nil
        }
        let proxied = Console.Proxied(listen: endpoint, isTrusted: login == "proxy", from: from)
        if let fault = proxied.fault { section.fault(fault.key, fault.words) }
        return proxied
    }

    private func widgets(_ section: SettingsReader.Section, of console: Console) -> Console.Widgets? {
        var listen = ""
        section.text("listen", &listen)
        let from = section.networks("from")
        guard !listen.isEmpty else {
            if !from.isEmpty { section.fault("from", "needs widgets.listen") }
            return nil
        }
        guard let endpoint = Endpoint(listen), case .host(let host, _) = endpoint,
            NetworkAddress(host) != nil,
            !endpoint.isLoopback
        else {
            section.fault(
                "listen",
                "must be ADDRESS:PORT of an app's own network: everywhere else a widget has a token (onionbell console widget)"
            )
            return nil
        }
        if !console.isOn {
            section.fault("listen", "needs a console: console.listen or console.proxied.listen")
        }
        if endpoint == console.proxied?.listen {
            section.fault("listen", "\(endpoint) is console.proxied.listen already")
        }
        if from.isEmpty || Settings.isWholeWorld(from) {
            section.fault("from", "must name who may read without a token, and not the whole world")
        }
        return Console.Widgets(listen: endpoint, from: from)
    }

    /// Returns an origin as a browser tells it, in the one spelling of its host.
    private static func origin(_ text: String) -> String? {
        guard text.utf8.count <= 300, isOrigin(text) else { return nil }
        let origin = text.lowercased()
        for (scheme, port) in [("http://", UInt16(80)), ("https://", 443)] where origin.hasPrefix(scheme) {
            return OneSpelling.host(String(origin.dropFirst(scheme.utf8.count)), usualPort: port)
                .map { scheme + $0 }
        }
        return origin
    }
}

extension Settings.Console.Proxied {
    /// The fault that it has on any machine. Whether the port is in a network of its own is seen where it runs
    /// (``networkFault(isOwn:)``).
    var fault: (key: String, words: String)? {
        guard case .host(let host, _) = listen else {
            return from.isEmpty
                ? nil : ("from", "is for ADDRESS:PORT: whoever may open a Unix socket is its owner's choice")
        }
        guard isTrusted else {
            return listen.isLoopback
                ? nil
                : (
                    "listen",
                    "must be on this machine, as long as login is own: the passphrase is not encrypted"
                )
        }
        if NetworkAddress(host) == nil, host != "localhost" {
            return ("listen", "must be a numeric address or unix:/PATH")
        }
        if listen.isLoopback {
            return (
                "login",
                "must not be proxy at \(listen), to which every program of this machine can connect: use unix:/PATH"
            )
        }
        if from.isEmpty {
            return ("from", "must name the proxy's address, as login is proxy: all others are turned away")
        }
        if Settings.isWholeWorld(from) {
            return ("from", "must not be the whole world: whoever is named there owns the node")
        }
        return nil
    }

    /// Returns the fault of a listener in the host's network; `nil`: there is none.
    ///
    /// - Parameter isOwn: Whether this process has a network of its own (``NetworkOfApp``).
    func networkFault(isOwn: Bool) -> SettingsFault? {
        guard isTrusted, case .host = listen, !isOwn else { return nil }
        return SettingsFault(
            key: "console.proxied.login",
            problem:
                "must not be proxy at \(listen): this is the host's network, and not an app's own; use unix:/PATH"
        )
    }
}

extension Settings.Console.Widgets {
    /// Returns the fault of a listener in the host's network; `nil`: there is none.
    ///
    /// - Parameter isOwn: Whether this process has a network of its own (``NetworkOfApp``).
    func networkFault(isOwn: Bool) -> SettingsFault? {
        guard !isOwn else { return nil }
        return SettingsFault(
            key: "console.widgets.listen",
            problem:
                "must not be \(listen): this is the host's network, and not an app's own; make a token (onionbell console widget)"
        )
    }
}
