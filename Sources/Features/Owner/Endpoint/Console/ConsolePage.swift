import Encodings
import Node
import Overview
import Processes
import Reactor

/// The console's pages as they are installed with the program. Read anew each time, so that nothing of them is held at rest.
enum ConsolePage {
    /// Bytes of a file. As much is asked for each time: more than 128 KiB would leave the heap larger.
    private static let limit = 120 << 10
    private static let longestName = 64
    /// The files that it has from the phone's page.
    private static let shared = ["dom.js", "icons.js", "qr.js", "style.css", "words.js"]

    /// Reads a file of the console, one that it shares with the phone page, or the style of the state's drawing.
    ///
    /// - Parameter name: `index.html`, `screens/start.js`; whatever a stranger asks for.
    @FileThread
    static func read(_ name: String) -> [UInt8]? {
        guard isName(name) else { return nil }
        if name == "state.css" { return Array(StatusPage.partStyle.utf8) }
        if let bytes = read(name, in: "console", source: "Sources/Console") { return bytes }
        guard shared.contains(name) || name.hasPrefix("icons/") else { return nil }
        return read(name, in: "phone-page", source: "Sources/PhonePage")
    }

    @FileThread
    private static func read(_ name: String, in folder: String, source: String) -> [UInt8]? {
        InstalledFile.path("\(folder)/\(name)", source: "\(source)/\(name)").flatMap {
            try? PrivateFile.read($0, limit: limit)
        }
    }

    /// Whether a name is that of a file, or of one in a folder: letters, digits and `-`, then its kind.
    private static func isName(_ name: String) -> Bool {
        guard name.utf8.count <= longestName else { return false }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let file = parts.last,
            parts.count == 1 || parts[0].consists(of: { ASCII.letter($0) })
        else { return false }
        let words = file.split(separator: ".", omittingEmptySubsequences: false)
        return words.count == 2
            && words.allSatisfy { word in
                !word.isEmpty
                    && word.consists {
                        ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, "-")
                    }
            }
    }
}
