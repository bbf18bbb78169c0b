import Glibc
import Node
import Processes

/// The commented sample of a configuration, in which single settings are changed and everything else stays as it is.
///
/// There is one sample, `Deploy/onionbell.yaml`; it is installed with the program.
struct SampleConfiguration {
    private var lines: [Line]

    /// A line, and which setting stands on it.
    private struct Line {
        var text: String
        /// The setting's key, `tor.mode` or `apps[0].key_file`; `nil` for comments, headings and empty lines.
        var key: String?
        var indentation = 0
        /// The name of the setting, or of the heading.
        var name = ""
        /// Whether the line is changed from what the sample has.
        var isChanged = false

        var isOff: Bool { text.drop { $0 == " " }.hasPrefix("#") }
        /// The list's item in which the line stands, as `apps[0]`; `nil`: the line stands in no list.
        var item: Substring? {
            key?.lastIndex(of: "]").map { key![...$0] }
        }
    }

    /// A setting that the sample doesn't have.
    struct UnknownKey: Error, CustomStringConvertible {
        let key: String
        let nearest: String?

        var description: String {
            "there is no setting \(SettingsFault.shown(key))\(nearest.map { "; did you mean \($0)?" } ?? "")"
        }
    }

    /// Reads a sample.
    ///
    /// - Parameter text: As the sample is written: two blanks of indentation for each level, a `#` without a blank
    ///   behind it before a setting that is off.
    init(_ text: String) {
        var path = Path()
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { path.line(String($0)) }
    }

    /// Reads the sample that is installed with the program.
    static func installed() throws(NodeError) -> SampleConfiguration {
        SampleConfiguration(try installedText())
    }

    static func installedText() throws(NodeError) -> String {
        guard let path = InstalledFile.path("onionbell.yaml", source: "Deploy/onionbell.yaml") else {
            throw .unavailable("no sample configuration: \(InstalledFile.absence(of: "onionbell.yaml"))")
        }
        do { return try SettingsText.read(path) } catch { throw .unavailable("\(path) \(error)") }
    }

    var text: String { lines.map(\.text).joined(separator: "\n") }

    /// The text of the settings that differ from the defaults, and of the list's items that are on, with the
    /// settings that have no default.
    var differences: String {
        var kept = [
            "# What differs from the defaults. Every setting, with comments: /usr/share/onionbell/onionbell.yaml,",
            "# or man onionbell.yaml. Check a change: onionbell check-config",
        ]
        var headings: [Line] = []
        for line in lines {
            guard let key = line.key else {
                guard !line.name.isEmpty else { continue }
                headings.removeAll { $0.indentation >= line.indentation }
                headings.append(line)
                continue
            }
            guard isWanted(line, key) else { continue }
            headings.removeAll { $0.indentation >= line.indentation }
            kept += headings.map(\.text)
            headings = []
            kept.append(line.text)
        }
        return kept.joined(separator: "\n") + "\n"
    }

    private static let withoutDefault: Set = ["name", "gateway", "form", "topic"]

    private func isWanted(_ line: Line, _ key: String) -> Bool {
        guard let item = line.item else {
            // The sample's values are examples, not defaults: a setting that is left out has none.
            if key.hasPrefix("defaults.") { return !line.text.hasSuffix("\"\"") }
            return line.isChanged
        }
        let own = lines.filter { $0.item == item }
        guard let name = own.first, !name.isOff else { return false }
        if line.isOff { return !own.contains(where: \.isChanged) }
        return line.isChanged || Self.withoutDefault.contains(line.name)
    }

    /// The keys of all settings, in the sample's order.
    var keys: [String] { lines.compactMap(\.key) }

    /// Returns the key of the first app of this gateway, as `apps[3]`, also when it is off.
    func app(ofGateway gateway: String) -> String? {
        lines.first { $0.name == "gateway" && $0.text.hasSuffix("gateway: \(gateway)") }?.key
            .map { String($0.dropLast(".gateway".count)) }
    }

    /// Returns a setting's value as it stands there, without a comment; `nil`: there is no such setting.
    func value(of key: String) -> String? {
        guard let text = lines.first(where: { $0.key == key })?.text, let colon = text.firstIndex(of: ":")
        else {
            return nil
        }
        return text[text.index(after: colon)...].split(separator: " ").first.map(String.init)
    }

    /// Sets one setting, and turns it on if it was off.
    ///
    /// - Parameter value: Written as it is where YAML takes it for plain text or a list of such, else quoted.
    mutating func set(_ key: String, to value: String) throws(UnknownKey) {
        guard let index = lines.firstIndex(where: { $0.key == key }) else {
            throw UnknownKey(key: key, nearest: nearestName(to: key, among: keys))
        }
        let line = lines[index]
        // The first setting of a list's item stands behind its dash.
        let lead = line.text.drop { $0 == " " || $0 == "#" }.hasPrefix("- ") ? "- " : ""
        let text =
            String(repeating: " ", count: line.indentation - lead.count)
            + "\(lead)\(line.name): \(SettingsText.written(value, mayBeList: true))"
        lines[index].isChanged = line.isChanged || text != line.text
        lines[index].text = text
    }

    /// Turns a list's item off: each of its settings becomes a comment.
    mutating func turnOff(_ item: String) {
        for (index, line) in lines.enumerated() where line.key?.hasPrefix("\(item).") ?? false {
            let rest = line.text.drop { $0 == " " }
            guard !rest.hasPrefix("#") else { continue }
            lines[index].text = line.text.prefix { $0 == " " } + "#" + rest
        }
    }

    /// The place at which a reader of the sample stands while it goes from line to line.
    private struct Path {
        /// The headings above, with their indentation.
        private var headings: [(indentation: Int, name: String)] = []
        private var item = -1

        mutating func line(_ text: String) -> Line {
            var indentation = text.prefix { $0 == " " }.count
            var rest = text.dropFirst(indentation)
            if rest.hasPrefix("#") {
                rest = rest.dropFirst()
                guard let first = rest.first, first != " ", first != "#" else { return Line(text: text) }
            }
            let isItem = rest.hasPrefix("- ")
            if isItem {
                rest = rest.dropFirst(2)
                indentation += 2
            }
            guard let colon = rest.firstIndex(of: ":"), colon > rest.startIndex,
                rest[..<colon].allSatisfy({ $0.isLowercase || $0.isNumber || $0 == "_" })
            else { return Line(text: text) }
            let name = String(rest[..<colon])
            headings.removeAll { $0.indentation >= indentation - (isItem ? 1 : 0) }
            if headings.isEmpty { item = -1 }
            if isItem { item += 1 }
            let path = headings.map(\.name).joined(separator: ".")
            guard rest.index(after: colon) < rest.endIndex else {
                headings.append((indentation, name))
                return Line(text: text, indentation: indentation, name: name)
            }
            let parent = item >= 0 ? "\(path)[\(item)]" : path
            return Line(
                text: text, key: parent.isEmpty ? name : "\(parent).\(name)", indentation: indentation,
                name: name)
        }
    }
}
