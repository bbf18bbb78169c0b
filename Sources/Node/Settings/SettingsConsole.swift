import Encodings
import Reactor

extension Settings {
    /// The owner's pages in a browser.
    package struct Console: Sendable {
        /// On this machine only; empty: there is no console.
        package var listen: [Endpoint] = []
        /// Where else browsers find it, through a proxy or a forwarded port: `https://HOST[:PORT]`, in lower case.
        package var origins: [String] = []
    }

    /// Reads `console`.
    func console(_ section: SettingsReader.Section) -> Console {
        var console = Console()
        let places = section.words("listen")?.map { Endpoint($0) } ?? [nil]
        console.listen = places.compactMap(\.self)
        if console.listen.count != places.count || !console.listen.allSatisfy(\.isLoopback)
            || Set(console.listen).count != console.listen.count
        {
            section.fault(
                "listen",
                "must be a list of ADDRESS:PORT on this machine and unix:/PATH, each once: [127.0.0.1:9480]")
        }
        if console.listen.contains(managementListen) {
            section.fault("listen", "\(managementListen) is management.listen already")
        }
        let origins = section.words("origins")?.map { Settings.origin($0) } ?? [nil]
        console.origins = origins.compactMap(\.self)
        if console.origins.count != origins.count || origins.count > 32 {
            section.fault(
                "origins",
                "must be a list of http:// or https://, a host and perhaps a port, and nothing behind it; 32 at most"
            )
        }
        let hasSocket = console.listen.contains { if case .unix = $0 { true } else { false } }
        if hasSocket, console.origins.isEmpty {
            section.fault("origins", "must name where browsers find the Unix socket of console.listen")
        }
        section.refuseUnknownKeys()
        return console
    }

    /// As a browser tells it: in lower case, and without the port that its scheme has anyway.
    private static func origin(_ text: String) -> String? {
        guard text.utf8.count <= 300, isOrigin(text) else { return nil }
        let origin = text.lowercased()
        for (scheme, port) in [("http://", ":80"), ("https://", ":443")]
        where origin.hasPrefix(scheme) && origin.hasSuffix(port) {
            return String(origin.dropLast(port.utf8.count))
        }
        return origin
    }
}
