import Encodings
import YAML

/// One value of a settings file is set, and every other line stays as it is.
///
/// Whatever it did is looked at afterwards: the file read anew must differ in this value alone. What can't be set in this
/// way, as a value over several lines, is refused, and left to who edits the text.
enum SettingsEdit {
    /// Why a value is not set here.
    struct Refusal: Error, Equatable, CustomStringConvertible {
        var description: String { "the text is written in a way that only who edits it can change" }
    }

    /// Returns the text with one value set.
    ///
    /// - Parameter key: `tor.mode`, or `apps[NAME].targets` for an app by its name.
    static func set(_ key: String, to value: String, in text: String) throws(Refusal) -> String {
        let before = try tree(text)
        guard let path = path(key, in: before) else { throw Refusal() }
        var lines = text.utf8.split(separator: newline, omittingEmptySubsequences: false).map { Array($0) }
        try set(path, to: Array(SettingsText.written(value).utf8), in: &lines, before)
        let edited = String(decoding: Array(lines.joined(separator: [newline])), as: UTF8.self)
        var expected = flat(before)
        expected[ByteText(path.key)] = value
        let after = try tree(edited)
        guard flat(after) == expected else { throw Refusal() }
        return edited
    }

    /// Returns the value's text in the file; `nil`: it is not there.
    static func value(_ key: String, in text: String) -> String? {
        guard let tree = try? tree(text), let path = path(key, in: tree) else { return nil }
        return flat(tree)[ByteText(path.key)]
    }

    private static let newline = UInt8(ascii: "\n")
    private static let blank = UInt8(ascii: " ")

    /// The place of a value, or the place where it is to be.
    private struct Path {
        /// `apps[1].targets`
        let key: String
        let name: String
        /// The mapping that has the key; `nil`: the file's own, or one that is not there.
        let holder: YAMLNode?
        /// The line of the mapping, in the file; empty for the file's own.
        let section: String
    }

    private static func tree(_ text: String) throws(Refusal) -> YAMLNode? {
        do throws(SettingsFault) {
            return try SettingsText.parse(text)
        } catch {
            throw Refusal()
        }
    }

    private static func path(_ key: String, in tree: YAMLNode?) -> Path? {
        if key.hasPrefix("apps["), let end = key.utf8.firstIndex(of: UInt8(ascii: "]")) {
            let app = String(key[key.utf8.index(key.utf8.startIndex, offsetBy: 5)..<end])
            let rest = String(key[key.utf8.index(after: end)...].utf8.dropFirst()) ?? ""
            guard let items = tree?["apps"]?.items,
                let index = items.firstIndex(where: { $0["name"]?.text == app })
            else { return nil }
            return Path(key: "apps[\(index)].\(rest)", name: rest, holder: items[index], section: "apps")
        }
        let parts = key.utf8.split(separator: UInt8(ascii: ".")).map { String($0) ?? "" }
        guard parts.count == 2 else { return nil }
        return Path(key: key, name: parts[1], holder: tree?[parts[0]], section: parts[0])
    }

    /// Returns all single values by their keys.
    private static func flat(_ tree: YAMLNode?) -> [ByteText: String] {
        var values: [ByteText: String] = [:]
        func walk(_ node: YAMLNode, _ key: String) {
            if let text = node.text, !node.isNull { values[ByteText(key)] = text }
            for (index, item) in (node.items ?? []).enumerated() { walk(item, "\(key)[\(index)]") }
            for entry in node.entries ?? [] {
                walk(entry.value, key.isEmpty ? entry.key.text ?? "" : "\(key).\(entry.key.text ?? "")")
            }
        }
        if let tree { walk(tree, "") }
        return values
    }

    private static func set(
        _ path: Path, to value: [UInt8], in lines: inout [[UInt8]], _ tree: YAMLNode?
    ) throws(Refusal) {
        guard let holder = path.holder, !holder.isNull else {
            let line = "  \(path.name): ".utf8 + value
            if let entry = tree?.entries?.first(where: { $0.key.text == path.section }) {
                return lines.insert(line, at: entry.key.line)
            }
            if lines.last?.isEmpty == true { lines.removeLast() }
            lines += [Array("\(path.section):".utf8), line, []]
            return
        }
        guard let entries = holder.entries, let first = entries.first else { throw Refusal() }
        if let entry = entries.first(where: { $0.key.text == path.name }) {
            // A block, or a value on the next line.
            guard entry.value.text != nil, entry.value.line == entry.key.line else { throw Refusal() }
            return try replace(path.name, by: value, in: &lines[entry.key.line - 1])
        }
        let index = first.key.line - 1
        let name = Array((first.key.text ?? "").utf8)
        if let end = lines[index].lastIndex(of: UInt8(ascii: "}")), lines[index].contains(UInt8(ascii: "{")) {
            return lines[index].insert(contentsOf: ", \(path.name): ".utf8 + value, at: end)
        }
        guard let column = start(of: name, in: lines[index]) else { throw Refusal() }
        lines.insert(
            [UInt8](repeating: blank, count: column) + "\(path.name): ".utf8 + value, at: index + 1)
    }

    /// Returns the start of a key that stands first on its line, or first in its item.
    private static func start(of name: [UInt8], in line: [UInt8]) -> Int? {
        guard let column = line.firstIndex(where: { $0 != blank && $0 != UInt8(ascii: "-") }),
            line[column...].starts(with: name)
        else { return nil }
        return column
    }

    private static func replace(_ name: String, by value: [UInt8], in line: inout [UInt8]) throws(Refusal) {
        let key = Array("\(name):".utf8)
        var found: Int?
        for index in line.indices.dropLast(key.count - 1) where line[index...].starts(with: key) {
            let isFirst =
                index == 0 || [blank, UInt8(ascii: "{"), UInt8(ascii: ",")].contains(line[index - 1])
            if isFirst {
                found = index + key.count
                break
            }
        }
        guard let start = found else { throw Refusal() }
        let isInline = line[..<start].contains(UInt8(ascii: "{"))
        var end = start
        var quote: UInt8?
        while end < line.count {
            let byte = line[end]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if isInline && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}"))
                || byte == UInt8(ascii: "#") && line[end - 1] == blank
            {
                break
            }
            end += 1
        }
        let rest = line[end...]
        let gap: [UInt8] = rest.first == UInt8(ascii: "#") ? [blank, blank] : []
        line = Array(line[..<start]) + [blank] + value + gap + rest
    }
}
