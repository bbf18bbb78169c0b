import Glibc
import YAML

/// A configuration file on its way to a tree of values: bounded, UTF-8, YAML of one document without aliases.
///
/// Without aliases a tree is no larger than its text, whatever the text is; YAML's "billion laughs" can't be written.
package enum SettingsText {
    /// Bytes. The commented sample has less than twenty thousand.
    static let sizeLimit = 256 << 10

    /// - Throws: Why the file can't be taken, in one sentence.
    package static func read(_ path: String) throws(SettingsFault) -> String {
        guard let file = fopen(path, "r") else { throw unreadable() }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: sizeLimit + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { throw unreadable() }
        guard count <= sizeLimit else {
            throw SettingsFault(
                key: "",
                problem: "is larger than \(sizeLimit) bytes, so it is not a configuration of onionbell")
        }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw SettingsFault(key: "", problem: "is not UTF-8 text")
        }
        return text
    }

    private static func unreadable() -> SettingsFault {
        let reason = errno
        // Secrets may stand in it: not everybody reads it.
        let advice = reason == EACCES ? ": run this as root, or as the node's user" : ""
        return SettingsFault(key: "", problem: "can't be read: \(String(cString: strerror(reason)))\(advice)")
    }

    /// The tree, or `nil` for a text with no value in it.
    static func parse(_ text: String) throws(SettingsFault) -> YAMLNode? {
        do {
            return try YAMLNode.parse(text)
        } catch {
            throw error.fault
        }
    }
}

extension YAMLError {
    fileprivate var fault: SettingsFault {
        switch self {
        case .notYAML(let problem, let line):
            SettingsFault(key: "", line: line, problem: "is not YAML: \(problem)")
        case .alias(let line):
            SettingsFault(
                key: "", line: line, problem: "& and * (anchors and aliases) are not allowed here")
        case .duplicateKey(let key, let line):
            SettingsFault(key: SettingsFault.shown(key), line: line, problem: "is set more than once")
        case .tooDeep(let line):
            SettingsFault(
                key: "", line: line, problem: "is nested deeper than \(YAMLNode.deepest) levels")
        case .outOfMemory: SettingsFault(key: "", problem: "can't be read: out of memory")
        }
    }
}
