import Encodings
import Node
import YAML

/// A change to a settings file: a value is set, or an app comes or goes, and every other line stays as it is.
///
/// Whatever it did is looked at afterwards: the file read anew must differ in this alone. What can't be done in this way, as
/// setting a value over several lines, is refused, and left to who edits the text.
enum SettingsEdit {
    /// Why the text is not changed here.
    struct Refusal: Error, Equatable, CustomStringConvertible {
        var description: String { "the text is written in a way that only who edits it can change" }
    }

    /// Returns the text with one value set.
    ///
    /// - Parameters:
    ///   - key: `tor.mode`, or `apps[NAME].targets` for an app by its name.
    ///   - value: `[a, b]` is a list if it may be one.
    static func set(
        _ key: String, to value: String, mayBeList: Bool = false, in text: String
    ) throws(Refusal) -> String {
        let before = try tree(text)
        guard let path = path(key, in: before) else { throw Refusal() }
        let written = SettingsText.written(value, mayBeList: mayBeList)
        var expected = flat(before)
        for known in expected.keys
        where known == ByteText(path.key) || known.wrappedValue.hasPrefix("\(path.key)[") {
            expected[known] = nil
        }
        for (place, text) in flat(try tree("x: \(written)")) {
            expected[ByteText(path.key + place.wrappedValue.dropFirst())] = text
        }
        for lines in edits(of: lines(of: text), path, to: Array(written.utf8), root: before) {
            let edited = self.text(of: lines)
            if let after = try? tree(edited), flat(after) == expected { return edited }
        }
        throw Refusal()
    }

    /// Returns the text with another app, as the last one.
    static func addApp(
        _ members: [(name: String, value: String)], to text: String
    ) throws(Refusal) -> String {
        let before = try tree(text)
        let written = members.map { "\($0.name): \(SettingsText.written($0.value))" }
        let item = "{\(written.joined(separator: ", "))}"
        var expected = apps(before)
        expected.append(flat(try tree(item)))
        for lines in insertions(of: Array(item.utf8), in: lines(of: text), before) {
            let edited = self.text(of: lines)
            if let after = try? tree(edited), apps(after) == expected, others(after) == others(before) {
                return edited
            }
        }
        throw Refusal()
    }

    /// Returns the text without an app. Remarks above it stay.
    static func removeApp(_ name: String, from text: String) throws(Refusal) -> String {
        let before = try tree(text)
        guard let items = before?["apps"]?.items,
            let index = items.firstIndex(where: { $0["name"]?.text == name })
        else { throw Refusal() }
        var lines = lines(of: text)
        lines.removeSubrange(items[index].line - 1..<end(of: items[index]))
        var expected = apps(before)
        expected.remove(at: index)
        let edited = self.text(of: lines)
        guard let after = try? tree(edited), apps(after) == expected, others(after) == others(before) else {
            throw Refusal()
        }
        return edited
    }

    /// Returns the value's text in the file; `nil`: it is not there.
    static func value(_ key: String, in text: String) -> String? {
        guard let tree = try? tree(text), let path = path(key, in: tree) else { return nil }
        return flat(tree)[ByteText(path.key)]
    }

    private static let newline = UInt8(ascii: "\n")
    private static let blank = UInt8(ascii: " ")

    private static func lines(of text: String) -> [[UInt8]] {
        text.utf8.split(separator: newline, omittingEmptySubsequences: false).map { Array($0) }
    }

    private static func text(of lines: [[UInt8]]) -> String {
        String(decoding: Array(lines.joined(separator: [newline])), as: UTF8.self)
    }

    private static func tree(_ text: String) throws(Refusal) -> YAMLNode? {
        do throws(SettingsFault) {
            return try SettingsText.parse(text)
        } catch {
            throw Refusal()
        }
    }

    // MARK: Reading

    /// The place of a value, or the place where it is to be.
    private struct Path {
        /// `apps[1].targets`
        let key: String
        /// The innermost mapping on the way that has entries; `nil`: the file has none.
        var holder: YAMLNode?
        /// The section below it that is there and has no entries: its key.
        var empty: YAMLNode?
        /// The names below these two, the value's own last.
        var names: [String]
    }

    private static func path(_ key: String, in tree: YAMLNode?) -> Path? {
        var (path, least) = (Path(key: key, holder: tree, names: []), 2)
        if key.hasPrefix("apps["), let end = key.utf8.firstIndex(of: UInt8(ascii: "]")) {
            let app = String(key[key.utf8.index(key.utf8.startIndex, offsetBy: 5)..<end])
            let rest = String(key[key.utf8.index(after: end)...].utf8.dropFirst()) ?? ""
            guard let items = tree?["apps"]?.items,
                let index = items.firstIndex(where: { $0["name"]?.text == app })
            else { return nil }
            path = Path(key: "apps[\(index)].\(rest)", holder: items[index], names: [rest])
            least = 1
        } else {
            path.names = key.utf8.split(separator: UInt8(ascii: ".")).map { String($0) ?? "" }
        }
        guard path.names.count >= least else { return nil }
        while path.names.count > 1,
            let entry = path.holder?.entries?.first(where: { $0.key.text == path.names[0] })
        {
            path.names.removeFirst()
            if entry.value.isNull || entry.value.entries?.isEmpty == true {
                path.empty = entry.key
                break
            }
            guard entry.value.entries != nil else { return nil }
            path.holder = entry.value
        }
        return path
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

    private static func apps(_ tree: YAMLNode?) -> [[ByteText: String]] {
        (tree?["apps"]?.items ?? []).map(flat)
    }

    private static func others(_ tree: YAMLNode?) -> [ByteText: String] {
        flat(tree).filter { !$0.key.wrappedValue.hasPrefix("apps[") }
    }

    /// Returns the last line that has something of a value. Brackets that end it may stand further below.
    private static func end(of node: YAMLNode) -> Int {
        let inner = (node.items ?? []) + (node.entries ?? []).flatMap { [$0.key, $0.value] }
        return inner.reduce(node.line) { max($0, end(of: $1)) }
    }

    // MARK: Writing

    /// Returns the candidates for the lines with a value set. The caller reads each, and takes the one that means the value.
    private static func edits(
        of lines: [[UInt8]], _ path: Path, to value: [UInt8], root: YAMLNode?
    ) -> [[[UInt8]]] {
        func changed(_ change: (inout [[UInt8]]) -> Void) -> [[UInt8]] {
            var lines = lines
            change(&lines)
            return lines
        }
        /// Returns the lines of names, each deeper than the one before, with the value behind the last.
        func block(at column: Int) -> [[UInt8]] {
            path.names.enumerated().map { depth, name in
                [UInt8](repeating: blank, count: column + 2 * depth) + "\(name):".utf8
                    + (depth == path.names.count - 1 ? [blank] + value : [])
            }
        }
        func inBraces(at line: Int) -> [[[UInt8]]] {
            let closing = [UInt8](repeating: UInt8(ascii: "}"), count: path.names.count - 1)
            let item = Array("\(path.names.joined(separator: ": {")): ".utf8) + value + closing
            return lines[line].indices.filter { lines[line][$0] == UInt8(ascii: "}") }.map { end in
                let isEmpty = lines[line][..<end].last { $0 != blank } == UInt8(ascii: "{")
                return changed {
                    $0[line].insert(contentsOf: (isEmpty ? [] : Array(", ".utf8)) + item, at: end)
                }
            }
        }
        if let empty = path.empty {
            let line = empty.line - 1
            guard let column = start(of: Array((empty.text ?? "").utf8), in: lines[line]) else {
                return inBraces(at: line)
            }
            return inBraces(at: line)
                + [changed { $0.insert(contentsOf: block(at: column + 2), at: line + 1) }]
        }
        guard let holder = path.holder, let first = holder.entries?.first else {
            let isNothing = path.holder?.isNull ?? true
            return isNothing ? [appended(block(at: 0), to: lines)] : []
        }
        if path.names.count == 1, let entry = holder.entries?.first(where: { $0.key.text == path.names[0] }) {
            // A block, or a value on the next line.
            guard entry.value.line == entry.key.line, entry.value.entries == nil else { return [] }
            return replacements(of: path.names[0], by: value, in: lines[entry.key.line - 1]).map { line in
                changed { $0[entry.key.line - 1] = line }
            }
        }
        let line = first.key.line - 1
        guard let column = start(of: Array((first.key.text ?? "").utf8), in: lines[line]) else {
            return inBraces(at: line)
        }
        if holder == root { return [appended(block(at: 0), to: lines)] }
        return [changed { $0.insert(contentsOf: block(at: column), at: end(of: first.value)) }]
    }

    private static func appended(_ block: [[UInt8]], to lines: [[UInt8]]) -> [[UInt8]] {
        lines.prefix(lines.last?.isEmpty == true ? lines.count - 1 : lines.count) + block + [[]]
    }

    /// Returns what the lines may be with another item behind those of the list of apps.
    private static func insertions(
        of item: [UInt8], in lines: [[UInt8]], _ tree: YAMLNode?
    ) -> [[[UInt8]]] {
        guard let entry = tree?.entries?.first(where: { $0.key.text == "apps" }) else {
            return [appended([Array("apps:".utf8), "  - ".utf8 + item], to: lines)]
        }
        let line = entry.key.line - 1
        let dash = entry.value.items?.first.flatMap { lines[$0.line - 1].firstIndex { $0 != blank } } ?? 2
        var block = lines
        block.insert(
            [UInt8](repeating: blank, count: dash) + "- ".utf8 + item,
            at: entry.value.items?.last.map { end(of: $0) } ?? line + 1)
        let isFirst = entry.value.items?.isEmpty ?? true
        return [block]
            + lines[line].indices.filter { lines[line][$0] == UInt8(ascii: "]") }.map { end in
                var inBrackets = lines
                inBrackets[line].insert(contentsOf: (isFirst ? [] : Array(", ".utf8)) + item, at: end)
                return inBrackets
            }
    }

    /// Returns the start of a key that stands first on its line, or first in its item.
    private static func start(of name: [UInt8], in line: [UInt8]) -> Int? {
        guard let column = line.firstIndex(where: { $0 != blank && $0 != UInt8(ascii: "-") }),
            line[column...].starts(with: name)
        else { return nil }
        return column
    }

    /// Returns what a line may be with the value behind a name replaced.
    private static func replacements(of name: String, by value: [UInt8], in line: [UInt8]) -> [[UInt8]] {
        let key = Array("\(name):".utf8)
        let openings: [UInt8] = [blank, UInt8(ascii: "{"), UInt8(ascii: ",")]
        return line.indices.dropLast(key.count - 1).filter { index in
            line[index...].starts(with: key) && (index == 0 || openings.contains(line[index - 1]))
        }.map { index in
            let start = index + key.count
            let end = valueEnd(from: start, in: line)
            let rest = line[end...]
            let gap: [UInt8] = rest.first == UInt8(ascii: "#") ? [blank, blank] : []
            return Array(line[..<start]) + [blank] + value + gap + rest
        }
    }

    private static func valueEnd(from start: Int, in line: [UInt8]) -> Int {
        let isInline = line[..<start].contains(UInt8(ascii: "{"))
        var (quote, depth): (UInt8?, Int) = (nil, 0)
        for (index, byte) in line.enumerated().dropFirst(start) {
            switch byte {
            case _ where quote != nil: if byte == quote { quote = nil }
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ","), UInt8(ascii: "}"): if isInline, depth == 0 { return index }
            case UInt8(ascii: "#"): if line[index - 1] == blank { return index }
            case _: break
            }
        }
        return line.count
    }
}
