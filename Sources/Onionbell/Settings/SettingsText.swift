import Glibc
import Yams

/// A configuration file on its way to a tree of values: bounded, UTF-8, YAML of one document without aliases.
///
/// Without aliases a tree is no larger than its text, whatever the text is; YAML's "billion laughs" can't be written.
enum SettingsText {
    /// Bytes. The commented sample has about ten thousand.
    static let sizeLimit = 256 << 10

    /// - Throws: Why the file can't be taken, in one sentence.
    static func read(_ path: String) throws(SettingsFault) -> String {
        guard let file = fopen(path, "r") else { throw unreadable() }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: sizeLimit + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { throw unreadable() }
        guard count <= sizeLimit else {
            throw SettingsFault(
                key: "", problem: "is larger than \(sizeLimit) bytes: no configuration of ours")
        }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw SettingsFault(key: "", problem: "is not UTF-8 text")
        }
        return text
    }

    private static func unreadable() -> SettingsFault {
        SettingsFault(key: "", problem: "can't be read: \(String(cString: strerror(errno)))")
    }

    /// The tree, or `nil` for a text with no value in it.
    static func parse(_ text: String) throws(SettingsFault) -> Node? {
        let bare = try withoutComments(text)
        do {
            // The basic resolver: every scalar is its text, and no pattern is tried on it.
            return try Yams.compose(yaml: bare, .basic, .default, .utf8)
        } catch let error as YamlError {
            throw error.fault
        } catch {
            throw SettingsFault(key: "", problem: "is not YAML: \(error)")
        }
    }

    /// Empties the comments, so that what is left can be looked through for the signs of anchors and aliases. If a
    /// comment was none but part of a quoted text, it is gone: the worst that an odd file can do is to be misread.
    private static func withoutComments(_ text: String) throws(SettingsFault) -> String {
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let code = withoutComment(line)
            if code.utf8.contains(where: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "*") }) {
                throw SettingsFault(
                    key: "", line: lines.count + 1,
                    problem: "& and * (anchors and aliases) are not allowed here")
            }
            lines.append(code)
        }
        return lines.joined(separator: "\n")
    }

    private static func withoutComment(_ line: Substring) -> Substring {
        let bytes = line.utf8
        guard let first = bytes.firstIndex(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") })
        else {
            return line
        }
        if bytes[first] == UInt8(ascii: "#") { return "" }
        // Within quotes a # is text.
        if bytes.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }) { return line }
        var before = bytes[first]
        for index in bytes.indices[first...] {
            if bytes[index] == UInt8(ascii: "#"), before == UInt8(ascii: " ") || before == UInt8(ascii: "\t")
            {
                return line[..<index]
            }
            before = bytes[index]
        }
        return line
    }
}

extension YamlError {
    /// In our form: a line, and what is wrong there. Yams' own description quotes the file.
    fileprivate var fault: SettingsFault {
        switch self {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            SettingsFault(key: "", line: mark.line, problem: "is not YAML: \(problem)")
        case .reader(let problem, let offset, _, let yaml):
            SettingsFault(
                key: "", line: offset.map { 1 + yaml.prefix($0).count { $0 == "\n" } },
                problem: "is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let keys, let context):
            SettingsFault(
                key: SettingsFault.shown(keys.first ?? ""), line: context.mark.line,
                problem: "is there more than once")
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            SettingsFault(key: "", problem: "is not YAML: \(self)")
        }
    }
}
