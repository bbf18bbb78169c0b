import ArgumentParser

/// The configuration file of a command.
struct ConfigOption: ParsableArguments {
    static let standard = "/etc/onionbell/onionbell.yaml"

    @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config = ConfigOption.standard

    /// The checked settings; every fault is printed, and the exit status is 78.
    func settings() throws -> Settings {
        do {
            return try Settings(file: config, environment: environment)
        } catch {
            throw fail(error, status: 78)
        }
    }
}
