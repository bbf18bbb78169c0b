import Encodings
import HTTP1
import Reactor

extension HTTPRequest {
    /// Whether the request comes from a program on this machine, and not from a page in its browser.
    ///
    /// A page from elsewhere can make the browser send requests to this machine: under a name of its own (DNS rebinding), or
    /// by a form, whose answer the page can't read but whose effect stays. Programs call by number or as `localhost`, and
    /// name no other origin.
    package var isFromThisMachine: Bool {
        guard Self.isLocal(host: fields["host"] ?? "") else { return false }
        guard let origin = fields["origin"] else { return true }
        guard let name = origin.word(limit: 256), name.hasPrefix("http://") else { return false }
        return Self.isLocal(host: String(name.dropFirst("http://".count)))
    }

    /// Whether a host, with or without its port, is `localhost` or an address as a number. Other names don't count: their
    /// owners can let them lead anywhere. `0.0.0.0` and `[::]` don't count either: a connection to them ends at this machine,
    /// but a browser's guard of local addresses overlooks them.
    static func isLocal(host: String) -> Bool {
        guard let name = Self.name(ofHost: host) else { return false }
        if name == "localhost" { return true }
        guard name.hasPrefix("[") else {
            // Also `127.1`, as a person writes it.
            return name.utf8.contains { $0 > UInt8(ascii: "0") }
                && name.utf8.allSatisfy { $0 == UInt8(ascii: ".") || ASCII.digit($0) == 1 }
        }
        let parts = name.dropFirst().split(separator: "]", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].isEmpty || parts[1].hasPrefix(":"),
            let address = NetworkAddress(parts[0])
        else { return false }
        return !HTTPRequest.nobodys.contains(address)
    }

    private static let nobodys = ["::", "0.0.0.0"].compactMap { NetworkAddress($0) }

    /// Returns the name in a host, without its port, in lower case; `nil` where the host has no valid form.
    static func name(ofHost host: String) -> String? {
        guard let host = OneSpelling.host(host, usualPort: nil)?.word(limit: 256) else { return nil }
        return host.hasPrefix("[")
            ? host : String(host.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)[0])
    }

    /// Whether a body is JSON by its type; a client that gives none is believed.
    package static func isJSON(_ contentType: String?) -> Bool {
        contentType.map { OneSpelling.isType($0, "application/json") } ?? true
    }
}
