/// A setting that the console's page has a field for: one of the dozen that matter. The others are changed in the text.
struct SettingsField: Sendable {
    let key: String
    /// The value where nothing is set.
    let usual: String
    /// The values that are allowed; `nil`: any text.
    let choices: [String]?

    private init(_ key: String, _ usual: String, _ choices: [String]? = nil) {
        (self.key, self.usual, self.choices) = (key, usual, choices)
    }

    static let all = [
        SettingsField("tor.mode", "own", Settings.Tor.Mode.allCases.map(\.rawValue)),
        SettingsField("onion.network", "mainnet", ["mainnet", "testnet", "regtest"]),
        SettingsField("onion.proof_of_work", "true", ["true", "false"]),
        SettingsField("onion.self_dial_interval", "300"),
        SettingsField("onion.public_address", ""),
        SettingsField("gateways.proxy", "none"),
        SettingsField("limits.token_rate", "2"),
        SettingsField("limits.waiting_per_token", "64"),
        SettingsField("limits.lifetime", "2419200"),
        SettingsField("storage.write_behind", "0.25"),
        SettingsField("management.listen", "127.0.0.1:9400"),
        SettingsField("log.level", "info", ["debug", "info", "notice", "warning", "error"]),
    ]
}
