import Encodings
import Reactor

/// The bounds of what a published text does to its reader's device. Its words change neither a terminal nor the direction of
/// writing. Its addresses lead to no script, and the device calls none of them by itself in its own network.
extension PublishedText {
    /// Returns a text without control characters but ends of lines and tabs, and without marks that turn the direction of
    /// writing around what follows.
    static func harmless(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !isHarmful(scalar) { kept.append(scalar) }
        return String(kept)
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: false
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
        case _: false
        }
    }

    /// Whether an address may be opened by a tap: of a scheme that runs nothing and reads no file, and not at a program of
    /// the reader's own device.
    static func mayBeOpened(_ address: String) -> Bool {
        guard let colon = address.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = address.utf8[..<colon].map(ASCII.lowercased)
        guard let first = scheme.first, ASCII.letter(first) == 1,
            scheme.allSatisfy({ ASCII.letter($0) | ASCII.digit($0) == 1 || "+.-".utf8.contains($0) }),
            address.consists(of: ASCII.printable), !address.utf8.contains(0x20)
        else { return false }
        guard !scripts.contains(where: { scheme.elementsEqual($0.utf8) }) else { return false }
        guard toHosts.contains(where: { scheme.elementsEqual($0.utf8) }) else { return true }
        guard let host = host(of: address) else { return false }
        return !isThisDevice(host)
    }

    private static let scripts = [
        "javascript", "vbscript", "data", "file", "content", "blob", "about", "filesystem", "view-source",
        "intent", "jar",
    ]

    /// Schemes of addresses that are called at their host.
    private static let toHosts = [
        "http", "https", "ws", "wss", "ftp", "ftps", "sftp", "ssh", "telnet", "smb", "rtsp", "vnc", "rdp",
    ]

    /// Whether an address may be fetched without anybody's doing: at a public name.
    static func mayBeFetched(_ address: String) -> Bool {
        guard isAddress(address), mayBeOpened(address), let host = host(of: address) else { return false }
        guard !host.hasPrefix("["), let last = host.utf8.split(separator: UInt8(ascii: ".")).last else {
            return false
        }
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count > 1, labels.allSatisfy({ !$0.isEmpty }) else { return false }
        // A number is an address in some writing (URL standard, "ends in a number").
        guard let first = last.first, ASCII.letter(first) == 1 else { return false }
        return !ofOneNetwork.contains { last.elementsEqual($0.utf8) }
    }

    private static let ofOneNetwork = [
        "localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "arpa", "localdomain",
        "test", "invalid",
    ]

    /// Returns the host of an address of HTTP in its one spelling; `nil`: it has none, or one with a login before it.
    private static func host(of address: String) -> String? {
        guard let colon = address.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = address.utf8[colon...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#\\".utf8.contains($0) }
        guard !authority.isEmpty, !authority.contains(UInt8(ascii: "@")),
            let host = OneSpelling.host(String(Substring(authority)), usualPort: nil)
        else { return nil }
        let end =
            host.hasPrefix("[")
            ? host.utf8.firstIndex(of: UInt8(ascii: "]")).map { host.utf8.index(after: $0) } : nil
        return String(
            Substring(
                host.utf8[..<(end ?? host.utf8.firstIndex(of: UInt8(ascii: ":")) ?? host.utf8.endIndex)]))
    }

    /// Whether a host is the device itself, or nobody, in whatever writing.
    private static func isThisDevice(_ host: String) -> Bool {
        if host.hasPrefix("[") {
            guard let address = NetworkAddress(String(host.dropFirst().dropLast())) else { return true }
            return isThisDevice(address)
        }
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.last.map({ $0.elementsEqual("localhost".utf8) }) == true { return true }
        guard let address = NetworkAddress(host) else {
            // `127.1`, `0x7f000001`, `2130706433`: nobody writes an address so who means well.
            return labels.last?.first.map { ASCII.digit($0) == 1 } ?? true
        }
        return isThisDevice(address)
    }

    private static func isThisDevice(_ address: NetworkAddress) -> Bool {
        address.isLoopback || nobodys.contains(address) || address.innerIPv4.map(isThisDevice) == true
    }

    private static let nobodys = ["0.0.0.0", "::"].compactMap { NetworkAddress($0) }
}
