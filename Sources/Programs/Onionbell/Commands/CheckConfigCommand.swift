import ArgumentParser
import FeatureList
import JSONCoding
import Node
import Processes
import Terminal

/// `onionbell check-config`: reads the configuration and the files it names, and tells every fault.
struct CheckConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Check the configuration and the files that it names, and report all errors.",
        discussion: """
            It reads them by itself, so that it works before there is a node. The console's settings are checked in the same \
            way; that tor takes its torrc is checked here only. Run as root, it also checks that the user as whom the node \
            runs can read them and can write into the state directory.

            With --json an array of errors on standard output: key, line (null if a key is missing or comes from the \
            environment), problem.

            Exit status: 0 no error, 78 an error.

            Example: onionbell check-config --config node.yaml
            """)

    @OptionGroup var config: ConfigOption

    @Flag(help: "As JSON.")
    var json = false

    func run() async throws {
        try config.becomeOwner()
        let settings: Settings
        do {
            settings = try Settings(file: config.config, environment: environment, features: .built)
        } catch {
            throw failure(error)
        }
        let check = await SettingsCheck(of: settings, on: SettingsCheck.Disk(of: settings))
        let node = try? StateDirectory.runningNode(in: settings.stateDirectory)
        let user = NodeUser.find(for: settings, node: node, unit: await NodeUnit.find(for: config.config))
        let faults =
            check.faults + user.faults(in: settings, file: config.config)
            + [await TorrcCheck.fault(in: settings)].compactMap(\.self)
        guard faults.isEmpty else { throw failure(SettingsError(file: config.config, faults: faults)) }
        guard !json else { return printLine("[]") }
        printLine("\(config.config): no errors")
        for remark in check.remarks { printLine("  \(remark)") }
    }

    private func failure(_ error: SettingsError) -> ExitCode {
        guard json else { return fail(error, status: 78) }
        printLine("[\n" + error.faults.map(\.json.text).joined(separator: ",\n") + "\n]")
        return ExitCode(78)
    }
}
