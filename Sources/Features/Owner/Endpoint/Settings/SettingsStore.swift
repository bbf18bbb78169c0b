import Encodings
import Glibc
import Node
import Reactor

/// The settings' file in the hands of the node itself: it may be root's, and then only root changes it.
enum SettingsStore {
    /// Whether this user may write it. It is written under another name and renamed: its folder counts.
    static func isOpen(_ path: String) -> Bool {
        let real = real(path)
        guard let slash = real.lastIndex(of: "/") else { return access(".", W_OK) == 0 }
        return access(slash == real.startIndex ? "/" : String(real[..<slash]), W_OK) == 0
    }

    /// Writes the whole file or nothing. Others who might read the file before may still read it.
    static func write(_ text: String, to path: String) throws(SystemError) {
        var files = FileExchange()
        try put(text, at: path, by: &files)
        try files.exchange()
        files.keep()
    }

    /// Prepares the file in the same way.
    static func put(_ text: String, at path: String, by files: inout FileExchange) throws(SystemError) {
        let real = real(path)
        var status = stat()
        let mode = stat(real, &status) == 0 ? status.st_mode & 0o777 : 0o600
        try files.put(Array(text.utf8), at: real, mode: mode)
    }

    /// Returns the path to which a link leads, so that the link stays a link.
    static func real(_ path: String) -> String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    /// Returns the text with another state directory: a backup's settings name that of the old machine.
    static func text(_ text: String, movedTo stateDirectory: String) -> String {
        let key = "state_directory:"
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        let line = "\(key) \"\(stateDirectory)\""
        guard let index = lines.firstIndex(where: { $0.hasPrefix(key) }) else { return line + "\n" + text }
        lines[index] = line
        return lines.joined(separator: "\n")
    }

    /// Returns the text with the programs of other settings: a backup names none.
    static func text(
        _ text: String, withProgramsOf here: Settings, for settings: Settings
    ) throws(SettingsEdit.Refusal) -> String {
        var text = text
        for (key, wanted, present) in [
            ("tor.binary", settings.tor.binary, here.tor.binary),
            ("tor.torrc", settings.tor.torrc, here.tor.torrc),
        ] where !wanted.hasSameBytes(as: present) {
            text = try SettingsEdit.set(key, to: present, in: text)
        }
        return text
    }
}
