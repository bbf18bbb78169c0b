/// A setting as the sample has it, `Deploy/onionbell.yaml`.
package struct SampleSetting: Sendable {
    /// `tor.mode`, or `apps[0].topic`: apps that are off are counted, too.
    package let key: String
    package let value: String
    /// Whether the sample has it behind a `#`.
    package let isOff: Bool

    package var name: String { String(key.split(separator: ".").last ?? "") }
    /// The list's item in which the setting stands, as `apps[0]`; `nil`: it stands in none.
    package var item: Substring? { key.lastIndex(of: "]").map { key[...$0] } }

    /// Reads a sample: all its settings in their order, also those that are off.
    package static func all(of sample: String, with features: Features) -> [SampleSetting] {
        let lines = sample.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let indentation = line.prefix { $0 == " " }
            let rest = line.dropFirst(indentation.count)
            let isOff = rest.hasPrefix("#") && rest.dropFirst().first.map { $0 != " " } ?? false
            return isOff ? indentation + rest.dropFirst() : line
        }
        let (on, all) = (read(sample, features), read(lines.joined(separator: "\n"), features))
        return all.settings.compactMap { setting in
            all.texts[setting.key].map {
                SampleSetting(key: setting.key, value: $0, isOff: on.texts[setting.key] == nil)
            }
        }
    }

    private static func read(_ text: String, _ features: Features) -> SettingsReader {
        let reader = SettingsReader(environment: [:], directory: ".", features: features)
        _ = Settings(SettingsReader.Section(reader, node: try? SettingsText.parse(text)))
        return reader
    }
}
