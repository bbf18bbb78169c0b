import FeatureList
import Node
import Processes

/// A configuration that is to be written: the sample's apps, and what differs from the sample.
///
/// There is one sample, `Deploy/onionbell.yaml`; it is installed with the program.
struct SampleConfiguration {
    private let sample: [SampleSetting]
    private var values: [String: String] = [:]
    private var itemsOff: Set<Substring> = []

    /// A setting that the sample doesn't have.
    struct UnknownKey: Error, CustomStringConvertible {
        let description: String
    }

    init(_ text: String) { sample = SampleSetting.all(of: text, with: .built) }

    /// Reads the sample that is installed with the program.
    static func installed() throws(NodeError) -> SampleConfiguration {
        guard let text = SettingsText.sample else {
            throw .unavailable("no sample configuration: \(InstalledFile.absence(of: "onionbell.yaml"))")
        }
        return SampleConfiguration(text)
    }

    /// The keys of all settings, in the sample's order.
    var keys: [String] { sample.map(\.key) }

    /// Returns the key of the first app of this gateway, as `apps[3]`, also when it is off.
    func app(ofGateway gateway: String) -> String? {
        sample.first { $0.name == "gateway" && $0.value == gateway }?.item.map { String($0) }
    }

    /// Returns a setting's value in the sample; `nil`: there is no such setting.
    func value(of key: String) -> String? { sample.first { $0.key == key }?.value }

    /// Sets one setting, which turns on the item of a list in which it stands.
    mutating func set(_ key: String, to value: String) throws(UnknownKey) {
        guard sample.contains(where: { $0.key == key }) else {
            throw UnknownKey(
                description: "there is no setting \(SettingsFault.shown(key))\(hint(at: key, among: keys))")
        }
        values[key] = value
    }

    /// Leaves out a list's item.
    mutating func turnOff(_ item: String) { itemsOff.insert(item[...]) }

    /// The text: what differs from the defaults, and the list's items that are on, with the settings that have no default.
    var text: String {
        var lines = [
            "# What differs from the defaults. Every setting, with comments: /usr/share/onionbell/onionbell.yaml,",
            "# or man onionbell.yaml. Check a change: onionbell check-config",
        ]
        var (headings, item): ([Substring], Substring?) = ([], nil)
        for setting in sample where isWanted(setting) {
            let path = setting.key.split(separator: ".").dropLast().map { $0.prefix { $0 != "[" } }
            let common = zip(path, headings).prefix { $0 == $1 }.count
            for depth in common..<path.count {
                lines.append(String(repeating: "  ", count: depth) + "\(path[depth]):")
            }
            let isFirst = setting.item != nil && setting.item != item
            let lead = String(repeating: "  ", count: path.count + (setting.item == nil || isFirst ? 0 : 1))
            let isOpen = values[setting.key] == nil && !Self.withoutDefault.contains(setting.name)
            let sign = setting.isOff && isOpen ? "#" : isFirst ? "- " : ""
            let value = SettingsText.written(values[setting.key] ?? setting.value, mayBeList: true)
            lines.append("\(lead)\(sign)\(setting.name): \(value)")
            (headings, item) = (path, setting.item)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let withoutDefault: Set = ["name", "gateway", "form", "topic"]

    private func isWanted(_ setting: SampleSetting) -> Bool {
        let value = values[setting.key]
        guard let item = setting.item else {
            // The sample's values are examples, not defaults: a setting that is left out has none.
            if setting.key.hasPrefix("defaults.") { return value ?? setting.value != "" }
            return value.map { $0 != setting.value || setting.isOff } ?? false
        }
        let own = sample.filter { $0.item == item }
        let isChanged = own.contains { values[$0.key] != nil && (values[$0.key] != $0.value || $0.isOff) }
        guard let name = own.first, isChanged || !name.isOff, !itemsOff.contains(item) else { return false }
        if Self.withoutDefault.contains(setting.name) { return true }
        // Of an app without credentials the lines to be filled in are there.
        return value.map { $0 != setting.value || setting.isOff }
            ?? (setting.isOff && !name.isOff && !isChanged)
    }
}
