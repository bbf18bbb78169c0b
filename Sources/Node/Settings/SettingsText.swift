import Crypto
import Encodings
import Glibc
import Processes
import Reactor
import YAML

/// A configuration file on its way to a tree of values: bounded, UTF-8, YAML of one document without aliases.
///
/// Without aliases a tree is no larger than its text, whatever the text is; YAML's "billion laughs" can't be written.
package enum SettingsText {
    /// Bytes. The commented sample has less than twenty thousand.
    package static let sizeLimit = 256 << 10

    /// Reads the text of a configuration file.
    ///
    /// - Throws: Why the file can't be taken, in one sentence.
    package static func read(_ path: String) throws(SettingsFault) -> String {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try PrivateFile.read(path, limit: sizeLimit)
        } catch {
            guard error.code == EFBIG else { throw unreadable(error.code) }
            throw SettingsFault(
                key: "",
                problem: "is larger than \(sizeLimit) bytes, so it is not a configuration of onionbell")
        }
        guard let text = String(validating: bytes.withoutMark, as: UTF8.self) else {
            throw SettingsFault(key: "", problem: "is not UTF-8 text")
        }
        return text
    }

    /// The commented sample, `Deploy/onionbell.yaml`; `nil` where it is not installed.
    package static var sample: String? {
        InstalledFile.path("onionbell.yaml", source: "Deploy/onionbell.yaml").flatMap { try? read($0) }
    }

    /// Returns a value as it is written into a file: plain where YAML takes it for nothing else, or quoted.
    ///
    /// - Parameter mayBeList: Whether `[a, b]` is a list of plain texts.
    package static func written(_ value: String, mayBeList: Bool = false) -> String {
        let isList = mayBeList && value.hasPrefix("[") && value.hasSuffix("]")
        let isPlain = value.utf8.allSatisfy { byte in
            ASCII.letter(byte) | ASCII.digit(byte) == 1 || ".-_/:".utf8.contains(byte)
                || isList && "[], ".utf8.contains(byte)
        }
        // A colon before a blank, a dash before one and such can't be written with these characters.
        if isPlain, !value.isEmpty, !value.hasPrefix("-"), !value.hasSuffix(":") { return value }
        var quoted: [UInt8] = []
        quoted.append(jsonString: value)
        return String(decoding: quoted, as: UTF8.self)
    }

    private static func unreadable(_ reason: CInt) -> SettingsFault {
        let advice =
            switch reason {
            // Secrets may stand in it: not everybody reads it.
            case EACCES: ": run this as root, or as the node's user"
            case ENOENT: ": make one with onionbell init, or name another with --config"
            case EINVAL: ": it is no regular file"
            case _: ""
            }
        return SettingsFault(key: "", problem: "can't be read: \(String(cString: strerror(reason)))\(advice)")
    }

    /// Reads the tree; `nil` for a text with no value in it.
    package static func parse(_ text: String) throws(SettingsFault) -> YAMLNode? {
        do {
            return try YAMLNode.parse(text)
        } catch {
            throw error.fault(in: text)
        }
    }
}

extension YAMLError {
    fileprivate func fault(in text: String) -> SettingsFault {
        switch self {
        case .notYAML(_, let line) where YAMLError.isTabbed(line, of: text):
            SettingsFault(key: "", line: line, problem: "is indented with a tab: use blanks")
        case .notYAML(let problem, let line):
            // libyaml names what it met; the cause is often in the line before.
            SettingsFault(
                key: "", line: line,
                problem:
                    "is not YAML: \(problem). Look at indentation, colons and quotation marks, also before it"
            )
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

    private static func isTabbed(_ line: Int, of text: String) -> Bool {
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1) else { return false }
        let indentation = lines[line - 1].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return indentation.contains(UInt8(ascii: "\t"))
    }
}
