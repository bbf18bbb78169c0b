import FeatureList

@testable import Node

/// Reads a configuration as it stands in a test.
func settings(_ yaml: String, environment: [String: String] = [:]) throws(SettingsError) -> Settings {
    try Settings(
        yaml: yaml, file: "test.yaml", directory: "/etc/onionbell", environment: environment,
        features: .built)
}

/// What is wrong with a configuration; nothing if it is taken.
func faults(_ yaml: String) -> [String] {
    do {
        _ = try settings(yaml)
        return []
    } catch {
        return error.faults.map(\.description)
    }
}

/// All that it says, to be compared.
func content(of settings: Settings) -> String {
    var settings = settings
    // What was written, and not what it means.
    settings.texts = [:]
    settings.liveKeys = []
    settings.secretFiles = []
    var text = ""
    dump(settings, to: &text)
    return text
}
