import Tor

/// Onion addresses as settings have them: alone, with a port, in a URL, below a name of their own.
enum OnionName {
    /// Returns the name in a value that ends in `.onion` and is no address: length, checksum or version is
    /// wrong. `nil`: there is none, or the value is a file.
    static func wrong(in text: String) -> String? {
        var rest = Array(text.utf8)[...]
        if let scheme = rest.firstIndex(of: UInt8(ascii: ":")), rest[scheme...].starts(with: "://".utf8) {
            rest = rest[(scheme + 3)...]
        }
        let host = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") }
        let name = String(decoding: host, as: UTF8.self).lowercased()
        guard name.utf8.count < 256, name.hasSuffix(".onion") else { return nil }
        guard let label = name.utf8.split(separator: UInt8(ascii: ".")).dropLast().last,
            label.contains(where: { $0 != UInt8(ascii: "*") })
        else { return nil }
        let address = String(decoding: label, as: UTF8.self) + ".onion"
        return OnionAddress(address) == nil ? address : nil
    }
}
