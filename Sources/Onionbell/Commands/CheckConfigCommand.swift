import ArgumentParser
import Logging
import Reactor

/// `onionbell check-config`: reads the configuration and the files it names, and tells every fault.
struct CheckConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Check the configuration and the files it names; tell every fault at once.",
        discussion: "Exit status: 0 when all is well, 78 when something has to be put right.")

    @OptionGroup var config: ConfigOption

    func run() async throws {
        let settings = try config.settings()
        let faults = await GatewayAssembly.faults(in: settings)
        guard faults.isEmpty else {
            throw fail(SettingsError(file: config.config, faults: faults), status: 78)
        }
        printLine("\(config.config): no fault")
        for app in settings.apps where !app.hasCredentials {
            printLine("  \(app.name): no credentials, so nothing is sent by it")
        }
        if settings.apps.isEmpty { printLine("  no apps: every notification will be refused") }
    }
}
