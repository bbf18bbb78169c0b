import Encodings
import Glibc

/// A node, as files come to it that somebody else has made: some places are the node's own.
package struct PlaceOfNode: Sendable {
    package let settingsFile: String
    package let stateDirectory: String
    /// The settings that the node has now: those that it runs with, and those in the file.
    package let present: [Settings]

    package init(settingsFile: String, stateDirectory: String, present: [Settings]) {
        (self.settingsFile, self.stateDirectory, self.present) = (settingsFile, stateDirectory, present)
    }

    /// Whether a file belongs to this node: its settings, its torrc, or anything in its state directory. The place of that
    /// directory and the spelling of the path make no difference.
    package func isOwn(_ path: String) -> Bool {
        let path = Self.real(path)
        let torrcs = present.map(\.tor.torrc).filter { !$0.isEmpty }
        if ([settingsFile] + torrcs).contains(where: { Self.real($0).hasSameBytes(as: path) }) { return true }
        let state = Self.real(stateDirectory)
        guard !isGatewayKey(path) else { return false }
        return path.hasSameBytes(as: state) || path.hasPrefix(state + "/")
    }

    /// Whether a file is one of those that the console took for a gateway, in their one directory.
    package func isGatewayKey(_ path: String) -> Bool {
        let path = Self.real(path)
        let directory = StateDirectory.gatewayKeys(in: Self.real(stateDirectory)) + "/"
        guard path.hasPrefix(directory) else { return false }
        let name = path.utf8.dropFirst(directory.utf8.count)
        return name.first != UInt8(ascii: ".") && !name.contains(UInt8(ascii: "/"))
    }

    /// Returns the path without links and doubled slashes, as far as it is there.
    private static func real(_ path: String) -> String {
        if let found = realpath(path, nil) {
            defer { free(found) }
            return String(cString: found)
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard let name = parts.last, parts.count > 1 || path.hasPrefix("/") else { return path }
        let folder = (path.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/")
        let parent = folder == "/" ? "" : real(folder)
        return name == "." ? parent : "\(parent)/\(name)"
    }
}
