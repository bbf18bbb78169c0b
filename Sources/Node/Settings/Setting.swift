import Gateways

/// One setting, as the call that reads it declares it.
///
/// The environment's names, the console's fields and the tests of all settings are made of these values. Its sentence stands once, in
/// the sample; the manual and the article are made of that.
package struct Setting: Sendable {
    /// `tor.mode`; `apps[0].topic` in an entry of a list.
    package let key: String
    package let kind: SettingKind
    /// The value where nothing is set, as a file has it.
    package let usual: String
    package let traits: SettingTraits
    /// The variable that sets it; `nil` for lists, and for settings of their entries.
    package let variable: String?

    /// Returns the sentences above the setting in the sample; empty where there are none.
    package func help(in sample: String) -> String {
        let parts = key.split(separator: ".")
        var (section, notes): (Substring?, [Substring]) = (nil, [])
        for line in sample.split(separator: "\n", omittingEmptySubsequences: false) {
            let content = line.drop { $0 == " " }
            if content.hasPrefix("# ") {
                notes.append(content.dropFirst(2))
                continue
            }
            if line.startIndex == content.startIndex, !content.isEmpty { section = content.dropLast() }
            if section == parts.first, content.hasPrefix("\(parts[parts.count - 1]):") { break }
            notes = []
        }
        return notes.joined(separator: " ")
    }

    /// Returns every setting outside of lists, in the order of the reading.
    package static func all(with features: Features) -> [Setting] {
        let reader = SettingsReader(environment: [:], directory: ".", features: features)
        _ = Settings(SettingsReader.Section(reader, node: nil))
        return reader.settings
    }
}
