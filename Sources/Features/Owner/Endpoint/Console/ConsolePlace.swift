import Encodings
import Node
import Reactor

/// A place at which the console is served, with the kind of its login.
package enum ConsolePlace: Hashable, Sendable, CustomStringConvertible {
    /// `ADDRESS:PORT` or `unix:/PATH`, on this machine only.
    case local(Endpoint)
    /// `https://ADDRESS:PORT`: with the certificate of the other endpoints.
    case https(Endpoint)
    /// `onion`: an onion address of the console's own, port 80.
    case onion

    init?(_ text: String) {
        if text == "onion" {
            self = .onion
        } else if text.hasPrefix("https://") {
            guard let endpoint = Endpoint(String(text.dropFirst("https://".utf8.count))),
                case .host = endpoint
            else { return nil }
            self = .https(endpoint)
        } else {
            guard let endpoint = Endpoint(text), endpoint.isLoopback else { return nil }
            self = .local(endpoint)
        }
    }

    /// Whether a browser can't find the console by what is written here.
    var needsOrigin: Bool {
        switch self {
        case .local(.unix), .https: true
        case .local, .onion: false
        }
    }

    package var description: String {
        switch self {
        case .local(let endpoint): endpoint.description
        case .https(let endpoint): "https://\(endpoint)"
        case .onion: "onion"
        }
    }
}
