import Crypto
import Doors
import Encodings
import Node
import Processes
import Reactor
import Tor

/// The phone's page as it was installed with the program, with this node's key in it: what `Deploy/phone-page --vapid KEY`
/// writes.
package enum PhonePageFiles {
    /// Why the page cannot be served.
    package enum Fault: Error, Equatable, CustomStringConvertible {
        case notInstalled
        case unreadable(String)
        /// `index.html` names no policy.
        case noPolicy

        package var description: String {
            switch self {
            case .notInstalled:
                "the phone's page is not installed: share/onionbell/phone-page beside the program's bin is missing"
            case .unreadable(let reason): "the phone's page cannot be read: \(reason)"
            case .noPolicy: "the phone's page is not whole: index.html has no Content-Security-Policy"
            }
        }
    }

    /// Bytes of a file, and files in all.
    private static let largest = 1 << 20
    private static let most = 200
    private static let written = "deployed.js"

    /// The folder; `nil`: it is not there.
    package static var folder: String? {
        InstalledFile.path("phone-page/index.html", source: "Sources/PhonePage/index.html").map {
            String($0.dropLast("/index.html".count))
        }
    }

    /// Reads the page, and writes its `deployed.js` for this node.
    ///
    /// - Parameter vapidKey: this node's, 87 characters.
    package static func page(for vapidKey: String) throws(Fault) -> PhonePageDoor.Page {
        guard let folder else { throw .notInstalled }
        var files: [String: [UInt8]] = [:]
        try read(folder, into: &files)
        files[written] = Array(deployed(files, vapidKey).utf8)
        guard let index = files["index.html"], let policy = policy(in: String(decoding: index, as: UTF8.self))
        else { throw .noPolicy }
        return PhonePageDoor.Page(files: files, policy: policy)
    }

    /// Whether a name may be one of the page's; what else lies in the folder is nobody's.
    private static func isName(_ name: String) -> Bool {
        name.utf8.first != UInt8(ascii: ".")
            && name.consists {
                ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, ".") | ASCII.equal($0, "-")
                    | ASCII.equal($0, "_")
            }
    }

    /// Reads a folder, and those in it whose names have no dot.
    private static func read(
        _ folder: String, into files: inout [String: [UInt8]]
    ) throws(Fault) {
        do throws(SystemError) {
            for name in try PrivateFile.names(in: folder) where isName(name) && files.count < most {
                let path = "\(folder)/\(name)"
                if !name.contains(".") {
                    for inner in try PrivateFile.names(in: path) where isName(inner) {
                        files["\(name)/\(inner)"] = try PrivateFile.read("\(path)/\(inner)", limit: largest)
                    }
                } else if name != written {
                    files[name] = try PrivateFile.read(path, limit: largest)
                }
            }
        } catch {
            throw .unreadable("\(error)")
        }
    }

    /// Returns the text of `deployed.js`, which names the version and what a worker keeps.
    private static func deployed(_ files: [String: [UInt8]], _ vapidKey: String) -> String {
        let names = files.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let sums = names.map { "\(Hex.encode(Hash.sha256(files[$0] ?? [])))  \($0)\n" }.joined()
        let version = Hex.encode(Array(Hash.sha256(Array((sums + vapidKey).utf8)).prefix(8)))
        let kept = (names.filter { $0 != "index.html" && $0 != "worker.js" } + ["./", written])
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return """
            /* Written by Deploy/phone-page. */
            export const version = "\(version)";
            export const files = [
            \(kept.map { "    \"\($0)\"," }.joined(separator: "\n"))
            ];
            export const vapidKey = "\(vapidKey)";

            """
    }

    private static func policy(in index: String) -> String? {
        let bytes = Array(index.utf8)
        let marker = Array("http-equiv=\"Content-Security-Policy\" content=\"".utf8)
        // As bytes: a String is searched with regular expressions, which the node does without.
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: marker) }) else {
            return nil
        }
        let policy = bytes[(place + marker.count)...].prefix { $0 != UInt8(ascii: "\"") }
        guard !policy.isEmpty, policy.endIndex < bytes.count,
            policy.allSatisfy({ (0x20...0x7e).contains($0) })
        else { return nil }
        return String(decoding: policy, as: UTF8.self)
    }
}
