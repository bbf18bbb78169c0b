import ArgumentParser
import Node
import Programs

/// The configuration file of a command.
struct ConfigOption: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"),
        completion: .file())
    var config = Settings.standardFile

    /// The checked settings; every fault is printed, and the exit status is 78.
    func settings() throws -> Settings {
        do {
            return try Settings(file: config, environment: environment)
        } catch {
            throw fail(error, status: 78)
        }
    }
}
