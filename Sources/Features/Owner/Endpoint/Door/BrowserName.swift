import Doors

/// The browser of a session in a word or two, by which its owner knows it: `Firefox, Linux`. Nothing else is kept of what a
/// browser says of itself.
enum BrowserName {
    /// Bytes that are looked at.
    private static let longest = 512
    /// Words of a browser's text, with its name: the first that fits counts, as each calls itself by the names of others too.
    private static let browsers = [
        ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"), ("Chromium/", "Chromium"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
    ]
    private static let systems = [
        ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
        ("Mac OS X", "macOS"), ("Linux", "Linux"),
    ]

    /// Returns the name; empty: nothing is known of it.
    static func name(of userAgent: String?) -> String {
        let text = Array((userAgent ?? "").utf8.prefix(longest))
        func first(of words: [(word: String, name: String)]) -> String? {
            words.first { word, _ in text.indices.contains { text[$0...].starts(with: word.utf8) } }?.name
        }
        return [first(of: browsers), first(of: systems)].compactMap(\.self).joined(separator: ", ")
    }

    /// Whether a text is one that this makes.
    static func isName(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: ",")).map {
            String(decoding: $0, as: UTF8.self)
        }
        let names = (browsers + systems).flatMap { [$0.1, " \($0.1)"] }
        return parts.count <= 2 && parts.allSatisfy { names.contains($0) }
    }
}
