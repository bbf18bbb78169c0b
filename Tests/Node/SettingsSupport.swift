import FeatureList

@testable import Node

/// Reads a configuration as it stands in a test.
func settings(
    _ yaml: String, environment: [String: String] = [:], directory: String = "/etc/onionbell"
) throws(SettingsError) -> Settings {
    try Settings(
        yaml: yaml, file: "test.yaml", directory: directory, environment: environment, features: .built)
}

/// What is wrong with a configuration; nothing if it is taken.
func faults(_ yaml: String, environment: [String: String] = [:]) -> [String] {
    do throws(SettingsError) {
        _ = try settings(yaml, environment: environment)
        return []
    } catch {
        return error.faults.map(\.description)
    }
}

/// Everything in it, to compare two by.
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
