import FeatureList
import Node

/// Reads a configuration as it stands in a test.
func settings(
    _ yaml: String, environment: [String: String] = [:], directory: String = "/etc/onionbell"
) throws(SettingsError) -> Settings {
    try Settings(
        yaml: yaml, file: "test.yaml", directory: directory, environment: environment, features: .built)
}

/// What is wrong with a configuration; nothing if it is taken.
func faults(_ yaml: String) -> [String] {
    do throws(SettingsError) {
        _ = try settings(yaml)
        return []
    } catch {
        return error.faults.map(\.description)
    }
}
